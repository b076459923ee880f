"""Reference agents: the floor, the loop, and the ceiling.

1. null and loop complete nothing on every bundled freight scenario, and loop uses up its decisions with one call.
2. The oracle completes exactly as many orders as an exhaustive search over a small world's slots and carriers finds,
   over one leg and over two, with up to three agents who contend; its joint plan is none where nobody must give way.
3. The oracle completes at least as many orders as the scripted workflow over the same campaigns of bundled scenarios,
   also where everything fails at once; greedy lies between nothing and the oracle.
4. Only the oracle is shown the world.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policy.two_legs import best_of_two_legs, two_leg_world

from masim.env.core import Session
from masim.errors import ConfigError
from masim.policy.base import Ask, sees_world
from masim.policy.build import build_policy
from masim.policy.card import load_card
from masim.policy.joint import joint_plan
from masim.policy.oracle import OraclePolicy
from masim.rng import Noise
from masim.rollout.evaluate import CampaignJob, CampaignRows, play_campaign
from masim.scenario.load import load_scenario
from masim.sim.plan import draw_plan
from masim.sim.spec import Instance, WorldSpec

FREIGHT = ("freight/first-steps-v0", "freight/short-chain-v0", "freight/twelve-apis-v0")
ONE_LEG = Path(__file__).resolve().parents[2] / "scenarios/_parts/one-leg.yaml"
DAY = 86400.0


def play(spec: WorldSpec, card: str, seed: int, days: int = 1, trace: bool = False) -> CampaignRows:
    return play_campaign(CampaignJob(spec, load_card(card), card, seed, days, 0, trace=trace))


def completed(rows: CampaignRows) -> int:
    return sum(bool(row["completed"]) for row in rows.outcomes)


@pytest.mark.parametrize("scenario", FREIGHT)
def test_null_and_loop_complete_nothing_and_the_loop_ends(scenario: str) -> None:
    spec = load_scenario(scenario).spec
    assert completed(play(spec, "null", 3)) == 0
    rows = play(spec, "loop", 3, trace=True)
    assert completed(rows) == 0
    assert {row["decisions"] for row in rows.outcomes} == {spec.max_decisions}
    own = [row for row in rows.trace if row["event"] == "call" and row["agent"] == "booker_0"]
    calls = {(row["verb"], row["vendor"], row["slot"]) for row in own}
    assert len(calls) == 1


def test_a_claim_without_a_call_is_counted_and_completes_nothing() -> None:
    rows = play(load_scenario(FREIGHT[0]).spec, "claim", 3, trace=True)
    assert completed(rows) == 0
    assert all(row["unsupported_claims"] == 1 for row in rows.outcomes)
    assert not [row for row in rows.trace if row["event"] == "call"]


def best_possible(spec: WorldSpec, seed: int) -> int:
    """Search every way to give the orders their slots; carriers are on time or not, take a shipper or not."""
    plan = draw_plan(spec, Instance(seed, 0, "eval"))
    refused, on_time = plan.hidden.refused, plan.hidden.on_time_p
    able = sum(any(on_time[c.id] == 1 and c.id not in refused[o.shipper] for c in spec.carriers) for o in plan.orders)
    plant, store = spec.docks
    leg = plan.orders[0].legs[0]

    def starts(dock_open: float, dock_close: float, slot: float, low: float, high: float) -> list[float]:
        times = [dock_open + k * slot for k in range(int((dock_close - dock_open) / slot))]
        return [t for t in times if low <= t <= high]

    pickups = starts(plant.open_s, plant.close_s, plant.slot_s, leg.pickup_open_s, DAY)
    deliveries = starts(store.open_s, store.close_s, store.slot_s, 0.0, leg.delivery_due_s)

    @cache
    def most(orders: int, free_p: tuple[int, ...], free_d: tuple[int, ...]) -> int:
        if orders == 0:
            return 0
        best = 0
        for i, p in enumerate(pickups):
            for j, d in enumerate(deliveries):
                if free_p[i] and free_d[j] and d >= p + leg.transit_s:
                    rest_p = (*free_p[:i], free_p[i] - 1, *free_p[i + 1 :])
                    rest_d = (*free_d[:j], free_d[j] - 1, *free_d[j + 1 :])
                    best = max(best, 1 + most(orders - 1, rest_p, rest_d))
        return best

    return most(able, (plant.capacity,) * len(pickups), (store.capacity,) * len(deliveries))


@settings(max_examples=30)
@given(
    agents=st.integers(1, 3),
    capacities=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    hours=st.tuples(st.sampled_from(["11:00", "12:00", "14:00"]), st.sampled_from(["14:00", "15:00", "17:00"])),
    on_time=st.sampled_from(["[1, 1]", "[1, 0]", "[0, 0]"]),
    refused=st.integers(0, 1),
    seed=st.integers(0, 10_000),
)
def test_the_oracle_reaches_the_optimum_of_small_worlds(
    agents: int, capacities: tuple[int, int], hours: tuple[str, str], on_time: str, refused: int, seed: int
) -> None:
    spec = load_scenario(
        ONE_LEG,
        {
            "agents.count": str(agents),
            "docks.plant.capacity": str(capacities[0]),
            "docks.store.capacity": str(capacities[1]),
            "docks.plant.close": f"'{hours[0]}'",
            "docks.store.close": f"'{hours[1]}'",
            "hidden.on_time_p": on_time,
            "hidden.refused_per_shipper": str(refused),
        },
    ).spec
    assert completed(play(spec, "oracle", seed)) == best_possible(spec, seed)


@settings(max_examples=40)
@given(
    agents=st.integers(1, 3),
    capacity=st.integers(1, 2),
    hours=st.tuples(
        st.sampled_from(["15:00", "16:00", "18:00"]),
        st.sampled_from(["17:00", "18:00", "20:00"]),
        st.sampled_from(["12:00", "13:00", "15:00"]),
        st.sampled_from(["11:00", "13:00", "14:00"]),
    ),
    on_time=st.sampled_from(["[1, 1]", "[1, 0]"]),
    seed=st.integers(0, 10_000),
)
def test_the_oracle_reaches_the_optimum_of_two_legs(
    agents: int, capacity: int, hours: tuple[str, str, str, str], on_time: str, seed: int
) -> None:
    spec = two_leg_world(str(ONE_LEG), agents, capacity, hours, on_time)
    assert completed(play(spec, "oracle", seed)) == best_of_two_legs(spec, seed)


@pytest.mark.parametrize(
    ("hours", "seed", "best"),
    [(("16:00", "18:00", "15:00", "11:00"), 4197, 2), (("16:00", "17:00", "15:00", "14:00"), 6529, 1)],
)
def test_orders_that_must_fail_give_way(hours: tuple[str, str, str, str], seed: int, best: int) -> None:
    """Three agents, one place per slot: whoever takes the first slot that fits leaves one order less, or none."""
    spec = two_leg_world(str(ONE_LEG), 3, 1, hours, "[1, 1]")
    rows = play(spec, "oracle", seed, trace=True)
    assert completed(rows) == best
    booked = {row["order"] for row in rows.trace if row["event"] == "effect" and row["verb"] == "schedule"}
    assert len(booked) == best
    roomy = Session(
        two_leg_world(str(ONE_LEG), 3, 2, ("18:00", "20:00", "15:00", "11:00"), "[1, 1]"), Instance(seed, 0)
    )
    assert joint_plan(roomy.world, list(roomy.plan.orders)) is None


def test_the_oracle_sends_no_truck_at_the_very_moment_of_the_delivery_before() -> None:
    spec = two_leg_world(str(ONE_LEG), 1, 2, ("18:00", "20:00", "13:00", "11:00"), "[1, 1]")
    assert completed(play(spec, "oracle", 9502)) == 1


@pytest.mark.parametrize("scenario", FREIGHT)
def test_greedy_lies_between_null_and_the_oracle(scenario: str) -> None:
    spec = load_scenario(scenario).spec
    null, greedy, oracle = (
        sum(completed(play(spec, card, seed, days=3)) for seed in range(1, 6)) for card in ("null", "greedy", "oracle")
    )
    assert null < greedy < oracle


@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize("scenario", FREIGHT)
def test_the_oracle_is_no_worse_than_the_scripted_workflow_in_any_campaign(scenario: str, seed: int) -> None:
    spec = load_scenario(scenario).spec
    oracle, scripted = (completed(play(spec, card, seed, days=3)) for card in ("oracle", "scripted"))
    assert oracle >= scripted


def test_under_every_fault_the_oracle_is_better_over_many_days() -> None:
    """It knows the vendors and not the faults to come, so on single days the workflow may be luckier."""
    spec = load_scenario("stress/all-faults-v0").spec
    oracle, scripted = (
        sum(completed(play(spec, card, seed, days=3)) for seed in range(1, 6)) for card in ("oracle", "scripted")
    )
    assert oracle > scripted


@pytest.mark.parametrize("scenario", FREIGHT)
def test_the_oracle_is_no_worse_than_the_scripted_workflow_on_the_same_days(scenario: str) -> None:
    spec = load_scenario(scenario).spec
    oracle, scripted = (completed(play(spec, card, 11, days=4)) for card in ("oracle", "scripted"))
    assert oracle >= scripted
    assert oracle >= 0.9 * 4 * len(spec.agents) * spec.orders.per_agent


def test_only_the_oracle_is_shown_the_world() -> None:
    session = Session(load_scenario(FREIGHT[0]).spec, Instance(1, 0))
    policies = [build_policy(load_card(name), session.table) for name in ("oracle", "scripted", "scorer", "random")]
    assert [sees_world(policy) for policy in policies] == [True, False, False, False]
    with pytest.raises(ConfigError, match="must be shown the world"):
        OraclePolicy().choose([Ask(session.advance()[0], Noise(1, "policy"))])
