"""When a call was sent: ISO 8601, the form of web servers, or a number since 1970 or since any other start."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isfinite

FORMS = "2026-05-01T12:00:00.5Z, 2026-05-01 12:00:00, 01/May/2026:12:00:00 +0000, or seconds, ms, us or ns since 1970"
_WEB = "%d/%b/%Y:%H:%M:%S %z"
_SCALES = ((1e11, 1.0), (1e14, 1e-3), (1e17, 1e-6), (1e20, 1e-9))
"""Numbers below the bound are in this many seconds: 1e11 s after 1970 is the year 5138."""


def parse_moment(text: str) -> float | None:
    """Return seconds, or ``None``. A time without a zone is read as UTC."""
    try:
        number = float(text)
    except ValueError:
        return _calendar(text)
    if not isfinite(number):
        return None
    return next((number * scale for bound, scale in _SCALES if abs(number) < bound), None)


def _calendar(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        try:
            moment = datetime.strptime(text.strip("[]"), _WEB)
        except ValueError:
            return None
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
