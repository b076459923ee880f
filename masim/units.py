"""Quantities with units as users write them, and the base units that masim computes in.

Base units: seconds for durations, cents for money, calls per second for rates. Users write ``30 s``, ``5 min``,
``2 h``, ``1 d``, ``120 ms``; ``150 USD``; ``60/min``. A bare number is refused for durations: it hides its unit.
"""

from __future__ import annotations

import re

SECOND = 1.0
MINUTE = 60.0
HOUR = 3600.0
DAY = 86400.0

_DURATION = {"ms": 0.001, "s": SECOND, "min": MINUTE, "h": HOUR, "d": DAY}
_PER = {"s": SECOND, "min": MINUTE, "h": HOUR, "d": DAY}
_NUMBER = r"\s*([-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)\s*"
_DURATION_RE = re.compile(_NUMBER + r"(ms|s|min|h|d)\s*")
_RATE_RE = re.compile(_NUMBER + r"/\s*(s|min|h|d)\s*")
_MONEY_RE = re.compile(_NUMBER + r"USD\s*")


def duration_s(text: str) -> float:
    """Parse ``"5 min"`` to seconds. Raises ValueError on a missing or unknown unit."""
    match = _DURATION_RE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a duration; write a number and one of {', '.join(_DURATION)}, as '5 min'")
    return float(match[1]) * _DURATION[match[2]]


def rate_per_s(text: str) -> float:
    """Parse ``"60/min"`` to calls per second. Raises ValueError on anything else."""
    match = _RATE_RE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a rate; write a number per {', '.join(_PER)}, as '60/min'")
    return float(match[1]) / _PER[match[2]]


def money_cents(text: str) -> int:
    """Parse ``"150 USD"`` to cents. Raises ValueError on anything else."""
    match = _MONEY_RE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not an amount of money; write it as '150 USD'")
    return round(float(match[1]) * 100)


def duration_text(t_s: float) -> str:
    """Render a duration in the largest unit that it is a whole number of, as ``5 min``; else in seconds."""
    for unit in ("d", "h", "min"):
        if t_s and t_s % _DURATION[unit] == 0.0:
            return f"{t_s / _DURATION[unit]:g} {unit}"
    return f"{t_s:g} s"


def clock_text(t_s: float) -> str:
    """Render simulated seconds as ``d0 06:12:30``, for people."""
    day, rest = divmod(t_s, DAY)
    hours, rest = divmod(rest, HOUR)
    minutes, seconds = divmod(rest, MINUTE)
    return f"d{int(day)} {int(hours):02d}:{int(minutes):02d}:{int(seconds):02d}"
