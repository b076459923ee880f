"""Late rewards of real rollouts: where they land, which request they answer, and that totals are equal.

1. booked again by the learner they are what the rollouts booked themselves, for both places
2. totals are equal for every sample, in worlds whose trucks come late and whose orders change hands
3. an order is paid at its own dispatch
4. calls that went well are those of the trace
5. results that are held back until the group is closed are counted, and nobody is paid for them
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from masim.env.actions import ActionTable
from masim.learn.buffer import fill
from masim.learn.config import from_mapping
from masim.learn.rewards.arrivals import pay
from masim.memory.book import MemoryBook
from masim.memory.config import MemoryConfig
from masim.policy.base import Policy
from masim.policy.build import build_policy
from masim.policy.card import load_card
from masim.policy.scripted import RandomPolicy
from masim.rollout.campaigns import CampaignCollector, CampaignPlan
from masim.rollout.collected import Collected, collected
from masim.rollout.group import GroupTask, play_group
from masim.rollout.types import Landings, RolloutBatch, StepTable
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance, Verb, WorldSpec

SCENARIOS = ("freight/first-steps-v0", "freight/short-chain-v0", "freight/relay-v0")
DISPATCH = list(Verb).index(Verb.DISPATCH)


def play(spec: WorldSpec, policy: Policy | None = None, seed: int = 5, n: int = 2) -> Collected:
    table = ActionTable(spec)
    acts = policy or build_policy(load_card("scripted"), table)
    task = GroupTask(spec, Instance(seed, 0), n, 0, policy_seed=1, record=True)
    return collected(play_group(task, acts, MemoryBook(spec.agents, MemoryConfig()), table))


def booked(played: Collected, reward: str, at: str) -> StepTable:
    return pay(played.table, played.landings, from_mapping({"reward": reward, "booking": at}))


def totals(table: StepTable) -> list[float]:
    cells = table.rollout_id * 100 + table.agent
    return [round(float(table.r_out[cells == cell].sum()), 9) for cell in np.unique(cells)]


@pytest.mark.parametrize("at", ["landing", "request"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_learner_books_as_the_rollouts_do(scenario: str, at: str) -> None:
    spec = load_scenario(scenario).spec
    played = play(replace(spec, rewards=replace(spec.rewards, credit_at=at)))
    assert played.table.r_out.any(), "nobody succeeded, so nothing is tested"
    assert np.array_equal(booked(played, "outcome", at).r_out, played.table.r_out)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("seed", range(3))
def test_totals_are_equal(scenario: str, seed: int) -> None:
    spec = load_scenario(scenario).spec
    for policy in (None, RandomPolicy()):
        played = play(spec, policy, seed)
        for reward in ("outcome", "unit_event"):
            landing, request = (booked(played, reward, at) for at in ("landing", "request"))
            assert totals(landing) == totals(request)
        assert totals(landing) >= totals(played.table), "an order's share is paid where all together is not"


def test_an_order_is_paid_at_its_own_dispatch() -> None:
    spec = load_scenario("freight/drifting-carriers-v0").spec
    played = play(spec, seed=2, n=4)
    table = booked(played, "unit_event", "request")
    rows = np.flatnonzero(table.r_out)
    assert len(rows) > 2 and (table.endpoint[rows] == DISPATCH).all()
    assert len({(table.rollout_id[row], table.order[row]) for row in rows}) == len(rows)
    landing = booked(played, "unit_event", "landing")
    assert (landing.event_time_s[landing.r_out > 0].max() >= table.event_time_s[rows].max()).all()


def test_calls_that_went_well() -> None:
    spec = load_scenario("freight/first-steps-v0").spec
    table = ActionTable(spec)
    task = GroupTask(spec, Instance(3, 0), 4, 0, policy_seed=1, record=True, trace=True)
    rollouts = play_group(task, RandomPolicy(), MemoryBook(spec.agents, MemoryConfig()), table)
    answered = [sum(row.event == "answer" and 200 <= row.code < 300 for row in r.trace) for r in rollouts]
    steps = collected(rollouts).table
    assert steps.calls_ok is not None
    assert [int(steps.calls_ok[steps.rollout_id == r.id].sum()) for r in rollouts] == answered
    assert min(answered) < max(answered)


def test_what_lands_after_its_group_was_closed() -> None:
    spec = load_scenario("freight/first-steps-v0").spec
    real = CampaignCollector(CampaignPlan(spec, 4), build_policy(load_card("scripted"), ActionTable(spec)))
    kept: list[Landings] = []

    def slow(draw: int, version: int) -> RolloutBatch:
        """Hold every result back until the next batch comes."""
        batch = real(draw, version)
        assert batch.landings is not None
        kept.append(batch.landings)
        return replace(batch, landings=kept[-2] if len(kept) > 1 else batch.landings.take(np.zeros(0, np.int64)))

    config = from_mapping({"reward": "unit_event", "n_rollouts": 4, "buffer_units": 8, "units_per_step": 8})
    first = fill(slow, 0, 0, config)
    assert (first.late, first.draws) == (0, 2)
    paid = [float(first.table.r_out[first.table.group_id == g].sum()) for g in (0, 1)]
    assert paid[0] == kept[0].amount.sum() > 0 and paid[1] == 0.0
    second = fill(slow, 2, 1, config)
    assert second.late == len(kept[1]) == 4
    assert float(second.table.r_out.sum()) == kept[2].amount.sum()
