"""Counterfactual returns from real rollouts: the same noise, one agent on the reference policy.

1. an agent that acts as the reference does has its team's return, exactly
2. who is to blame: replacing the one that does nothing changes the outcome, replacing another does not
3. a training with the preset learns from it
4. contradictions and missing columns are refused with the reason
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from masim.env.actions import ActionTable
from masim.errors import ConfigError, UserError
from masim.learn.config import from_mapping
from masim.learn.trainer import LogRow, Trainer
from masim.memory.book import MemoryBook
from masim.memory.config import MemoryConfig
from masim.policy.base import Policy
from masim.policy.build import build_policy, build_scorer
from masim.policy.card import load_card
from masim.policy.scripted import NullPolicy
from masim.rollout.campaigns import CampaignCollector, CampaignPlan
from masim.rollout.collected import Collected, collect_group
from masim.rollout.counterfactual import StandIn
from masim.rollout.group import GroupTask
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance
from masim.study.training import learner_config

SPEC = load_scenario("freight/short-chain-v0", {"agents.count": "2"}).spec
SHORT = load_scenario("freight/short-chain-v0", {"agents.count": "2", "agents.max_decisions": "6"}).spec
"""Days of few decisions, where only that something is learned is looked at."""
TABLE = ActionTable(SPEC)
SCRIPTED = build_policy(load_card("scripted"), TABLE)
PRESET = yaml.safe_load((Path(__file__).parents[2] / "configs/learner/counterfactual.yaml").read_text("utf-8"))


def play(policy: Policy, reference: str = "scripted", seed: int = 5, n: int = 2) -> Collected:
    task = GroupTask(SPEC, Instance(seed, 0), n, 10, policy_seed=1, record=True, reference=reference)
    return collect_group(task, policy, MemoryBook(SPEC.agents, MemoryConfig()), TABLE)


def team(played: Collected) -> list[float]:
    """Return the outcome of each rollout's team, smallest of its agents'."""
    return [float(all(order.completed for order in episode.orders)) for episode in played.episodes]


def without(played: Collected, agent: int) -> list[float]:
    """Return the counterfactual return of an agent, by rollout."""
    table = played.table
    column = table.columns()["counterfactual"]
    values = [np.unique(column[(table.agent == agent) & (table.rollout_id == e.rollout_id)]) for e in played.episodes]
    assert all(len(value) == 1 for value in values), "a sample has one value"
    return [float(value[0]) for value in values]


def good_seed() -> int:
    """Return an instance in which both workflows complete everything."""
    return next(seed for seed in range(40) if team(play(SCRIPTED, reference="", seed=seed)) == [1.0, 1.0])


def test_an_agent_that_acts_as_the_reference_does() -> None:
    for seed in (0, 5):
        played = play(SCRIPTED, seed=seed)
        for agent in range(len(SPEC.agents)):
            assert without(played, agent) == team(played)


def test_who_is_to_blame() -> None:
    seed = good_seed()
    played = play(StandIn(SCRIPTED, NullPolicy(), SPEC.agents[1]), seed=seed)
    assert team(played) == [0.0, 0.0]
    assert without(played, 1) == [1.0, 1.0], "with a workflow in its place all would be done"
    assert without(played, 0) == [0.0, 0.0], "it did all that it could"


def test_replays_leave_the_rollouts_as_they_were() -> None:
    plain, replayed = play(SCRIPTED, reference=""), play(SCRIPTED)
    columns = replayed.table.columns()
    assert all(np.array_equal(column, columns[name]) for name, column in plain.table.columns().items())
    assert plain.episodes == replayed.episodes


def test_a_training_learns_from_it() -> None:
    options = {**PRESET, "n_rollouts": 2, "buffer_units": 4, "units_per_step": 4}
    config = learner_config(options, SHORT, 0, 2)
    policy = build_scorer(load_card("scorer"), ActionTable(SHORT), 0)
    collector = CampaignCollector(CampaignPlan(SHORT, 2, reference=config.counterfactual_agent), policy)
    rows: list[LogRow] = []
    assert Trainer(collector, policy, config, rows.append).run(1)
    assert rows[0]["optimizer_steps"]


def test_contradictions() -> None:
    with pytest.raises(ConfigError, match="reads no counterfactual"):
        from_mapping({"counterfactual_agent": "scripted"})
    with pytest.raises(UserError, match="did you mean 'scripted'"):
        learner_config({**PRESET, "counterfactual_agent": "scriptd"}, SPEC)
    policy = build_scorer(load_card("scorer"), ActionTable(SHORT), 0)
    config = replace(
        from_mapping({**PRESET, "counterfactual_agent": ""}), n_rollouts=2, buffer_units=8, units_per_step=8
    )
    with pytest.raises(ConfigError, match="counterfactual_agent"):
        Trainer(CampaignCollector(CampaignPlan(SHORT, 2), policy), policy, config, lambda row: None).run(1)
