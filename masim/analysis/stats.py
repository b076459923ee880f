"""Estimates with intervals. The unit of replication is the episode, or the training seed where something learnt.


Everything is seeded and deterministic; scipy does what it can. Axes: C clusters (episodes), S training seeds, E
episodes. All intervals are two-sided at ``level`` (0.95).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import stats as scipy_stats

from masim.rng import Noise

F64 = npt.NDArray[np.float64]
LEVEL = 0.95
RESAMPLES = 2000
FEW_CLUSTERS = 20
"""Below this many clusters the bootstrap is too narrow, and a t interval is taken."""
_CHUNK = 2_000_000
"""Most resampling weights that are held at once (16 MB)."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval. ``nan`` means "cannot be known from this run" (no data, or a single unit)."""

    value: float
    low: float
    high: float
    n: int
    """How many independent units the interval rests on."""
    unit: str
    """What was replicated: ``episodes``, ``campaigns`` or ``seeds``."""
    method: str

    @property
    def known(self) -> bool:
        """Whether there is an interval at all."""
        return math.isfinite(self.value) and math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def includes_zero(self) -> bool:
        """Whether the interval leaves 0 possible (true when there is no interval)."""
        return not self.known or self.low <= 0.0 <= self.high

    def clipped(self, low: float, high: float) -> Estimate:
        """Return the estimate with its interval kept inside the possible values."""
        if not self.known:
            return self
        bounds = (max(low, self.low), min(high, self.high))
        return Estimate(self.value, *bounds, self.n, self.unit, self.method)


def unknown(n: int, unit: str, method: str, value: float = math.nan) -> Estimate:
    """Return an estimate without an interval."""
    return Estimate(value, math.nan, math.nan, n, unit, method)


def wilson(successes: int, n: int, level: float = LEVEL, unit: str = "episodes") -> Estimate:
    """Wilson's score interval of a rate of independent trials. ``n`` = 0 gives an unknown estimate."""
    if n == 0:
        return unknown(0, unit, "Wilson")
    interval = scipy_stats.binomtest(successes, n).proportion_ci(level, method="wilson")
    return Estimate(successes / n, float(interval.low), float(interval.high), n, unit, "Wilson")


def cluster_ratio(
    numerator_C: F64,
    denominator_C: F64,
    seed: int = 0,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    unit: str = "episodes",
) -> Estimate:
    """Percentile bootstrap over clusters of ``sum(numerator) / sum(denominator)``; with few clusters a t interval.

    Whole episodes are drawn with replacement, because orders and agents inside one are correlated. One cluster alone
    has no interval, and neither has a count of 0: nothing varies, yet it is not known exactly. Resamples whose
    denominator is 0 are left out.
    """
    n, method = len(numerator_C), f"cluster bootstrap over {unit}"
    total = float(denominator_C.sum())
    if n == 0 or total == 0.0:
        return unknown(n, unit, method)
    value = float(numerator_C.sum()) / total
    if n == 1 or not np.any(numerator_C):
        return unknown(n, unit, method, value)
    if n < FEW_CLUSTERS:
        return _ratio_t(np.asarray(numerator_C, float), np.asarray(denominator_C, float), level, unit)
    draws = _ratio_draws(np.asarray(numerator_C, float), np.asarray(denominator_C, float), seed, resamples)
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(value, float(low), float(high), n, unit, method)


def _ratio_t(numerator_C: F64, denominator_C: F64, level: float, unit: str) -> Estimate:
    """t interval of a ratio of sums from its linearised residuals (Cochran, Sampling Techniques, 6.3)."""
    n, total = len(numerator_C), float(denominator_C.sum())
    value = float(numerator_C.sum()) / total
    spread = float(np.square(numerator_C - value * denominator_C).sum())
    if spread == 0.0:
        return unknown(n, unit, f"t over {unit}", value)
    half = float(scipy_stats.t.ppf((1 + level) / 2, n - 1)) * math.sqrt(spread * n / (n - 1)) / total
    return Estimate(value, value - half, value + half, n, unit, f"t over {unit}")


def _ratio_draws(numerator_C: F64, denominator_C: F64, seed: int, resamples: int) -> F64:
    """Bootstrap draws of the ratio of sums, in chunks that bound memory."""
    n = len(numerator_C)
    generator = Noise(seed, "analysis").generator("cluster bootstrap", n)
    per_chunk, draws = max(1, _CHUNK // n), []
    for start in range(0, resamples, per_chunk):
        weights = generator.multinomial(n, np.full(n, 1.0 / n), size=min(per_chunk, resamples - start))
        top, bottom = weights @ numerator_C, weights @ denominator_C
        draws.append(top[bottom > 0] / bottom[bottom > 0])
    return np.concatenate(draws)


def cluster_rate(
    successes_C: F64, trials_C: F64, seed: int = 0, level: float = LEVEL, unit: str = "episodes"
) -> Estimate:
    """Interval of a rate in [0, 1] over clusters.

    The bootstrap, except at 0 and 1 where it has no width: there Wilson's, as if each cluster were one trial.
    """
    n, won, tried = len(successes_C), float(successes_C.sum()), float(trials_C.sum())
    if tried > 0 and won in (0.0, tried):
        return wilson(n if won else 0, n, level, unit)
    found = cluster_ratio(successes_C, trials_C, seed, level, unit=unit)
    return replace(found, low=max(0.0, found.low), high=min(1.0, found.high))


def t_interval(values_S: Sequence[float] | F64, level: float = LEVEL, unit: str = "seeds") -> Estimate:
    """Student's t interval of the mean of one value per seed. A single value, or equal ones, give no interval."""
    values, method = np.asarray(values_S, float), f"t over {unit}"
    if len(values) < 2:
        return unknown(len(values), unit, method, float(values[0]) if len(values) else math.nan)
    mean = float(values.mean())
    if np.ptp(values) == 0.0:
        return unknown(len(values), unit, method, mean)
    half = float(scipy_stats.t.ppf((1 + level) / 2, len(values) - 1) * scipy_stats.sem(values))
    return Estimate(mean, mean - half, mean + half, len(values), unit, method)


def crossed_interval(values_SE: F64, level: float = LEVEL) -> Estimate:
    """t interval of the mean of S seeds that all met the same E episodes: both vary, so both count.

    The variance is that of the seed means plus that of the episode means (Owen's bound for crossed designs: the
    residual is counted twice, so it errs to the wide side), the degrees of freedom are Satterthwaite's.
    """
    seeds, episodes = values_SE.shape
    mean = float(values_SE.mean())
    if seeds < 2 or episodes < 2:
        return unknown(seeds, "seeds", "t over seeds and episodes", mean)
    parts = np.array([values_SE.mean(1).var(ddof=1) / seeds, values_SE.mean(0).var(ddof=1) / episodes])
    total = float(parts.sum())
    if total == 0.0:
        return unknown(seeds, "seeds", "t over seeds and episodes", mean)
    freedom = total**2 / float((parts**2 / np.array([seeds - 1, episodes - 1])).sum())
    half = float(scipy_stats.t.ppf((1 + level) / 2, freedom)) * math.sqrt(total)
    return Estimate(mean, mean - half, mean + half, seeds, "seeds", "t over seeds and episodes")


def newcombe(a: Estimate, b: Estimate) -> Estimate:
    """Newcombe's hybrid interval of ``a - b`` from two Wilson intervals; it has a width even where nothing varied."""
    value = a.value - b.value
    low = value - math.hypot(a.value - a.low, b.high - b.value)
    high = value + math.hypot(a.high - a.value, b.value - b.low)
    return Estimate(value, max(-1.0, low), min(1.0, high), min(a.n, b.n), a.unit, "Newcombe")


def iqm(values: Sequence[float] | F64, axis: int | None = None) -> float:
    """Interquartile mean: the mean of the middle half (of everything, with fewer than 4 values)."""
    return float(scipy_stats.trim_mean(np.asarray(values, float), 0.25, axis=axis))


def seed_bootstrap(
    values_S: Sequence[float] | F64,
    statistic: Callable[[F64], float] = iqm,
    seed: int = 0,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Percentile bootstrap of a statistic of one value per seed. Needs many seeds: below 10 prefer the t interval."""
    values, method = np.asarray(values_S, float), "bootstrap over seeds"
    if len(values) < 2:
        return unknown(len(values), "seeds", method, float(values[0]) if len(values) else math.nan)
    generator = Noise(seed, "analysis").generator("seed bootstrap", len(values))
    draws = [statistic(generator.choice(values, len(values))) for _ in range(resamples)]
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(statistic(values), float(low), float(high), len(values), "seeds", method)


def paired_difference(a: Mapping[int, float], b: Mapping[int, float], level: float = LEVEL) -> Estimate:
    """t interval of the mean of ``a - b`` over the seeds that both have."""
    shared = sorted(a.keys() & b.keys())
    result = t_interval([a[seed] - b[seed] for seed in shared], level)
    return Estimate(result.value, result.low, result.high, result.n, "seeds", "paired t over seeds")
