"""People whose taste is known: hidden utilities of a unit, and judgements made by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from masim.feedback.labels import Label
from masim.feedback.units import StoredUnits

Utility = Callable[[dict[str, float]], float]

UTILITIES: dict[str, Utility] = {
    "thrifty": lambda f: 5 * f["completed"] - f["usd"] / 200,
    "careful": lambda f: 3 * f["safe"] - 2 * f["duplicates"] - f["orphans"] - f["unsupported_claims"],
    "hasty": lambda f: f["legs_delivered"] - np.log1p(f["landed_hours"]) - 0.02 * f["decisions"] ** 1.5,
}
"""The last is no linear function of the features."""


def hidden(units: StoredUnits, name: str) -> np.ndarray:
    """Return the utility of every unit."""
    rows = (dict(zip(units.names, row, strict=True)) for row in units.features_UF.tolist())
    return np.array([UTILITIES[name](row) for row in rows])


def judged(units: StoredUnits, name: str, pairs: Sequence[tuple[str, str]], who: str = "judge") -> list[Label]:
    """Return what somebody of that taste says; a difference below 0.05 is a tie."""
    utility = hidden(units, name)
    gaps = [(a, b, utility[units.index(a)] - utility[units.index(b)]) for a, b in pairs]
    verdicts = [(a, b, "tie" if abs(gap) < 0.05 else "a" if gap > 0 else "b") for a, b, gap in gaps]
    return [Label(who, units.rule, a, b, verdict) for a, b, verdict in verdicts]
