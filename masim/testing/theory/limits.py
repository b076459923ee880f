"""Token buckets under Poisson load, through :class:`masim.sim.limits.TokenBucket`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from masim.rng import Noise
from masim.sim.limits import TokenBucket
from masim.sim.spec import RateLimit
from masim.testing.theory import formulas
from masim.testing.theory.check import Case

REPLICATIONS = 40
CALLS = 6_000
MakeBucket = Callable[[RateLimit, float], TokenBucket]


def accepted_rates(limit: RateLimit, rate_per_s: float, make: MakeBucket = TokenBucket) -> list[float]:
    """Return the accepted calls per second of every replication, the first burst not counted."""
    noise, rates, warm_up = Noise(1, "theory"), [], 10 * limit.burst
    for i in range(REPLICATIONS):
        gaps = noise.generator("bucket", i).standard_exponential(CALLS) / rate_per_s
        arrivals = np.cumsum(gaps)
        waits = list(map(make(limit, 0.0).take, arrivals.tolist()))[warm_up:]
        rates.append(waits.count(0.0) / float(arrivals[-1] - arrivals[warm_up - 1]))
    return rates


def _case(name: str, formula: str, exact: float, limit: RateLimit, rate_per_s: float) -> Case:
    return Case(name, formula, exact, lambda: accepted_rates(limit, rate_per_s))


def cases() -> list[Case]:
    """Return the cases of this module."""
    through = 0.9 * (1.0 - formulas.md1k_blocked(5, 0.9))
    return [
        _case("token bucket 1/s, burst 1, 2 calls/s: accepted/s", "λ/(1+λ/r)", 2.0 / 3.0, RateLimit(1.0, 1), 2.0),
        _case("token bucket 1/s, burst 5, 0.9 calls/s: accepted/s", "λ(1-M/D/1/5)", through, RateLimit(1.0, 5), 0.9),
        _case("token bucket 1/s, burst 10, 3 calls/s: accepted/s", "r", 1.0, RateLimit(1.0, 10), 3.0),
    ]
