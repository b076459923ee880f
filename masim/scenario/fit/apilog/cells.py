"""Cells of a log to values: how long a call took, and how it ended."""

from __future__ import annotations

import re
from math import isfinite

from masim.scenario.fit.apilog.columns import UNITS_S

TIMEOUT = 0
"""Stands in place of a status code for a call whose caller gave up."""
_TIMEOUT_CODES = frozenset({0, -1, 499, 598, 599})
_TIMEOUT_WORDS = frozenset({"timeout", "timedout", "etimedout", "deadlineexceeded", "readtimeout", "abort", "aborted"})
_OK_WORDS = frozenset({"ok", "success", "succeeded"})
_YES = frozenset({"1", "true", "t", "yes", "y"})
_NO = frozenset({"", "0", "false", "f", "no", "n", "null", "none"})
_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([a-zA-Z]*)")


def parse_code(text: str) -> int | None:
    """Return a status code, :data:`TIMEOUT`, or ``None`` for what says neither."""
    word = "".join(c for c in text.casefold() if c.isalpha())
    if word in _TIMEOUT_WORDS:
        return TIMEOUT
    if word in _OK_WORDS and not any(c.isdigit() for c in text):
        return 200
    try:
        number = float(text.split()[0])
    except (ValueError, IndexError):
        return None
    code = int(number) if isfinite(number) else -2
    if code != number:
        return None
    return TIMEOUT if code in _TIMEOUT_CODES else code if 100 <= code <= 597 else None


def parse_flag(text: str) -> bool | None:
    """Return a flag; ``None`` is no flag."""
    word = text.casefold()
    return True if word in _YES else False if word in _NO else None


def parse_latency(text: str) -> tuple[float, str] | None:
    """Return a number and the unit written behind it (empty: none), or ``None``."""
    match = _NUMBER.fullmatch(text)
    if match is None or (unit := match[2].casefold()) not in ("", *UNITS_S):
        return None
    value = float(match[1])
    return (value, unit) if isfinite(value) else None
