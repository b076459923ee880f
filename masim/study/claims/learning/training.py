"""One training of a tabular policy on a micro-scenario, with its exact success along the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from masim.learn.config import from_mapping
from masim.learn.trainer import Trainer
from masim.micro.collect import MicroCollector
from masim.micro.game import Game
from masim.micro.model import Model
from masim.micro.oracle import Oracle
from masim.micro.registry import read_game
from masim.micro.tabular import TabularPolicy


@dataclass(frozen=True, slots=True)
class Trained:
    """What a training came to."""

    policy: TabularPolicy
    curve: tuple[tuple[int, float], ...]
    """(episodes played, exact probability of success then), the untrained policy first."""
    log: tuple[Mapping[str, Any], ...]
    """The trainer's row of every update."""


@lru_cache(maxsize=16)
def model_of(world: str) -> Model:
    """Return a world with what was worked out about it."""
    return Model(read_game(world))


def train(world: str, learner: Mapping[str, Any], episodes: int, seed: int, points: int) -> Trained:
    """Train for at least ``episodes`` episodes, looking ``points`` times at the exact success."""
    import torch

    torch.set_num_threads(1)
    model = model_of(world)
    game: Game = model.game
    policy = TabularPolicy(game)
    config = from_mapping({**learner, "seed": seed})
    rows: list[Mapping[str, Any]] = []
    trainer = Trainer(MicroCollector(model, policy, config.n_rollouts, seed), policy, config, rows.append)
    curve = [(0, Oracle(game, policy).success())]
    for point in range(1, points + 1):
        trainer.run(episodes=round(episodes * point / points))
        curve.append((trainer.totals["episodes"], Oracle(game, policy).success()))
    return Trained(policy, tuple(curve), tuple(rows))


def area(curve: tuple[tuple[int, float], ...]) -> float:
    """Return the mean success over the points after the start: what a tuning trial is judged by."""
    return sum(value for _, value in curve[1:]) / max(1, len(curve) - 1)
