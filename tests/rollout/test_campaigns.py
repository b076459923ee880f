"""Campaigns: days follow each other, memories advance with feedback alone, and a resumed collector goes on exactly."""

from __future__ import annotations

from contextlib import closing
from dataclasses import fields
from pathlib import Path

import numpy as np

from masim.memory.store.sqlite import SqliteStore
from masim.policy.scripted import RandomPolicy
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rollout.campaigns import TRAIN_SEEDS_FROM, CampaignCollector, CampaignPlan
from masim.rollout.types import RolloutBatch
from masim.scenario.load import load_scenario

SPEC = load_scenario("freight/first-steps-v0").spec
PLAN = CampaignPlan(SPEC, n_rollouts=2, lanes=2, seed=4)


def feed(batch: RolloutBatch) -> None:
    for episode in batch.episodes:
        for agent in batch.agent_names:
            batch.feedback(episode.rollout_id, agent, 1.0)


def equal(a: RolloutBatch, b: RolloutBatch) -> bool:
    return all(np.array_equal(getattr(a.table, f.name), getattr(b.table, f.name)) for f in fields(a.table))


def test_draws_walk_the_days_of_each_lane() -> None:
    days = SPEC.campaign_days
    places = [PLAN.place(draw) for draw in range(2 * days + 2)]
    first = TRAIN_SEEDS_FROM * 5
    assert places[:4] == [(0, first, 0), (1, first + 1, 0), (0, first, 1), (1, first + 1, 1)]
    assert places[2 * days] == (0, first + 2, 0)


def test_memory_advances_only_with_the_outcomes_of_the_first_rollout() -> None:
    collector = CampaignCollector(PLAN, WorkflowPolicy("scripted", Habits()))
    first = collector(0, 0)
    assert set(first.table.memory_version) == {0}
    feed(first)
    collector(1, 0)
    assert set(collector(2, 0).table.memory_version) == {1}


def test_resumed_collector_repeats_the_uninterrupted_one(tmp_path: Path) -> None:
    whole = CampaignCollector(PLAN, RandomPolicy())
    batches = [whole(draw, 0) for draw in range(1)]
    for draw in range(1, 7):
        feed(batches[-1])
        batches.append(whole(draw, 0))
    with closing(SqliteStore(tmp_path / "memory.sqlite")) as store:
        first = CampaignCollector(PLAN, RandomPolicy(), store)
        for draw in range(6):
            feed(first(draw, 0))
    with closing(SqliteStore(tmp_path / "memory.sqlite")) as store:
        again = CampaignCollector(PLAN, RandomPolicy(), store)
        for draw in (4, 5):
            feed(again(draw, 0))
        assert equal(again(6, 0), batches[6])
