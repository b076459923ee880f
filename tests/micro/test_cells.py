"""The learner's story on ladders of which everything is known, as inequalities.

1. 14 of 20 calls: outcomes alone stay at chance, coverage reaches the optimum
2. where all fail coverage speaks; where some succeed it had better be quiet (decoys)
3. a clock in the observation breaks exact keys, and not canonical ones
4. 8 of 12: every method gets there
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pytest
import torch

from masim.learn.config import from_mapping
from masim.learn.trainer import Trainer
from masim.micro.collect import MicroCollector
from masim.micro.games.token_ladder import TokenLadder
from masim.micro.model import Model
from masim.micro.oracle import Oracle
from masim.micro.tabular import TabularPolicy

LONG = TokenLadder(subgoals=14, budget=20)
DECOYS = TokenLadder(subgoals=14, budget=20, decoys=3)
CLOCK = TokenLadder(subgoals=14, budget=20, decoys=None)
SHORT = TokenLadder(subgoals=8, budget=12)
SIZES = {"optimizer": "sgd", "lr": 10.0, "buffer_units": 32, "units_per_step": 32}
EXACT = {"keys": "exact"}
ALWAYS = {**EXACT, "control": "always_on", "lambda_rule": "fixed"}
CENTRED = {"estimator": {"name": "grpo", "norm": "none"}, "lr": 30.0}


def trained(game: TokenLadder, options: dict[str, Any], updates: int, seed: int = 0) -> float:
    """Return the exact probability of success after a training of 8 rollouts a group, 4 groups an update."""
    torch.set_num_threads(1)
    policy = TabularPolicy(game)
    config = from_mapping({**SIZES, **options, "seed": seed})
    Trainer(MicroCollector(Model(game), policy, 8, seed), policy, config, lambda row: None).run(updates)
    return Oracle(game, policy).success()


@lru_cache
def progpo_on(game: TokenLadder) -> float:
    return trained(game, {"progpo": EXACT}, 150)


@pytest.mark.parametrize("options", [{}, {"estimator": "reinforce"}, {"progpo": {"control": "random"}}], ids=str)
def test_outcomes_alone_stay_at_chance(options: dict[str, Any]) -> None:
    assert trained(LONG, options, 150) < 0.05


def test_coverage_reaches_the_optimum() -> None:
    assert progpo_on(LONG) > 0.9 * LONG.p_star


def test_decoys_do_not_fool_coverage_that_is_quiet_after_success() -> None:
    assert progpo_on(DECOYS) > 0.9 * DECOYS.p_star


def test_coverage_that_is_always_on_farms_decoys() -> None:
    gated, always = (
        sum(trained(DECOYS, {**CENTRED, "progpo": options}, 150, seed) for seed in (0, 1)) / 2
        for options in (EXACT, ALWAYS)
    )
    assert gated > 0.9 * DECOYS.p_star
    assert always < gated - 0.03


def test_a_clock_breaks_exact_keys_only() -> None:
    assert progpo_on(CLOCK) < 0.05
    assert trained(CLOCK, {"progpo": {"keys": "canonical"}}, 150) > 0.9 * CLOCK.p_star


@pytest.mark.parametrize(
    "options", [{}, {"estimator": "reinforce"}, {"progpo": EXACT}, {"estimator": "gigpo"}], ids=str
)
def test_the_short_ladder_is_for_everybody(options: dict[str, Any]) -> None:
    assert trained(SHORT, {**options, "lr": 30.0}, 60) > 0.9 * SHORT.p_star


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_long_ladder_at_full_length(seed: int) -> None:
    assert trained(LONG, {"progpo": EXACT}, 300, seed) > 0.95 * LONG.p_star
    assert trained(LONG, {}, 300, seed) < 0.05
