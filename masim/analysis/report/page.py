"""HTML that cannot be broken by what is put into it: text is escaped unless it was made here."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Sequence
from importlib import resources
from typing import NamedTuple

from masim.analysis.style import plain_text, printable

_TEXT_LIMIT = 4000
_VOID = ("meta", "br", "hr", "input")


class Html(str):
    """Text that is HTML already. Only :func:`element` and :func:`trusted` make it."""

    __slots__ = ()


NOTHING = Html("")


class Cell(NamedTuple):
    """A table cell: what is shown, what it sorts by, and a smaller second line."""

    text: str
    order: float | str = ""
    small: str = ""


def trusted(text: str) -> Html:
    """Mark text that we wrote ourselves as HTML. Never call it on anything that was read from a file."""
    return Html(text)


def element(tag: str, *children: str, **attributes: str) -> Html:
    """Return ``<tag ...>children</tag>``; children that are not :class:`Html`, and attributes, are escaped."""
    named = "".join(f' {name.rstrip("_").replace("_", "-")}="{_escaped(value)}"' for name, value in attributes.items())
    if tag in _VOID:
        return Html(f"<{tag}{named}>")
    return Html(f"<{tag}{named}>{joined(*children)}</{tag}>")


def joined(*children: str) -> Html:
    """Return the children one after the other, escaping those that are plain text."""
    return Html("".join(child if isinstance(child, Html) else _escaped(child) for child in children))


def _escaped(text: str) -> str:
    return html.escape(plain_text(text, _TEXT_LIMIT))


def preformatted(text: str) -> Html:
    """Return text with its line breaks kept."""
    lines = (html.escape(printable(line)) for line in text.split("\n"))
    return Html("<pre><code>" + "\n".join(lines) + "</code></pre>")


def section(anchor: str, title: str, *children: str) -> Html:
    """Return a section with its heading."""
    return element("section", element("h2", title), *children, id=anchor)


def figure(svg: str, alt: str, caption: str) -> Html:
    """Return a figure around an SVG of ours, named for those who cannot see it."""
    named = svg.replace("<svg ", f'<svg role="img" aria-label="{_escaped(alt)}" ', 1)
    return element("figure", trusted(f'<div class="plot">{named}</div>'), element("figcaption", caption))


def table(
    headers: Sequence[str],
    rows: Sequence[Sequence[Cell | str]],
    caption: str,
    text_columns: int = 1,
    dense: bool = False,
) -> Html:
    """Return a table that its headers sort. The first ``text_columns`` columns hold text, the others numbers.

    A ``dense`` table keeps each row on one line and scrolls sideways instead.
    """
    heads = [
        element("th", element("button", head, type="button"), scope="col", class_="" if i < text_columns else "number")
        for i, head in enumerate(headers)
    ]
    body = [element("tr", *[_cell(cell, i >= text_columns) for i, cell in enumerate(row)]) for row in rows]
    content = element("table", element("caption", caption), element("thead", element("tr", *heads)),
                      element("tbody", *body), class_="sortable dense" if dense else "sortable")  # fmt: skip
    return element("div", content, class_="scroll", tabindex="0", role="region", aria_label=caption)


def _cell(cell: Cell | str, number: bool) -> Html:
    made = cell if isinstance(cell, Cell) else Cell(cell, cell)
    small = [element("small", made.small)] if made.small else []
    return element("td", made.text, *small, data_order=str(made.order), class_="number" if number else "")


def document(title: str, body: str) -> str:
    """Return the whole page: one file that loads nothing and may run only its own script."""
    style, script = _own("report.css"), _own("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )
    head = [
        element("meta", charset="utf-8"),
        trusted(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        trusted(f"<style>{style}</style>"),
    ]
    whole = element("body", body, trusted(f"<script>{script}</script>"))
    page = element("html", element("head", *head), whole, lang="en")
    return "<!DOCTYPE html>\n" + page + "\n"


def _own(name: str) -> str:
    return resources.files("masim.analysis.report").joinpath(name).read_text(encoding="utf-8")
