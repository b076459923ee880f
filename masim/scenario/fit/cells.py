"""Dirty cells to values: dates in several notations, numbers with text among them, and reasons for what is left.

A column is parsed as a whole, because one cell alone does not tell whether ``06/02/2006`` is in June or February,
nor whether ``1,234`` is a little over one or more than a thousand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from math import isfinite
from typing import Generic, TypeVar

Value = TypeVar("Value")

DATE_FORMS = "2-Jun-06, 2 June 2006, Jun 2, 2006, 2006-06-02, 06/02/2006, 02.06.2006"
MAX_REASONS = 8
"""Distinct texts named per column; the rest is counted together."""

_TIME = r"(?:[T ]\s*\d{1,2}:\d{2}.*)?"
_ISO = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + _TIME)
_DAY_NAME = re.compile(r"(\d{1,2})[-/ .]*([A-Za-z]{3,9})[-/ .,]*(\d{4}|\d{2})" + _TIME)
_NAME_DAY = re.compile(r"([A-Za-z]{3,9})[-/ .]*(\d{1,2})[-/ ,]+(\d{4}|\d{2})" + _TIME)
_NUMERIC = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})" + _TIME)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_UNITS = re.compile(r"^(?:USD|US\$|\$)\s*|\s*(?:USD|kgs?|kilograms?)\.?$", re.IGNORECASE)
_POINT = re.compile(r"[-+]?(?:(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_COMMA = re.compile(r"[-+]?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?")
_COMMA_FOR_SURE = re.compile(r"[-+]?(?:\d+,(?:\d{1,2}|\d{4,})|\d{1,3}(?:\.\d{3})+,\d+)")
_POINT_FOR_SURE = re.compile(r"[-+]?(?:\d+\.(?:\d{1,2}|\d{4,})|\d{1,3}(?:,\d{3})+\.\d+)")


@dataclass(frozen=True, slots=True)
class Parsed(Generic[Value]):
    """One column: per cell a value, or ``None`` and in ``why`` the reason (``""`` beside a value)."""

    values: tuple[Value | None, ...]
    why: tuple[str, ...]

    def count_reasons(self, rows: Sequence[int]) -> list[tuple[str, int]]:
        """Count the reasons in these rows: the most frequent by name, the rest together."""
        reasons = Counter(self.why[i] for i in rows if self.why[i])
        top = reasons.most_common(MAX_REASONS)
        rest = reasons.total() - sum(count for _, count in top)
        return [*top, (f"{len(reasons) - MAX_REASONS} other texts", rest)] if rest else top


def parse_column(cells: Sequence[str], parse: Callable[[str], Value | None]) -> Parsed[Value]:
    """Parse every cell and say why the others have no value."""
    values = tuple(parse(cell) for cell in cells)
    return Parsed(values, tuple(_why(cell, value) for cell, value in zip(cells, values, strict=True)))


def _why(cell: str, value: object | None) -> str:
    """Name a cell without a value: digits become ``#``, so that like texts are counted together."""
    if value is not None:
        return ""
    return f"text {re.sub(r'[0-9]+', '#', cell)[:48]!r}" if cell else "blank"


def month_first_votes(cells: Iterable[str]) -> tuple[int, int]:
    """Count the numeric dates that can only be month first, and those that can only be day first."""
    month_first = day_first = 0
    for cell in cells:
        match = _NUMERIC.fullmatch(cell)
        if match is not None:
            a, b = int(match[1]), int(match[3])
            month_first += a <= 12 < b <= 31
            day_first += b <= 12 < a <= 31
    return month_first, day_first


def choose_order(columns: Mapping[str, Sequence[str]]) -> tuple[dict[str, bool], list[str]]:
    """Decide per column whether numeric dates are month first, and say what had to be assumed.

    A column without evidence of its own follows the others, and month first when there is none anywhere.
    """
    votes = {name: month_first_votes(cells) for name, cells in columns.items()}
    month_first = sum(v[0] for v in votes.values()) >= sum(v[1] for v in votes.values())
    order: dict[str, bool] = {}
    notes: list[str] = []
    for name, (month, day) in votes.items():
        order[name] = month >= day if month or day else month_first
        how = "month first" if order[name] else "day first"
        if month and day:
            notes.append(f"{name}: {month} dates can only be month first, {day} only day first; the rest read {how}")
        elif not (month or day) and any(_NUMERIC.fullmatch(cell) for cell in columns[name]):
            notes.append(f"{name}: nothing in the column tells month from day; dates like 06/02/2006 read {how}")
    return order, notes


def parse_date(text: str, month_first: bool) -> date | None:
    """Return the date of a cell, or ``None``. Two-digit years up to 68 are in this century."""
    if match := _ISO.fullmatch(text):
        return _date(match[1], int(match[3]), match[4])
    if match := _DAY_NAME.fullmatch(text):
        return _date(match[3], _month(match[2]), match[1])
    if match := _NAME_DAY.fullmatch(text):
        return _date(match[3], _month(match[1]), match[2])
    if match := _NUMERIC.fullmatch(text):
        a, b = int(match[1]), int(match[3])
        month, day = (a, b) if b > 12 or (a <= 12 and month_first) else (b, a)
        return _date(match[4], month, str(day))
    return None


def _month(name: str) -> int:
    """Return 1..12, or 0 for what is no month."""
    head = name[:3].lower()
    return _MONTHS.index(head) + 1 if head in _MONTHS else 0


def _date(year: str, month: int, day: str) -> date | None:
    """Return a date of the calendar, or ``None`` for one like 31 February."""
    full = int(year) if len(year) == 4 else int(year) + (2000 if int(year) <= 68 else 1900)
    try:
        return date(full, month, int(day))
    except ValueError:
        return None


def parse_numbers(cells: Sequence[str]) -> tuple[Parsed[float], bool]:
    """Parse a column of positive numbers; the flag says whether its decimal mark is a comma.

    Thousands separators, a currency sign and a unit are allowed. Numbers up to 0 have no value here.
    """
    bare = [_UNITS.sub("", cell) for cell in cells]
    commas = sum(_COMMA_FOR_SURE.fullmatch(cell) is not None for cell in bare)
    comma = commas > sum(_POINT_FOR_SURE.fullmatch(cell) is not None for cell in bare)
    parsed = parse_column(bare, partial(_number, comma=comma))
    positive = tuple(value if value is not None and value > 0 else None for value in parsed.values)
    counted = zip(parsed.why, positive, strict=True)
    why = tuple("0 or less" if not reason and kept is None else reason for reason, kept in counted)
    return Parsed(positive, why), comma


def _number(text: str, comma: bool) -> float | None:
    """Return the number in a cell, or ``None``."""
    if not (_COMMA if comma else _POINT).fullmatch(text):
        return None
    value = float(text.replace(".", "").replace(",", ".") if comma else text.replace(",", ""))
    return value if isfinite(value) else None
