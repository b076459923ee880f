"""Two real processes that learn together.

1. with gloo on two processes the weights are those of one, within the tolerance of a sum in another order
2. steps are shared by whole units; every row goes to one process
3. a process that dies is an error in the other one, not a hang; nobody to meet is one, too
"""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from masim.errors import ConfigError, HarnessError
from masim.learn.config import from_mapping
from masim.learn.replicas import Gloo, join, leave
from masim.learn.trainer import LogRow, Trainer
from masim.micro.collect import MicroCollector
from masim.micro.games.token_ladder import TokenLadder
from masim.micro.model import Model
from masim.micro.tabular import TabularPolicy

GAME = TokenLadder(subgoals=4, budget=7)
LEARNERS: dict[str, dict[str, Any]] = {
    "progpo": {"progpo": {}, "units_per_step": 12},
    "segments, sequence ratio": {"unit": {"name": "segment", "segment_len": 3}, "ratio": "sequence", "epochs": 2},
    "ppo": {"estimator": "ppo_gae", "critic": {}, "epochs": 2, "importance": "truncated"},
}
UPDATES = 5


def train(learner: dict[str, Any], file: Path, replicas: Gloo | None = None) -> list[LogRow]:
    torch.set_num_threads(1)
    policy, rows = TabularPolicy(GAME), []
    config = from_mapping({"optimizer": "sgd", "lr": 10.0, "buffer_units": 32, **learner})
    collect = MicroCollector(Model(GAME), policy, 8)
    trainer = Trainer(collect, policy, config, rows.append, file.parent / f"{file.stem}-kept", replicas=replicas)
    trainer.run(UPDATES)
    save_file({"logits": policy.table.logits.detach()}, file)
    return rows


def replica(rank: int, folder: Path, dies: bool) -> None:
    group = join(rank, 2, folder / "meeting", 20.0)
    if dies and rank == 1:
        os._exit(9)
    try:
        for name, learner in LEARNERS.items():
            train(learner, folder / f"{name}-{rank}.safetensors", group)
    except HarnessError as error:
        (folder / "error").write_text(str(error), "utf-8")
        os._exit(3)
    leave()


def start(folder: Path, dies: bool = False) -> list[int | None]:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=replica, args=(rank, folder, dies)) for rank in (0, 1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(90)
    return [worker.exitcode for worker in workers]


def test_two_processes_learn_as_one(tmp_path: Path) -> None:
    assert start(tmp_path) == [0, 0]
    for name, learner in LEARNERS.items():
        train(learner, tmp_path / f"{name}.safetensors")
        alone, first, second = (
            load_file(tmp_path / f"{stem}.safetensors")["logits"] for stem in (name, f"{name}-0", f"{name}-1")
        )
        assert float(alone.abs().max()) > 0.1
        assert torch.equal(first, second)
        assert torch.allclose(alone, first, rtol=1e-4, atol=1e-5), name
        assert list((tmp_path / f"{name}-0-kept").glob("update-*"))
        assert not (tmp_path / f"{name}-1-kept").exists()


def test_a_step_is_shared_by_whole_units() -> None:
    rows, unit_N = np.array([0, 1, 2, 5, 6, 7]), np.array([4, 4, 9, 0, 0, 2, 2, 9])
    parts = [Gloo(rank, 2).share(rows, unit_N).tolist() for rank in (0, 1)]
    assert sorted([*parts[0], *parts[1]]) == rows.tolist()
    for part, other in (parts, parts[::-1]):
        assert not set(unit_N[part]) & set(unit_N[other])


def test_a_process_that_dies_is_an_error_in_the_other(tmp_path: Path) -> None:
    codes = start(tmp_path, dies=True)
    assert codes == [3, 9]
    assert "lost another one" in (tmp_path / "error").read_text("utf-8")


def test_nobody_to_meet(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="met nobody"):
        join(0, 2, tmp_path / "meeting", 0.5)
    with pytest.raises(ConfigError, match="impossible rank"):
        join(2, 2, tmp_path / "meeting")
