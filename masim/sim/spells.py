"""Alternating good and bad spells over a span of time, drawn up front (two-state Markov, exponential stays)."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np


def alternating(
    rng: np.random.Generator, good_mean_s: float, bad_mean_s: float, t0: float, t1: float
) -> tuple[float, ...]:
    """Return the ends of the spells within [t0, t1), starting with a good one."""
    pairs = int((t1 - t0) / (good_mean_s + bad_mean_s) * 2) + 8
    steps = rng.standard_exponential((pairs, 2)) * (good_mean_s, bad_mean_s)
    ends = t0 + np.cumsum(steps.ravel())
    return tuple(ends[ends < t1].tolist())


def markov(rng: np.random.Generator, bad_share: float, bad_mean_s: float, t0: float, t1: float) -> tuple[float, ...]:
    """Return the ends of the spells of a process that is bad for ``bad_share`` of the time."""
    if bad_share <= 0.0:
        return ()
    if bad_share >= 1.0:
        return (t0,)
    return alternating(rng, bad_mean_s * (1.0 - bad_share) / bad_share, bad_mean_s, t0, t1)


def is_bad(ends: tuple[float, ...], t_s: float) -> bool:
    """Return whether ``t_s`` lies in a bad spell."""
    return bisect_right(ends, t_s) % 2 == 1
