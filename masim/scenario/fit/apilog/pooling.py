"""Drawing endpoints with few calls towards all endpoints of their kind: the normal model with known errors.

Endpoint ``i`` has the estimate ``x_i ~ N(m_i, s_i^2)``, ``m_i ~ N(m, tau^2)``; ``tau^2`` by moments (DerSimonian and
Laird 1986). The posterior mean is ``x_i`` with weight ``tau^2 / (tau^2 + s_i^2)`` and ``m`` with the rest. Where the
endpoints differ no more than by chance, ``tau`` is 0 and all get the common mean; one of a single endpoint stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from masim.scenario.fit.apilog.latency import LatencyFit


@dataclass(frozen=True, slots=True)
class Drawn:
    """A shrunk estimate, its standard error, and the weight of its own data."""

    value: float
    se: float
    own: float


def shrink(values: Sequence[float], errors: Sequence[float]) -> list[Drawn]:
    """Shrink estimates with their standard errors (above 0) towards their common mean."""
    if len(values) < 2:
        return [Drawn(value, error, 1.0) for value, error in zip(values, errors, strict=True)]
    x, s2 = np.array(values), np.square(errors)
    tau2 = _between(x, s2)
    weights = 1.0 / (s2 + tau2)
    mean = float(weights @ x / weights.sum())
    own = tau2 / (tau2 + s2)
    mean_var = 1.0 / float(weights.sum())
    variance = own * s2 + np.square(1.0 - own) * mean_var
    return [
        Drawn(float(o * v + (1.0 - o) * mean), float(np.sqrt(var)), float(o))
        for v, o, var in zip(x, own, variance, strict=True)
    ]


def _between(x: np.ndarray, s2: np.ndarray) -> float:
    """Return ``tau^2`` by moments, 0 when the values differ no more than their errors explain."""
    w = 1.0 / s2
    mean = w @ x / w.sum()
    room = w.sum() - (w @ w) / w.sum()
    return max(0.0, float((w @ np.square(x - mean) - (len(x) - 1)) / room))


def shrink_latencies(fits: Sequence[LatencyFit]) -> tuple[list[LatencyFit], list[float]]:
    """Return the fits with median and spread shrunk, and the weight of each one's own median."""
    medians = shrink([fit.mu for fit in fits], [fit.mu_se for fit in fits])
    spreads = shrink([np.log(fit.sigma) for fit in fits], [fit.sigma_se / fit.sigma for fit in fits])
    drawn = []
    for fit, median, spread in zip(fits, medians, spreads, strict=True):
        sigma = float(np.exp(spread.value))
        drawn.append(replace(fit, mu=median.value, mu_se=median.se, sigma=sigma, sigma_se=sigma * spread.se))
    return drawn, [median.own for median in medians]
