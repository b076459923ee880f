"""Groups that an older policy has played.

1. truncated weights by hand; without staleness they change nothing
2. a bound on staleness drops whole groups, counts them, and draws others
3. refusing, never getting fresh ones, and impossible options are errors
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from masim.errors import ConfigError, RunError
from masim.learn.buffer import fill, fresh
from masim.learn.config import from_mapping
from masim.learn.losses import truncated_weights
from masim.learn.trainer import LogRow, Trainer
from masim.micro.collect import MicroCollector
from masim.micro.games.token_ladder import TokenLadder
from masim.micro.model import Model
from masim.micro.tabular import TabularPolicy
from masim.rollout.types import RolloutBatch

GAME = TokenLadder(subgoals=3, budget=5)
SIZES: dict[str, Any] = {"optimizer": "sgd", "lr": 10.0, "buffer_units": 32, "units_per_step": 32}


class Behind:
    """A collector whose even draws were played by the first policy of all."""

    def __init__(self, policy: TabularPolicy) -> None:
        self.now = MicroCollector(Model(GAME), policy, 8)
        self.then = MicroCollector(Model(GAME), TabularPolicy(GAME), 8)

    def __call__(self, draw: int, version: int) -> RolloutBatch:
        return self.now(draw, version) if draw % 2 else self.then(draw, 0)


def train(options: dict[str, Any], updates: int = 4, behind: bool = True) -> tuple[torch.Tensor, list[LogRow]]:
    policy, rows = TabularPolicy(GAME), []
    collect = Behind(policy) if behind else MicroCollector(Model(GAME), policy, 8)
    Trainer(collect, policy, from_mapping({**SIZES, **options}), rows.append).run(updates)
    return policy.table.logits.detach(), rows


def test_weights_are_truncated() -> None:
    start, acted = torch.tensor([0.5, 0.2, 0.9]).log(), torch.tensor([0.5, 0.4, 0.1]).log()
    assert truncated_weights(start, acted, 2.0).tolist() == pytest.approx([1.0, 0.5, 2.0])


def test_without_staleness_weights_change_nothing() -> None:
    plain, _ = train({}, behind=False)
    guarded, rows = train({"importance": "truncated"}, behind=False)
    assert torch.allclose(plain, guarded, atol=1e-6)
    assert rows[-1]["importance_mean"] == pytest.approx(1.0)
    assert rows[-1]["importance_truncated"] == 0.0


def test_what_others_played_is_weighed() -> None:
    plain, before = train({})
    guarded, rows = train({"importance": "truncated", "importance_cap": 1.5})
    assert not torch.allclose(plain, guarded)
    assert (before[-1]["staleness_max"], rows[-1]["staleness_max"]) == (3, 3)
    assert rows[-1]["importance_truncated"] > 0.0  # type: ignore[operator]
    assert rows[-1]["kl"] < before[-1]["kl"]  # type: ignore[operator]


def test_old_groups_are_dropped_counted_and_drawn_again() -> None:
    _, rows = train({"max_staleness": 1})
    assert [row["stale_groups"] for row in rows] == [0, 0, 4, 4]
    assert all(row["staleness_max"] <= 1 for row in rows)  # type: ignore[operator]
    assert {row["samples"] for row in rows} == {32}


def test_only_the_old_groups_of_a_batch_go() -> None:
    policy = TabularPolicy(GAME)
    old, new = (MicroCollector(Model(GAME), policy, 4)(draw, version) for draw, version in ((0, 2), (1, 5)))
    both = replace(
        new,
        table=type(new.table)(
            **{n: np.concatenate((c, new.table.columns()[n])) for n, c in old.table.columns().items()}
        ),
    )
    both = replace(
        both, inputs=policy.inputs(*(np.concatenate(parts) for parts in zip(*map(seen, (old, new)), strict=True)))
    )
    kept, gone = fresh(both, 6, from_mapping({"max_staleness": 2}))
    assert gone == 1
    assert set(kept.table.group_id) == {1} and len(kept.inputs) == len(kept.table)
    assert fresh(both, 6, from_mapping({"max_staleness": 4}))[1] == 0


def seen(batch: RolloutBatch) -> tuple[Any, Any, Any]:
    context = batch.inputs.context_NC
    return np.argmax(context[:, :-1], axis=1), np.diff(batch.inputs.offsets), context[:, -1]


def test_old_groups_can_be_refused() -> None:
    with pytest.raises(RunError, match="too old a policy"):
        train({"max_staleness": 0, "stale": "refuse"})


def test_nothing_fresh_is_an_error() -> None:
    policy = TabularPolicy(GAME)
    stale = MicroCollector(Model(GAME), policy, 8)
    with pytest.raises(RunError, match="3 groups older than max_staleness 1"):
        fill(lambda draw, version: stale(draw, 0), 0, 9, from_mapping({**SIZES, "max_staleness": 1}))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"importance_cap": 0.5}, ">= 1"),
        ({"max_staleness": -1}, ">= 0, or null"),
        ({"importance": "truncate"}, "unknown importance"),
        ({"stale": "keep"}, "unknown stale"),
    ],
)
def test_impossible_options(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        from_mapping(options)
