"""Families of faults against the naive workflow: the same seeds with a family and without it do not end alike.

1. Per family the paired difference in one measure has a 95% interval without 0.
2. A status page is honest unless a fault makes it lie, also in an outage; scenarios without it have the old table.
3. Under any list of faults: money sums to zero, time never goes back, calls end once, and only an oversold dock has
   more in a slot than it has places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats
from sim.desk import Desk
from sim.worlds import NO_ERRORS, apis, by_script, calm, events, play, rounds, unruly

from masim.env.actions import ActionTable
from masim.env.core import Session
from masim.env.decision import Decision
from masim.outcome import OrderOutcome
from masim.policy.base import Ask
from masim.policy.workflow import NAIVE, WorkflowPolicy
from masim.rng import Noise
from masim.sim.dists import Constant
from masim.sim.faults.base import Fault
from masim.sim.faults.kinds import agent, asynchronous, capacity, commit, data, money, observability, outage
from masim.sim.faults.registry import FAULTS
from masim.sim.faults.rules import FaultSpec, Match, Rate
from masim.sim.spec import ApiSpec, Instance, Status, Verb, WorldSpec

SEEDS = range(12)
Measure = Callable[[OrderOutcome], float]
MEASURES: dict[str, Measure] = {
    "completed": lambda o: float(o.completed),
    "safe": lambda o: float(o.safe),
    "cost": lambda o: o.cost_cents / 100.0,
}
PAGES = (*apis(), ApiSpec(Verb.HEALTH, Constant(1.0), NO_ERRORS))
ASTER_DOWN = FaultSpec("down", outage.Down(), Match(vendors=("aster",)))


def naive(decision: Decision) -> int:
    return WorkflowPolicy("naive", NAIVE).choose([Ask(decision, Noise(0, "naive"))])[0].action


def measured(spec: WorldSpec, measure: Measure) -> np.ndarray:
    """Return one mean per seed."""
    return np.array([np.mean([measure(o) for o in play(spec, naive, seed).outcomes()]) for seed in SEEDS])


def half(fault: Fault, *endpoints: str) -> FaultSpec:
    return FaultSpec("f", fault, Match(endpoints=endpoints), rate=Rate(0.5))


@pytest.mark.parametrize(
    ("fault", "measure", "sign"),
    [
        (half(commit.DuplicateCommit()), "safe", -1),
        (half(asynchronous.PendingForever(), "tender"), "completed", -1),
        (FaultSpec("f", capacity.SilentMove(), Match(("plant",)), rate=Rate(0.5)), "completed", -1),
        (half(data.RenamedEnum(), "schedule"), "safe", -1),
        (half(money.PriceChange()), "cost", 1),
        (half(agent.Replay()), "safe", -1),
    ],
    ids=lambda value: value.fault.family if isinstance(value, FaultSpec) else str(value),
)
def test_a_family_changes_how_the_naive_workflow_ends(fault: FaultSpec, measure: str, sign: int) -> None:
    assert different(calm(), calm(faults=(fault,)), measure, sign)


def test_a_lying_status_page_changes_how_the_naive_workflow_ends() -> None:
    lie = FaultSpec("lie", observability.FalseGreen(), rate=Rate(0.5))
    honest = calm(apis=PAGES, faults=(ASTER_DOWN,))
    assert different(honest, replace(honest, faults=(ASTER_DOWN, lie)), "completed", -1)


def different(without: WorldSpec, with_it: WorldSpec, measure: str, sign: int) -> bool:
    """Return whether the paired 95% interval of a mean lies on one side of 0."""
    gap = measured(with_it, MEASURES[measure]) - measured(without, MEASURES[measure])
    slack = stats.t.ppf(0.975, len(gap) - 1) * gap.std(ddof=1) / len(gap) ** 0.5
    return bool(sign * gap.mean() > slack)


# -- status pages --------------------------------------------------------------------------------------------------


def test_a_status_page_is_honest_and_its_faults_are_not() -> None:
    green, red = FaultSpec("g", observability.FalseGreen()), FaultSpec("r", observability.FalseDown())
    for faults, told in (
        ((ASTER_DOWN,), [Status.REJECTED, Status.CONFIRMED]),
        ((ASTER_DOWN, green), [Status.CONFIRMED, Status.CONFIRMED]),
        ((ASTER_DOWN, red), [Status.REJECTED, Status.REJECTED]),
    ):
        desk = Desk(calm(apis=PAGES, faults=faults))
        assert [desk.ask(Verb.HEALTH, vendor).status for vendor in ("aster", "birch")] == told
        assert [desk.ask(Verb.QUOTE, vendor).code for vendor in ("aster", "birch")] == [503, 200]
    start = Desk(calm()).now
    desk = Desk(calm(apis=PAGES), outages={"birch": ((start, start + 60.0),)})
    assert desk.ask(Verb.HEALTH, "birch").problem == "down", "the endpoint's own outages count, and the page is up"


def test_only_a_scenario_that_lists_it_has_a_status_page() -> None:
    without, with_it = ActionTable(calm()), ActionTable(calm(apis=PAGES))
    assert Verb.HEALTH not in without.verb
    assert [a for a in with_it.actions if a.verb != "health"] == list(without.actions)
    assert len(with_it) - len(without) == 2
    rows = Session(calm(apis=PAGES), Instance(1, 0)).advance()[0].rows
    assert rows.shape[1] == Session(calm(), Instance(1, 0)).advance()[0].rows.shape[1]


# -- what holds under all of them ----------------------------------------------------------------------------------

SPECS = st.builds(
    lambda name, p, n: FaultSpec(f"{name}-{n}", FAULTS[name](), rate=Rate(p)),
    st.sampled_from(sorted(FAULTS)),
    st.sampled_from([0.2, 1.0]),
    st.integers(0, 99),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(unruly(), st.lists(SPECS, min_size=1, max_size=5), st.lists(st.integers(0, 10_000), min_size=1, max_size=40))
def test_the_world_holds_under_any_faults(spec: WorldSpec, faults: list[FaultSpec], script: list[int]) -> None:
    spec = replace(spec, apis=(*spec.apis, PAGES[-1]), faults=tuple(faults))
    session = Session(spec, Instance(1, 0))
    times = list(rounds(session, by_script(script)))
    assert times == sorted(times)
    in_order = [row.t_s for row in session.trace_rows if row.event != "outcome"]
    assert in_order == sorted(in_order)
    assert sum(session.world.ledger.balances().values()) == 0
    calls = Counter(row.request_id for row in events(session, "call"))
    assert calls == Counter(row.request_id for row in events(session, "answer"))
    extra = sum(f.fault.extra for f in faults if isinstance(f.fault, capacity.Oversell))
    for dock in session.world.docks.values():
        used = Counter[int]()
        for _, slot, delta in dock.places.log:
            used[slot] += delta
            assert 0 <= used[slot] <= dock.spec.capacity + extra
