"""Times until something happens, of which some are cut off before it does: Kaplan and Meier's estimate.

A run that ends before the event is no failure and no missing value; it says "later than this". The curve is scipy's
(the tests hold the two together) without what makes that one too slow to be bootstrapped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from masim.analysis.stats import F64, LEVEL, RESAMPLES, Estimate, unknown
from masim.rng import Noise

Bools = npt.NDArray[np.bool_]


def curve(times_S: Sequence[float] | F64, happened_S: Sequence[bool] | Bools) -> tuple[F64, F64]:
    """Return Kaplan and Meier's steps: times, and the share that it has not happened to by then."""
    times, happened = np.asarray(times_S, float), np.asarray(happened_S, bool)
    if not len(times):
        return np.zeros(0), np.zeros(0)
    moments, at = np.unique(times, return_inverse=True)
    events = np.bincount(at, happened, len(moments))
    leaving = np.bincount(at, minlength=len(moments))
    at_risk = len(times) - np.concatenate([[0], np.cumsum(leaving)[:-1]])
    return moments, np.cumprod(1.0 - events / at_risk)


def median_time(times_S: Sequence[float] | F64, happened_S: Sequence[bool] | Bools) -> float:
    """Return the first time by which it has happened to half of them; infinite when that was never seen."""
    times, left = curve(times_S, happened_S)
    reached = np.flatnonzero(left <= 0.5 + 1e-12)
    return float(times[reached[0]]) if len(reached) else math.inf


def median_interval(
    times_S: Sequence[float] | F64, happened_S: Sequence[bool] | Bools, seed: int = 0, level: float = LEVEL
) -> Estimate:
    """Percentile bootstrap over seeds of the median time. Ends may be infinite: "not within the horizon"."""
    times, happened = np.asarray(times_S, float), np.asarray(happened_S, bool)
    method = "Kaplan-Meier, bootstrap over seeds"
    if len(times) < 2:
        return unknown(len(times), "seeds", method, median_time(times, happened))
    generator = Noise(seed, "analysis").generator("median time", len(times))
    picks = generator.integers(len(times), size=(RESAMPLES, len(times)))
    draws = np.sort([median_time(times[pick], happened[pick]) for pick in picks])
    low, high = (float(draws[rank_of(q, RESAMPLES)]) for q in ((1 - level) / 2, (1 + level) / 2))
    return Estimate(median_time(times, happened), low, high, len(times), "seeds", method)


def rank_of(q: float, n: int) -> int:
    """Return the index of a quantile among n ordered values: one of them, since infinite ones have no middle."""
    return min(n - 1, max(0, math.ceil(q * n) - 1))
