"""Groups played by copies of the policy in worker processes are the groups that one process plays."""

from __future__ import annotations

import json
import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs torch: pip install 'masim[train]'")

from masim.env.actions import ActionTable
from masim.memory.store.sqlite import SqliteStore
from masim.policy.build import build_scorer, weights_of
from masim.policy.card import load_card
from masim.rollout.campaigns import CampaignCollector, CampaignPlan
from masim.rollout.copies import Copies
from masim.rollout.executors.base import Job, Lost, Result
from masim.rollout.types import RolloutBatch
from masim.scenario.load import load_scenario
from masim.study.training import TrainJob, train_job

SPEC = load_scenario("freight/first-steps-v0").spec
CARD = load_card("scorer")
LEARNER = {"lr": 0.003, "n_rollouts": 4, "buffer_units": 12, "units_per_step": 12, "checkpoint_every": 1, "progpo": {}}
"""Three groups an update: with two workers the second block is a group short."""
UPDATES = 3


def train(folder: Path, collectors: int) -> Path:
    job = TrainJob(SPEC, CARD, "ProGPO", LEARNER, 12 * UPDATES, 0, folder, curve_points=0, collectors=collectors)
    return train_job(job).checkpoint


def log(folder: Path) -> list[dict[str, Any]]:
    """Return the training log without its wall times."""
    rows = [json.loads(line) for line in (folder / "train.jsonl").read_text("utf-8").splitlines()]
    return [{name: value for name, value in row.items() if not name.endswith("wall_s")} for row in rows]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training whose groups were played in this process."""
    folder = tmp_path_factory.mktemp("alone")
    train(folder, 1)
    return folder


def same(folder: Path, other: Path) -> None:
    assert log(folder) == log(other)
    last = f"update-{UPDATES:06d}/tensors.safetensors"
    assert (folder / last).read_bytes() == (other / last).read_bytes()


def test_workers_change_no_byte(alone: Path, tmp_path: Path) -> None:
    train(tmp_path, 2)
    same(tmp_path, alone)


def test_a_copy_that_dies_is_replaced(alone: Path, tmp_path: Path) -> None:
    def kill() -> None:
        while not (tmp_path / "update-000001").exists():
            time.sleep(0.01)
        for child in multiprocessing.active_children():
            child.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    train(tmp_path, 2)
    killer.join()
    same(tmp_path, alone)


@dataclass
class LossyCrew:
    """Plays in this process and loses every job whose number is in ``losses``."""

    losses: set[int]
    jobs: int = 0

    def run(
        self, function: Callable[[Job], Result], jobs: Sequence[Job], lost: Lost[Job, Result] | None = None
    ) -> Iterator[Result]:
        for job in jobs:
            self.jobs += 1
            assert lost is not None
            yield lost(job, "a worker process died") if self.jobs - 1 in self.losses else function(job)


def collector(store: SqliteStore, losses: set[int], first: int = 0) -> CampaignCollector:
    plan = CampaignPlan(SPEC, 2, lanes=1, seed=4)
    policy = build_scorer(CARD, ActionTable(SPEC), 0)
    crew = LossyCrew({number - first for number in losses})
    return CampaignCollector(plan, policy, store, Copies(crew, 2, CARD, lambda: weights_of(policy), 1))


def collect(source: CampaignCollector, draws: range) -> list[RolloutBatch]:
    """Collect with a policy version of its own for every draw, and hand the outcomes back."""
    batches = []
    for draw in draws:
        batch = source(draw, draw)
        for episode in batch.episodes:
            for agent in batch.agent_names if not episode.harness_failure else ():
                batch.feedback(episode.rollout_id, agent, 1.0)
        batches.append(batch)
    return batches


def test_a_group_that_is_lost_is_masked_and_its_day_still_a_version(tmp_path: Path) -> None:
    whole = collect(collector(SqliteStore(tmp_path / "whole.sqlite"), {1}), range(5))
    assert len(whole[1].table) == 0
    assert {episode.harness_failure for episode in whole[1].episodes} == {"a worker process died"}
    assert [int(batch.table.memory_version[0]) for batch in whole if len(batch.table)] == [0, 2, 3, 4]


def test_a_training_that_lost_a_group_resumes_where_it_was(tmp_path: Path) -> None:
    whole = collect(collector(SqliteStore(tmp_path / "whole.sqlite"), {1}), range(5))
    store = SqliteStore(tmp_path / "part.sqlite")
    collect(collector(store, {1}), range(4))
    store.close()
    again = collect(collector(SqliteStore(tmp_path / "part.sqlite"), {1}, first=3), range(3, 5))
    for batch, expected in zip(again, whole[3:], strict=True):
        assert np.array_equal(batch.table.memory_key, expected.table.memory_key)
        assert np.array_equal(batch.table.logp, expected.table.logp)
        assert np.array_equal(batch.table.reset_digest, expected.table.reset_digest)


def test_nothing_is_played_beyond_the_update() -> None:
    copies = Copies(LossyCrew(set()), 4, CARD, dict, groups=6)
    assert [copies.at_once(done) for done in range(8)] == [4, 4, 4, 3, 2, 1, 1, 1]
    assert replace(copies, workers=1).at_once(0) == 1
