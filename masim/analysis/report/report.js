"use strict";
// Sorting by a click on a column's head: numbers by value, text by name, again for the other direction.
function value(row, column) {
  const order = row.cells[column].dataset.order;
  const number = Number.parseFloat(order);
  return order !== "" && !Number.isNaN(number) && Number.isFinite(Number(order)) ? number : order;
}
function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "number") return -1;
  if (typeof b === "number") return 1;
  return a.localeCompare(b);
}
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => compare(value(a, column), value(b, column)) * (down ? -1 : 1));
    table.tBodies[0].append(...rows);
  }));
}
