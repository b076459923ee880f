"""Distributions beside scipy's: quantiles to the last digits, means, and a hold that lapses on the second."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate, stats

from masim.sim.clock import Clock
from masim.sim.dists import Constant, Dist, Exponential, LogNormal, Mixture, Uniform
from masim.sim.docks import Dock
from masim.sim.spec import Verb
from masim.sim.wire import Call, Stop
from masim.testing.theory import rig

PAIRS: list[tuple[Dist, object]] = [
    (Uniform(1.0, 3.0), stats.uniform(1.0, 2.0)),
    (Exponential(2.0), stats.expon(scale=2.0)),
    (LogNormal(0.3, 1.4), stats.lognorm(1.4, scale=0.3)),
    (LogNormal(240.0, 0.8), stats.lognorm(0.8, scale=240.0)),
]
US = np.concatenate([np.linspace(0.0005, 0.9995, 400), [1e-9, 1e-6, 1.0 - 1e-6, 1.0 - 1e-9]])


@pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=lambda value: type(value).__name__)
def test_quantiles_and_mean(ours: Dist, theirs: stats.rv_continuous) -> None:
    assert [ours.ppf(float(u)) for u in US] == pytest.approx(theirs.ppf(US).tolist(), rel=1e-8)
    assert ours.mean == pytest.approx(float(theirs.mean()))


def by_bisection(cdf: Callable[[float], float], u: float) -> float:
    low, high = 0.0, 1e9
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if cdf(middle) < u else (low, middle)
    return low


def test_a_mixture_holds_its_parts_by_weight() -> None:
    """Its uniform picks the part first, so shares below a value are those of the mixture, though not its quantiles."""
    mixture = Mixture((0.7, 0.3), (LogNormal(240.0, 0.8), Exponential(10_800.0)))
    us = (np.arange(200_000) + 0.5) / 200_000
    values = np.array([mixture.ppf(float(u)) for u in us])

    def cdf(x: float) -> float:
        return 0.7 * float(stats.lognorm.cdf(x, 0.8, scale=240.0)) + 0.3 * float(stats.expon.cdf(x, scale=10_800.0))

    for u in (0.1, 0.5, 0.9, 0.99):
        assert np.quantile(values, u) == pytest.approx(by_bisection(cdf, u), rel=1e-3)
    assert mixture.mean == pytest.approx(integrate.quad(lambda x: 1.0 - cdf(x), 0.0, math.inf, limit=200)[0], rel=1e-5)


def test_a_constant_and_a_log_normal_without_spread() -> None:
    assert {dist.ppf(u) for dist in (Constant(3.0), LogNormal(3.0, 0.0)) for u in (0.0, 0.5, 1.0 - 1e-16)} == {3.0}


@pytest.mark.parametrize("start_s", [0.0, 17.3, 20_000.1])
def test_a_hold_lapses_at_its_end_and_not_before(start_s: float) -> None:
    clock = Clock(start_s)
    dock = Dock(rig.dock(hold_ttl_s=600.0), clock, 0.0)
    body = dock.hold(Call(Verb.HOLD, rig.DOCK, "order", 0, Stop.PICKUP, 0))
    seen: list[int] = []
    for t_s in (math.nextafter(body.expires_s, 0.0), body.expires_s, math.nextafter(body.expires_s, math.inf)):
        clock.at(t_s, lambda: seen.append(dock.free(0)))
    while clock.peek() < math.inf:
        clock.step()
    assert body.expires_s == start_s + 600.0
    assert seen == [0, 1, 1]
    assert dock.holds == {}
