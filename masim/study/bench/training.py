"""What learning from scratch costs: seconds to a share of a known optimum, and what of an update is neither world nor
network.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from masim.env.actions import ActionTable
from masim.learn.config import from_mapping
from masim.learn.trainer import LogRow, TrainablePolicy, Trainer
from masim.micro.collect import MicroCollector
from masim.micro.model import Model
from masim.micro.oracle import Oracle
from masim.micro.registry import make_game
from masim.micro.tabular import TabularPolicy
from masim.policy.build import build_scorer
from masim.policy.card import load_card
from masim.rollout.campaigns import CampaignCollector, CampaignPlan
from masim.rollout.types import Collect
from masim.scenario.load import load_scenario

SHORT, LONG = {"subgoals": 8, "budget": 12}, {"subgoals": 14, "budget": 20}
OPTIONS = {"optimizer": "sgd", "lr": 10.0, "buffer_units": 32, "units_per_step": 32}
COVERAGE: dict[str, Any] = {"progpo": {}}
SHARE = 0.9
FREIGHT = "freight/first-steps-v0"
LIMIT = 300
"""Most updates of a training."""


def training(seed: int, quick: bool) -> list[dict[str, Any]]:
    """Return rows of figures with their targets. ``quick`` stops after three updates."""
    limit = 3 if quick else LIMIT
    short, _, _ = climb(SHORT, COVERAGE, seed, limit)
    long, _, _ = climb(LONG, COVERAGE, seed, limit)
    _, blind, _ = climb(LONG, {}, seed, limit, stop=False)
    steps = 3 if quick else 40
    rows = [
        ("token-ladder 12/8 from scratch to 0.9 p*, s", short, 60.0),
        ("token-ladder 20/14 with ProGPO to 0.9 p*, s", long, 300.0),
        ("token-ladder 20/14, outcomes alone, success after 300 updates", blind, 0.05),
        (
            "share of an update that is neither world nor network, token-ladder 20/14",
            _ladder_overhead(seed, steps),
            0.1,
        ),
        (f"the same, {FREIGHT}", _freight_overhead(seed, steps // 4 + 1), 0.1),
    ]
    return [
        {"what": what, "figure": figure, "target": target, "met": figure <= target} for what, figure, target in rows
    ]


def climb(
    game: Mapping[str, object], learner: Mapping[str, Any], seed: int, limit: int, stop: bool = True
) -> tuple[float, float, int]:
    """Train until the exact success is the share of the optimum; return (wall seconds, success, updates).

    Looks at the success are not counted.
    """
    trainer, policy, model = _ladder(game, learner, seed)
    spent, success = 0.0, 0.0
    while trainer.update < limit:
        began = time.perf_counter()
        trainer.step()
        spent += time.perf_counter() - began
        success = Oracle(model.game, policy).success()
        if stop and success >= SHARE * model.game.p_star:
            break
    return spent, success, trainer.update


def _ladder(game: Mapping[str, object], learner: Mapping[str, Any], seed: int) -> tuple[Trainer, TabularPolicy, Model]:
    import torch

    torch.set_num_threads(1)
    model = Model(make_game("token-ladder", game))
    policy = TabularPolicy(model.game)
    config = from_mapping({**OPTIONS, **learner, "seed": seed})
    return Trainer(MicroCollector(model, policy, config.n_rollouts, seed), policy, config, _silent), policy, model


def _silent(row: LogRow) -> None:
    """The rows are read from the steps themselves."""


def _ladder_overhead(seed: int, steps: int) -> float:
    return overhead(_ladder(LONG, {**COVERAGE, "buffer_units": 64}, seed)[0], steps)


def _freight_overhead(seed: int, steps: int) -> float:
    spec, card = load_scenario(FREIGHT).spec, load_card("scorer")
    policy = build_scorer(card, ActionTable(spec), seed)
    config = from_mapping({**COVERAGE, "seed": seed})
    collect: Collect = CampaignCollector(CampaignPlan(spec, config.n_rollouts, seed=seed), policy)
    learner: TrainablePolicy = policy
    return overhead(Trainer(collect, learner, config, _silent), steps)


def overhead(trainer: Trainer, steps: int) -> float:
    """Return the share of wall time that is neither collecting nor optimizer steps, after a first update."""
    trainer.step()
    began = time.perf_counter()
    rows = [trainer.step() for _ in range(steps)]
    spent = time.perf_counter() - began
    busy = sum(float(row["collect_wall_s"] or 0.0) + float(row["update_wall_s"] or 0.0) for row in rows)
    return 1.0 - busy / spent
