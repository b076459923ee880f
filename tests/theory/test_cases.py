"""Every quantity lies where theory says, and would be told from a 5% error.

1. The closed form lies inside the 99.9% interval of every case, and one 5% off, either way, lies outside.
2. Planted bugs in the real parts fail: a station 5% slow, one that jumps the queue, a server too many, a bucket that
   refills 5% fast, holds that last 5% longer, spells and outages 5% long.
3. The page of the documentation shows what the command prints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from docs.blocks import ROOT

from masim.sim.dists import Exponential, LogNormal
from masim.sim.limits import TokenBucket
from masim.sim.spec import RateLimit, StationSpec
from masim.sim.stations import Station
from masim.testing.theory import formulas, holds, limits, queues, rig, spells
from masim.testing.theory.check import Case, Check, check, markdown
from masim.testing.theory.suite import theory_cases

PAGE = ROOT / "docs/explanation/checked-against-theory.md"
CASES = {case.name: case for case in theory_cases()}
OFF = 1.05


@pytest.fixture(scope="module")
def found() -> dict[str, Check]:
    return {name: check(case) for name, case in CASES.items()}


@pytest.mark.parametrize("name", CASES)
def test_theory_holds(found: dict[str, Check], name: str) -> None:
    assert found[name].passed, found[name]
    assert found[name].sharp, found[name]


def test_the_page_shows_the_table(found: dict[str, Check]) -> None:
    assert markdown(list(found.values())) in PAGE.read_text("utf-8"), "run: python benchmarks/theory.py"


class SlowStation(Station):
    """Serves 5% longer than asked."""

    def join(self, t_s: float, service_s: float) -> float | None:
        spent = super().join(t_s, OFF * service_s)
        return None if spent is None else spent - (OFF - 1.0) * service_s


class PushyStation(Station):
    """Lets calls begin 5% of a service before a server is free."""

    def join(self, t_s: float, service_s: float) -> float | None:
        self._free_s[0] -= 0.05 * self.spec.service.mean
        return super().join(t_s, service_s)


class LargeStation(Station):
    """Has a server more than its setting says."""

    def __init__(self, spec: StationSpec) -> None:
        super().__init__(replace(spec, servers=spec.servers + 1))


class FastBucket(TokenBucket):
    """Refills 5% faster than its setting says."""

    def __init__(self, limit: RateLimit, now_s: float) -> None:
        super().__init__(replace(limit, rate_per_s=OFF * limit.rate_per_s), now_s)


def fails(values: Sequence[float], exact: float) -> bool:
    return not check(Case("planted", "", exact, lambda: values)).passed


@pytest.mark.parametrize("make", [SlowStation, PushyStation, LargeStation])
def test_a_planted_bug_of_a_station_fails(make: queues.MakeStation) -> None:
    spec = StationSpec(1, Exponential(1.0))
    assert fails(queues.mean_waits(spec, 0.5, "planted", make), formulas.mmc_wait_s(1, 0.5, 1.0))


def test_a_planted_bug_of_a_cap_fails() -> None:
    spec = StationSpec(4, LogNormal(1.0, 0.0), 0)
    assert fails(queues.lost_shares(spec, 3.0, "planted", SlowStation), formulas.erlang_b(4, 3.0))


def test_a_planted_bug_of_a_bucket_fails() -> None:
    assert fails(limits.accepted_rates(RateLimit(1.0, 10), 3.0, FastBucket), 1.0)


def test_a_planted_bug_of_a_hold_fails() -> None:
    exact = CASES["hold of 600 s, claims after 500 s on average: share held"].exact
    assert fails(holds.held_shares(OFF**2 * holds.TTL_S), exact)


def test_planted_bugs_of_spells_and_outages_fail() -> None:
    setting = replace(spells.SETTING, bad_share=OFF * spells.SETTING.bad_share)
    plans = rig.plans(rig.world(rig.endpoint(transient=setting)), spells.REPLICATIONS)
    assert fails([spells.share(spells.bad_spans(plan)) for plan in plans], spells.SETTING.bad_share)
    longer = replace(spells.OUTAGES, length=LogNormal(OFF * 100.0, 0.5))
    plans = rig.plans(rig.world(rig.endpoint(), longer), spells.REPLICATIONS)
    lengths = [spells.mean_length_s(spells.down_spans(plan)) for plan in plans]
    assert fails(lengths, spells.OUTAGES.length.mean)


def test_formulas_agree_where_they_meet() -> None:
    assert formulas.mmc_wait_s(1, 0.5, 1.0) == pytest.approx(formulas.mg1_wait_s(0.5, 1.0, 1.0))
    assert formulas.md1k_blocked(1, 0.7) == pytest.approx(formulas.erlang_b(1, 0.7))
    assert formulas.erlang_b(10, 7.0) == pytest.approx(0.0787, abs=5e-5), "Erlang's table"
    assert formulas.erlang_c(2, 1.0) == pytest.approx(1.0 / 3.0), "by hand"
