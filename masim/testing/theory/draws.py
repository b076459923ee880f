"""Distributions of :mod:`masim.sim.dists`, drawn from keyed uniforms as the world draws them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from masim.arrays import F64
from masim.rng import Noise
from masim.sim.dists import Dist, Exponential, LogNormal, Mixture, Uniform
from masim.testing.theory.check import Case

REPLICATIONS = 40
DRAWS = 2_000


def samples(dist: Dist) -> list[F64]:
    """Return one sample per replication, every draw keyed by its number."""
    noise = Noise(1, "theory")
    keyed = [
        [dist.ppf(u) for n in range(DRAWS // 4) for u in noise.uniforms("draw", i, n)] for i in range(REPLICATIONS)
    ]
    return [np.asarray(values) for values in keyed]


def _over(dist: Dist, measure: Callable[[F64], np.floating]) -> Callable[[], list[float]]:
    return lambda: [float(measure(sample)) for sample in samples(dist)]


def cases() -> list[Case]:
    """Return the cases of this module."""
    normal, exponential, uniform = LogNormal(1.0, 0.5), Exponential(2.0), Uniform(1.0, 3.0)
    mixture = Mixture((0.7, 0.3), (normal, exponential))
    spread = float(np.expm1(0.25) * np.exp(0.25))
    median_of_mixture = float(np.exp(0.125)) * 0.7 + 2.0 * 0.3
    return [
        Case("log-normal m 1, σ 0.5: mean", "m·exp(σ²/2)", float(np.exp(0.125)), _over(normal, np.mean)),
        Case("log-normal m 1, σ 0.5: variance", "m²exp(σ²)(exp(σ²)-1)", spread, _over(normal, np.var)),
        Case("exponential, mean 2: variance", "m²", 4.0, _over(exponential, np.var)),
        Case("uniform 1 to 3: variance", "(b-a)²/12", 1.0 / 3.0, _over(uniform, np.var)),
        Case("mixture 0.7 log-normal, 0.3 exponential: mean", "Σwm", median_of_mixture, _over(mixture, np.mean)),
    ]
