"""A case (a quantity, its closed form, how it is simulated) and what a check of it found.

Each case returns one value per independent replication, from fixed seeds; the interval is Student's around their
mean. A check is passed when the closed form lies inside, and sharp when a form 5% too high or too low would not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.999
"""Of the interval: one check in a thousand fails by chance when its seeds are changed."""
PLANTED = 0.05
"""The relative error that every check must tell from the truth."""


@dataclass(frozen=True, slots=True)
class Case:
    """One quantity. ``simulate`` returns one value per replication."""

    name: str
    formula: str
    exact: float
    simulate: Callable[[], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Check:
    """What a case gave: the mean over ``n`` replications and its interval."""

    case: Case
    value: float
    low: float
    high: float
    n: int

    @property
    def passed(self) -> bool:
        """Whether the closed form lies inside the interval."""
        return self.holds(self.case.exact)

    @property
    def sharp(self) -> bool:
        """Whether a closed form that is 5% off, either way, would lie outside."""
        return not any(self.holds(self.case.exact * (1.0 + error)) for error in (-PLANTED, PLANTED))

    def holds(self, exact: float) -> bool:
        """Return whether a value lies inside the interval."""
        return self.low <= exact <= self.high


def check(case: Case) -> Check:
    """Simulate a case and set its interval beside its closed form."""
    values = np.asarray(case.simulate(), dtype=np.float64)
    half = float(stats.t.ppf(0.5 + 0.5 * LEVEL, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    mean = float(values.mean())
    return Check(case, mean, mean - half, mean + half, len(values))


def markdown(checks: Sequence[Check]) -> str:
    """Return the table of the documentation."""
    head = f"| quantity | closed form | exact | simulated | {100 * LEVEL:g}% interval |\n|---|---|---|---|---|"
    rows = (
        f"| {c.case.name} | {c.case.formula} | {c.case.exact:.4g} | {c.value:.4g} | {c.low:.4g} to {c.high:.4g} |"
        for c in checks
    )
    return "\n".join((head, *rows))
