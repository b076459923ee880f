"""Arms against each other on the same seeds: paired differences, exact tests of their sign, many tests paid for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy import stats as scipy_stats

from masim.analysis.stats import F64, LEVEL, RESAMPLES, Estimate, iqm, unknown
from masim.rng import Noise

EXACT_SEEDS = 14
"""Up to so many seeds all sign patterns are looked at, above that ``DRAWS`` of them."""
DRAWS = 20_000


def paired(a: Mapping[int, float], b: Mapping[int, float], level: float = LEVEL) -> Estimate:
    """Bootstrap over the shared seeds of the interquartile mean of ``a - b``."""
    return replace(iqm_over_seeds(differences(a, b), level=level), method="IQM, paired bootstrap over seeds")


def iqm_over_seeds(values_S: Sequence[float] | F64, seed: int = 0, level: float = LEVEL) -> Estimate:
    """Percentile bootstrap of the interquartile mean of one value per seed, all draws at once."""
    values, method = np.asarray(values_S, float), "IQM, bootstrap over seeds"
    if len(values) < 2:
        return unknown(len(values), "seeds", method, float(values[0]) if len(values) else math.nan)
    draws = Noise(seed, "analysis").generator("seed bootstrap", len(values)).choice(values, (RESAMPLES, len(values)))
    means = np.asarray(scipy_stats.trim_mean(draws, 0.25, axis=1))
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(iqm(values), float(low), float(high), len(values), "seeds", method)


def differences(a: Mapping[int, float], b: Mapping[int, float]) -> F64:
    """Return ``a - b`` for each seed that both have, by seed."""
    return np.array([a[seed] - b[seed] for seed in sorted(a.keys() & b.keys())], float)


def sign_flip_p(differences_S: Sequence[float] | F64, seed: int = 0) -> float:
    """Return the two-sided p value of "the differences lie evenly around 0" (Fisher's randomisation test).

    Every pair could have come out the other way round: the mean is compared with those of all patterns of signs, or of
    many drawn ones. Without differences p is 1.
    """
    values = np.asarray(differences_S, float)
    n = len(values)
    if n == 0 or not np.any(values):
        return 1.0
    if n <= EXACT_SEEDS:
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=n)))
    else:
        drawn = 2.0 * Noise(seed, "analysis").generator("signs", n).integers(2, size=(DRAWS - 1, n)) - 1.0
        signs = np.vstack([np.ones(n), drawn])
    sums = np.abs(signs @ values)
    return float(np.mean(sums >= abs(values.sum()) * (1.0 - 1e-9)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p values, in the order given: at level .05 the chance of any false one is .05 at most."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted
