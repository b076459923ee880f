"""Waiting and loss at :class:`masim.sim.stations.Station`, calls arriving by a Poisson process."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from masim.arrays import F64
from masim.rng import Noise
from masim.sim.dists import Constant, Dist, Exponential, LogNormal
from masim.sim.spec import StationSpec
from masim.sim.stations import Station
from masim.testing.theory import formulas
from masim.testing.theory.check import Case

REPLICATIONS = 40
CALLS = 30_000
WARM_UP = 1_000
"""Calls at the start of a replication that are played and not counted: the station starts empty."""
_SQUARED_CV = float(np.expm1(0.8**2))
MakeStation = Callable[[StationSpec], Station]


def _runs(name: str, rate_per_s: float, service: Dist, calls: int) -> Iterator[tuple[list[float], list[float]]]:
    """Yield arrival times and service times of every replication, as lists of floats."""
    noise = Noise(1, "theory")
    for i in range(REPLICATIONS):
        rng = noise.generator(name, i)
        arrivals = np.cumsum(rng.standard_exponential(calls) / rate_per_s)
        yield arrivals.tolist(), draw(service, rng.random(calls))


def draw(dist: Dist, us: F64) -> list[float]:
    """Return the quantiles of many uniforms."""
    return [dist.ppf(u) for u in us.tolist()]


def mean_waits(spec: StationSpec, rate_per_s: float, name: str, make: MakeStation = Station) -> list[float]:
    """Return the mean waiting time per replication, service excluded."""
    means = []
    for arrivals, services in _runs(name, rate_per_s, spec.service, CALLS):
        spent = np.fromiter(map(make(spec).join, arrivals, services), np.float64, CALLS)
        means.append(float(np.mean(spent[WARM_UP:] - services[WARM_UP:])))
    return means


def lost_shares(spec: StationSpec, rate_per_s: float, name: str, make: MakeStation = Station) -> list[float]:
    """Return the share of refused calls per replication."""
    shares = []
    for arrivals, services in _runs(name, rate_per_s, spec.service, CALLS // 3):
        spent = list(map(make(spec).join, arrivals, services))[WARM_UP:]
        shares.append(spent.count(None) / len(spent))
    return shares


def _wait(name: str, formula: str, exact: float, spec: StationSpec, rate_per_s: float) -> Case:
    return Case(f"{name}: mean wait, s", formula, exact, lambda: mean_waits(spec, rate_per_s, name))


def _loss(name: str, formula: str, exact: float, spec: StationSpec, rate_per_s: float) -> Case:
    return Case(f"{name}: share refused", formula, exact, lambda: lost_shares(spec, rate_per_s, name))


def cases() -> list[Case]:
    """Return the cases of this module."""
    single, trio = StationSpec(1, Exponential(1.0)), StationSpec(3, Exponential(1.0))
    normal = LogNormal(float(np.exp(-0.5 * 0.8**2)), 0.8)
    b = formulas.erlang_b(4, 3.0)
    capped: dict[str, Dist] = {"exponential": Exponential(1.0), "constant": Constant(1.0), "log-normal": normal}
    return [
        _wait("M/M/1, load 0.5", "ρs/(1-ρ)", formulas.mmc_wait_s(1, 0.5, 1.0), single, 0.5),
        _wait("M/M/3, load 2", "C(c,a)s/(c-a)", formulas.mmc_wait_s(3, 2.0, 1.0), trio, 2.0),
        _wait(
            "M/G/1, log-normal σ 0.8, load 0.4",
            "ρs(1+cv²)/(2(1-ρ))",
            formulas.mg1_wait_s(0.4, 1.0, _SQUARED_CV),
            StationSpec(1, normal),
            0.4,
        ),
        _wait(
            "M/D/1, load 0.5",
            "ρs/(2(1-ρ))",
            formulas.mg1_wait_s(0.5, 1.0, 0.0),
            StationSpec(1, Constant(1.0)),
            0.5,
        ),
        *(
            _loss(f"cap of 4, load 3, {kind} service", "B(c,a)", b, StationSpec(4, dist, 0), 3.0)
            for kind, dist in capped.items()
        ),
        _loss(
            "M/D/1/4, load 0.9",
            "1-1/(π₀+ρ)",
            formulas.md1k_blocked(4, 0.9),
            StationSpec(1, Constant(1.0), 3),
            0.9,
        ),
    ]
