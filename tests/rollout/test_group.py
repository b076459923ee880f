"""Groups: what members share, what the step table says, and how harness failures leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from masim.env.actions import ActionTable
from masim.errors import HarnessError
from masim.learn.buffer import join
from masim.memory.book import MemoryBook
from masim.memory.config import MemoryConfig
from masim.policy.base import Ask, Choice, Policy
from masim.policy.scripted import NullPolicy, RandomPolicy
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rollout.campaigns import CampaignCollector, CampaignPlan
from masim.rollout.group import GroupTask, Rollout, play_group
from masim.rollout.record import build_table
from masim.rollout.types import StepTable
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance, RewardSpec, Verb, WorldSpec

SPEC = load_scenario("freight/short-chain-v0").spec


def play(policy: Policy, spec: WorldSpec = SPEC, n: int = 3, seed: int = 5) -> list[Rollout]:
    task = GroupTask(spec, Instance(seed, 0), n, 10, policy_seed=1, record=True, trace=True)
    return play_group(task, policy, MemoryBook(spec.agents, MemoryConfig()), ActionTable(spec))


def table_of(rollouts: Sequence[Rollout]) -> StepTable:
    samples = [sample for rollout in rollouts for sample in rollout.samples.values()]
    return build_table(samples, [{"valid": True}] * len(samples))


def test_members_share_the_instance_and_differ_in_what_they_do() -> None:
    rollouts = play(RandomPolicy())
    assert len({rollout.reset_digest for rollout in rollouts}) == 1
    assert [rollout.id for rollout in rollouts] == [10, 11, 12]
    first = {tuple(step.values["action_id"] for step in r.samples["booker_0"].steps[:6]) for r in rollouts}
    assert len(first) > 1


def test_a_group_repeats_itself_to_the_byte() -> None:
    first, second = play(RandomPolicy()), play(RandomPolicy())
    assert [r.trace for r in first] == [r.trace for r in second]


def test_rewards_add_up_and_keys_chain() -> None:
    rollouts = play(WorkflowPolicy("scripted", Habits()), n=2)
    table = table_of(rollouts)
    for rollout in rollouts:
        for index, name in enumerate(SPEC.agents):
            rows = (table.rollout_id == rollout.id) & (table.agent == index)
            assert table.r_out[rows].sum() == rollout.outcomes[name]
            assert (table.r_pen[rows] <= SPEC.rewards.decision).all()
            assert (table.obs_key[rows][1:] == table.next_obs_key[rows][:-1]).all()
            assert table.terminated[rows].tolist() == [False] * (rows.sum() - 1) + [True]
            assert (np.diff(table.event_time_s[rows]) >= 0).all()


@pytest.mark.parametrize("credit_at", ["landing", "request"])
def test_where_credit_is_booked_changes_no_total(credit_at: str) -> None:
    spec = replace(SPEC, rewards=RewardSpec(credit_at=credit_at))
    rollouts = play(WorkflowPolicy("scripted", Habits()), spec, n=1)
    table = table_of(rollouts)
    assert table.r_out.sum() == sum(rollouts[0].outcomes.values()) > 0
    paid = table.endpoint[table.r_out > 0]
    dispatch = tuple(Verb).index(Verb.DISPATCH)
    assert (paid == dispatch).all() == (credit_at == "request")


def test_null_agent_scores_nothing() -> None:
    for rollout in play(NullPolicy(), n=1):
        assert sum(rollout.outcomes.values()) == 0
        assert not any(order.completed or order.cost_cents or order.orphans for order in rollout.orders)


class Broken:
    """Fails on its ``last`` batch, as a dead model endpoint would."""

    name = "broken"

    def __init__(self, last: int = 3) -> None:
        self.last = last
        self.batches = 0

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        self.batches += 1
        if self.batches == self.last:
            raise HarnessError("endpoint gone")
        return NullPolicy().choose(asks)


def test_harness_failure_masks_instead_of_scoring() -> None:
    collector = CampaignCollector(CampaignPlan(SPEC, 2), Broken())
    batch = collector(0, 0)
    assert batch.table.masked.all()
    assert {episode.harness_failure for episode in batch.episodes} == {"endpoint gone"}


def test_a_group_that_failed_before_its_first_decision_joins_others() -> None:
    plan = CampaignPlan(SPEC, 2)
    good = CampaignCollector(plan, NullPolicy())(1, 0)
    joined = join([CampaignCollector(plan, Broken(last=1))(0, 0), good])
    assert len(joined.table) == len(joined.inputs) == len(good.table) > 0
    assert np.array_equal(joined.inputs.rows_MF, good.inputs.rows_MF)
    assert joined.episodes == 4


def test_duplicates_cost_in_the_penalty_channel_alone() -> None:
    plain = replace(SPEC, rewards=RewardSpec(duplicate=0.0))
    dear = replace(SPEC, rewards=RewardSpec(duplicate=-2.0))
    twice = [play(RandomPolicy(), spec, n=4) for spec in (plain, dear)]
    tables = [table_of(rollouts) for rollouts in twice]
    duplicates = sum(order.duplicates for rollout in twice[0] for order in rollout.orders)
    assert duplicates > 0
    assert tables[0].r_out.sum() == tables[1].r_out.sum()
    assert np.isclose(tables[1].r_pen.sum() - tables[0].r_pen.sum(), -2.0 * duplicates)
