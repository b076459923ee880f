"""A number with its 95% interval and the observations behind it, and how it is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scipy import stats

Z = 1.959963984540054
"""Standard normal quantile of a two-sided 95% interval."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """``value`` with the bounds of its 95% interval, from ``n`` observations."""

    value: float
    low: float
    high: float
    n: int

    def covers(self, truth: float) -> bool:
        """Return whether a value lies in the interval."""
        return self.low <= truth <= self.high

    def times(self, factor: float) -> Estimate:
        """Return the same in another unit."""
        return Estimate(self.value * factor, self.low * factor, self.high * factor, self.n)

    def text(self, unit: str = "") -> str:
        """Return ``0.33 (0.31 to 0.35) s``."""
        return f"{self.value:.4g} ({self.low:.3g} to {self.high:.3g}){unit and ' ' + unit}"


def transformed(centre: float, half: float, n: int, back: Callable[[float], float]) -> Estimate:
    """Return what was estimated on another scale: ``back(centre)`` with the bounds ``back(centre -+ half)``."""
    return Estimate(float(back(centre)), float(back(centre - half)), float(back(centre + half)), n)


def share(events: float, n: int) -> Estimate:
    """Return a share with its Jeffreys interval (0 and 1 are bounds where nothing or everything happened)."""
    if n == 0:
        return Estimate(0.0, 0.0, 1.0, 0)
    posterior = stats.beta(events + 0.5, n - events + 0.5)
    low = 0.0 if events == 0 else float(posterior.ppf(0.025))
    return Estimate(events / n, low, 1.0 if events == n else float(posterior.ppf(0.975)), n)
