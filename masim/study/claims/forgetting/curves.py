"""What is read off one campaign's curve: when it was learned, how fast it recovered, whether it collapsed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from masim.analysis.stats import F64
from masim.sim.spec import WorldSpec


def trailing(values_E: Sequence[float] | F64, window: int) -> F64:
    """Return the mean of every ``window`` values in a row; the i-th ends with value ``i + window - 1``."""
    values = np.asarray(values_E, float)
    if len(values) < window:
        return np.zeros(0)
    sums = np.cumsum(np.concatenate([[0.0], values]))
    return np.asarray((sums[window:] - sums[:-window]) / window)


def first_reached(values_E: Sequence[float] | F64, window: int, threshold: float) -> tuple[int, bool]:
    """Return after how many values a window first averages at least the threshold, or all of them and False."""
    reached = np.flatnonzero(trailing(values_E, window) >= threshold - 1e-12)
    return (int(reached[0]) + window, True) if len(reached) else (len(values_E), False)


def recoveries(
    values_E: Sequence[float] | F64, changes: Sequence[int], window: int, threshold: float
) -> list[tuple[int, bool]]:
    """Return, for each change, after how many episodes the threshold was reached again, cut off at the next change."""
    ends = [*changes[1:], len(values_E)]
    return [first_reached(values_E[a:b], window, threshold) for a, b in zip(changes, ends, strict=True)]


def collapse(checks: Sequence[tuple[int, float]], drop: float) -> tuple[int, bool]:
    """Return when an evaluation first lay ``drop`` or more below the best one before, or the last one and False."""
    best = -1.0
    for day, value in checks:
        if value <= best - drop + 1e-12:
            return day, True
        best = max(best, value)
    return (checks[-1][0] if checks else 0), False


def changes_of(spec: WorldSpec, episodes: int) -> list[int]:
    """Return the days on which a world's carriers change, within a campaign."""
    drift = spec.hidden.drift
    return list(range(drift.every_days, episodes, drift.every_days)) if drift is not None else []
