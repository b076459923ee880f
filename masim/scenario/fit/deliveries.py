"""The rows of an SCMS delivery history as values: who delivered what kind of shipment where, and how late.

The Supply Chain Management System was a United States programme that shipped medicines and tests; its delivery
history has one row per order line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from masim.errors import DataError
from masim.scenario.fit.cells import DATE_FORMS, Parsed, choose_order, parse_column, parse_date, parse_numbers
from masim.scenario.fit.reading import Table

VENDOR = "Vendor"
MODE = "Shipment Mode"
COUNTRY = "Country"
PROMISED = "Scheduled Delivery Date"
ACTUAL = "Delivered to Client Date"
ORDERED = "PO Sent to Vendor Date"
QUOTED = "PQ First Sent to Client Date"
WEIGHT = "Weight (Kilograms)"
FREIGHT = "Freight Cost (USD)"
COLUMNS = (VENDOR, MODE, COUNTRY, PROMISED, ACTUAL, ORDERED, QUOTED, WEIGHT, FREIGHT)
DATES = (PROMISED, ACTUAL, ORDERED, QUOTED)
DEPOT = "SCMS from RDC"
"""The programme's own regional depots: not a vendor."""
UNKNOWN_MODE = "unknown"
Columns = Mapping[str, Sequence[str]]
_NO_MODE = frozenset({"", "n/a", "na", "none", "null", "-", "unknown"})


@dataclass(frozen=True, slots=True)
class Delivery:
    """One row. ``None`` is "not known". Days count from the promised date: positive is late, negative early."""

    vendor: str
    mode: str
    country: str
    days_late: int | None
    lead_days: int | None
    quote_lead_days: int | None
    cents_per_kg: float | None


@dataclass(frozen=True, slots=True)
class History:
    """All rows as deliveries, those that are kept, what was assumed, and what the kept ones lack."""

    deliveries: tuple[Delivery, ...]
    kept: tuple[Delivery, ...]
    assumed: tuple[str, ...]
    dropped: tuple[tuple[str, int], ...]


def read_deliveries(table: Table) -> History:
    """Turn cells into deliveries. Raises DataError when a column of dates has no date, or no vendor is left."""
    cells = {name: [row[i] for _, row in table.rows] for i, name in enumerate(COLUMNS)}
    vendors, modes = _one_spelling(cells[VENDOR]), _one_spelling(_modes(cells[MODE]))
    kept = [i for i, vendor in enumerate(vendors) if vendor and vendor.casefold() != DEPOT.casefold()]
    if not kept:
        where = f"{table.path}:{table.rows[0][0]}"
        fix = "the depot's own rows are left out; give a file with rows of other vendors"
        raise DataError("no vendor is left", where, repr(vendors[0]), f"a vendor other than {DEPOT!r}", fix)
    dates, assumed = _parse_dates(cells, table)
    numbers, notes = _parse_numbers(cells)
    days = {name: _days_since_promised(dates, name) for name in (ACTUAL, ORDERED, QUOTED)}
    ahead = [[None if d is None or d > 0 else -d for d in days[name]] for name in (ORDERED, QUOTED)]
    prices = _cents_per_kg(numbers)
    rows = zip(vendors, modes, _one_spelling(cells[COUNTRY]), days[ACTUAL], *ahead, prices, strict=True)
    deliveries = tuple(Delivery(*row) for row in rows)
    columns: dict[str, Parsed[date] | Parsed[float]] = {**dates, **numbers}
    dropped = _dropped_rows(vendors, kept) + _dropped_cells(columns, kept) + _dropped_texts(cells, days, kept)
    counted = tuple((reason, count) for reason, count in dropped if count)
    return History(deliveries, tuple(deliveries[i] for i in kept), (*assumed, *notes), counted)


def _one_spelling(names: Sequence[str]) -> list[str]:
    """Give names that differ in case and spaces only the most frequent spelling among them."""
    tidy = [" ".join(name.split()) for name in names]
    spelling: dict[str, str] = {}
    for name, _ in Counter(tidy).most_common():
        spelling.setdefault(name.casefold(), name)
    return [spelling[name.casefold()] for name in tidy]


def _modes(cells: Sequence[str]) -> list[str]:
    """Name the mode of every row; what says nothing becomes ``unknown``."""
    return [UNKNOWN_MODE if cell.casefold() in _NO_MODE else cell for cell in cells]


def _parse_dates(cells: Columns, table: Table) -> tuple[dict[str, Parsed[date]], list[str]]:
    """Parse the columns of dates. Raises DataError when not one cell of a needed column is a date."""
    month_first, notes = choose_order({name: cells[name] for name in DATES})
    dates = {name: parse_column(cells[name], partial(parse_date, month_first=month_first[name])) for name in DATES}
    for name in (PROMISED, ACTUAL):
        if all(value is None for value in dates[name].values):
            where = f"{table.path}:{table.rows[0][0]}"
            fix = "write the dates in one of these forms, or check which column holds them"
            raise DataError(f"no date in the column {name!r}", where, repr(cells[name][0][:40]), DATE_FORMS, fix)
    return dates, notes


def _parse_numbers(cells: Columns) -> tuple[dict[str, Parsed[float]], list[str]]:
    """Parse weight and freight, and say where the decimal mark is a comma."""
    both = {name: parse_numbers(cells[name]) for name in (WEIGHT, FREIGHT)}
    notes = [f"{name}: the decimal mark is a comma" for name, (_, comma) in both.items() if comma]
    return {name: parsed for name, (parsed, _) in both.items()}, notes


def _days_since_promised(dates: Mapping[str, Parsed[date]], name: str) -> list[int | None]:
    """Return the days from the promised date to another, per row."""
    pairs = zip(dates[PROMISED].values, dates[name].values, strict=True)
    return [None if a is None or b is None else (b - a).days for a, b in pairs]


def _cents_per_kg(numbers: Mapping[str, Parsed[float]]) -> list[float | None]:
    """Return freight in cents per kilogram where both cells are positive numbers."""
    pairs = zip(numbers[FREIGHT].values, numbers[WEIGHT].values, strict=True)
    return [None if f is None or w is None else 100.0 * f / w for f, w in pairs]


def _dropped_rows(vendors: Sequence[str], kept: Sequence[int]) -> list[tuple[str, int]]:
    """Count the rows that are left out whole."""
    blank = sum(not vendor for vendor in vendors)
    depot = len(vendors) - blank - len(kept)
    return [(f"{VENDOR}: blank", blank), (f"{VENDOR}: {DEPOT!r}, the programme's own depot", depot)]


def _dropped_cells(columns: Mapping[str, Parsed[date] | Parsed[float]], kept: Sequence[int]) -> list[tuple[str, int]]:
    """Count the cells of the kept rows that hold no value, by column and reason."""
    return [(f"{name}: {why}", count) for name, parsed in columns.items() for why, count in parsed.count_reasons(kept)]


def _dropped_texts(cells: Columns, days: Mapping[str, list[int | None]], kept: Sequence[int]) -> list[tuple[str, int]]:
    """Count the kept rows whose lead time runs backwards, and those without a country or a mode."""
    backwards = {name: sum((days[name][i] or 0) > 0 for i in kept) for name in (ORDERED, QUOTED)}
    rows = [(f"{name}: after the {PROMISED}", count) for name, count in backwards.items()]
    rows.append((f"{COUNTRY}: blank", sum(not cells[COUNTRY][i] for i in kept)))
    silent = sum(cells[MODE][i].casefold() in _NO_MODE for i in kept)
    return [*rows, (f"{MODE}: not stated, kept as {UNKNOWN_MODE!r}", silent)]
