"""The critic of PPO-GAE: what it reads, that it learns, and that a run with it can be resumed.

1. features are the context and the candidates' mean and maximum
2. it fits what it is told, the same way every time
3. PPO-GAE with it climbs where rewards are dense enough; the critic is in the checkpoint and resuming is exact
4. options that contradict each other
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from learn.ladder import Ladder, TabularPolicy

from masim.errors import ConfigError, RunError
from masim.learn.advantages.gae import PpoGae
from masim.learn.config import from_mapping
from masim.learn.critic import Critic, pooled
from masim.learn.critic_options import CriticOptions
from masim.learn.trainer import LogRow, Trainer
from masim.rollout.types import PolicyInputs

OPTIONS = {"estimator": "ppo_gae", "critic": {"lr": 0.01}, "lr": 0.05, "buffer_units": 32, "epochs": 2}


def some_inputs(n: int, seed: int = 0) -> PolicyInputs:
    draw = np.random.default_rng(seed)
    counts = draw.integers(1, 4, n)
    offsets = np.concatenate(([0], np.cumsum(counts)))
    rows = draw.random((offsets[-1], 3)).astype(np.float32)
    return PolicyInputs(rows, offsets, draw.random((n, 2)).astype(np.float32))


def test_features_are_context_mean_and_maximum() -> None:
    rows = np.array([[1, 2], [3, 0], [5, 5]], np.float32)
    inputs = PolicyInputs(rows, np.array([0, 2, 2, 3]), np.array([[9], [8], [7]], np.float32))
    assert pooled(inputs).tolist() == [[9, 2, 1, 3, 2], [8, 0, 0, 0, 0], [7, 5, 5, 5, 5]]


def test_it_fits_what_it_is_told_the_same_way_every_time() -> None:
    inputs = some_inputs(200)
    target, rows = inputs.context_NC[:, 0].astype(np.float64), np.arange(200)
    critics = [Critic(CriticOptions(lr=0.01, epochs=20, rows_per_step=64), seed) for seed in (1, 1, 2)]
    first = [critic.values(inputs) for critic in critics]
    assert np.array_equal(first[0], first[1]) and not np.array_equal(first[0], first[2])
    errors = [[critic.fit(inputs, target, rows, update) for update in range(5)] for critic in critics]
    assert errors[0] == errors[1]
    assert errors[0][-1] < 0.1 * float(np.mean((first[0] - target) ** 2))
    assert np.corrcoef(critics[0].values(inputs), target)[0, 1] > 0.95
    assert critics[0].fit(inputs, target, rows[:0], 9) == 0.0
    with pytest.raises(RunError, match="made for other inputs"):
        critics[0].values(PolicyInputs(inputs.rows_MF[:, :1], inputs.offsets, inputs.context_NC))


def trained(root: Path | None, updates: int, resume: bool = False) -> tuple[TabularPolicy, list[LogRow], Ladder]:
    policy, rows = TabularPolicy(6, 3), []
    world = Ladder(policy, length=3, budget=8)
    trainer = Trainer(world, policy, from_mapping({**OPTIONS, "checkpoint_every": 3}), rows.append, root)
    if resume:
        trainer.resume()
    assert trainer.run(updates)
    return policy, rows, world


def test_ppo_climbs_with_it() -> None:
    _, rows, world = trained(None, 30)
    assert np.mean(world.completion[:3]) < 0.6
    assert np.mean(world.completion[-5:]) > 0.9
    assert rows[-1]["value_loss"] is not None and 0 < rows[-1]["value_loss"] < 0.2


def test_resumed_equals_uninterrupted(tmp_path: Path) -> None:
    straight, _, _ = trained(None, 6)
    trained(tmp_path, 3)
    again, _, _ = trained(tmp_path, 6, resume=True)
    assert torch.equal(straight.logits, again.logits)
    assert not torch.equal(straight.logits, torch.zeros_like(straight.logits))


def test_what_contradicts() -> None:
    with pytest.raises(ConfigError, match="asks no critic"):
        from_mapping({"critic": {}})
    with pytest.raises(ConfigError, match="out of range"):
        from_mapping({"estimator": "ppo_gae", "critic": {"hidden": 0}})
    policy = TabularPolicy(6, 3)
    without = from_mapping({"estimator": "ppo_gae", "buffer_units": 32})
    with pytest.raises(ConfigError, match="needs a column"):
        Trainer(Ladder(policy, length=3), policy, without, lambda row: None).run(1)
    assert PpoGae().needs == ("value",)
