"""``check_theory``: every case, in the order of the documentation's table."""

from __future__ import annotations

from masim.testing.theory import draws, holds, limits, queues, spells
from masim.testing.theory.check import Case, Check, check

PARTS = (queues, limits, spells, holds, draws)


def theory_cases() -> list[Case]:
    """Return all cases."""
    return [case for part in PARTS for case in part.cases()]


def check_theory() -> list[Check]:
    """Simulate every case; it takes some seconds. The seeds are fixed, so each call gives the same."""
    return [check(case) for case in theory_cases()]
