"""The trainer on a ladder of hidden tokens.

1. ProGPO climbs where outcomes alone give no signal; its controls do not
2. a clock in the observation breaks exact keys and not canonical ones
3. the buffer is filled with whole groups, minibatches are whole units
4. outcomes go back to the memories, in order, without those of failed harnesses
5. interruption finishes the update, saves, and resuming gives the same weights
6. what cannot work is refused
"""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from learn.ladder import Ladder, TabularPolicy

from masim.errors import ConfigError, RunError
from masim.learn.advantages.assemble import advantages
from masim.learn.buffer import fill, join
from masim.learn.config import from_mapping
from masim.learn.credit.rollout import RolloutUnit
from masim.learn.credit.segments import SegmentUnit
from masim.learn.credit.sets import AgentSetUnit
from masim.learn.trainer import LogRow, Trainer
from masim.rollout.types import Episode, RolloutBatch

SIZES = {"lr": 0.1, "buffer_units": 32, "units_per_step": 32}
STAGES = 30


def train(options: dict[str, object], updates: int = 80, clock: bool = False) -> tuple[Ladder, list[LogRow]]:
    policy, rows = TabularPolicy(STAGES, 3), []
    world = Ladder(policy, length=29, budget=40, clock=clock)
    assert Trainer(world, policy, from_mapping({**SIZES, **options}), rows.append).run(updates)
    return world, rows


def late_completion(world: Ladder) -> float:
    return float(np.mean(world.completion[-20:]))


@pytest.mark.parametrize(
    "options",
    [
        {"progpo": {}},
        {"progpo": {}, "unit": {"name": "segment", "segment_len": 8}},
        {"progpo": {}, "estimator": "rloo"},
    ],
    ids=str,
)
def test_coverage_climbs_where_outcomes_are_silent(options: dict[str, object]) -> None:
    world, rows = train({"progpo": {}, **options})
    assert rows[0]["all_failed"] == 1.0
    assert rows[0]["lambda_eff"] == pytest.approx(0.3)
    assert late_completion(world) > 0.9
    assert rows[-1]["all_failed"] == 0.0


@pytest.mark.parametrize(
    "options",
    [{}, {"estimator": "reinforce"}, {"progpo": {"control": "shuffled"}}, {"progpo": {"control": "random"}}],
    ids=str,
)
def test_without_coverage_nothing_is_learned_in_the_same_budget(options: dict[str, object]) -> None:
    world, _ = train(options)
    assert late_completion(world) < 0.05


def test_a_clock_in_the_observation_breaks_exact_keys_only() -> None:
    exact, rows = train({"progpo": {"keys": "exact"}}, 60, clock=True)
    canonical, _ = train({"progpo": {}}, 60, clock=True)
    assert {row["triggered"] for row in rows} == {0.0}
    assert late_completion(exact) < 0.05 < late_completion(canonical)


def test_rows_tell_what_happened() -> None:
    world, rows = train({"progpo": {}}, 2)
    row = rows[-1]
    assert row["update"] == 2
    assert row["samples"] == row["units"] == 32
    assert row["env_steps_so_far"] == sum(r["decisions"] for r in rows)
    assert row["completion_mean"] == world.completion[-1]
    assert 0 < row["entropy"] <= np.log(3) + 1e-6
    assert row["kl"] == pytest.approx(0.0, abs=1e-6)
    assert row["optimizer_steps"] == 1
    assert row["progress_rank"] == pytest.approx(1.0), "on a ladder every first visit is a completed stage"
    assert (row["fallback_mass"], row["penalty_alarm"], row["staleness_max"]) == (1.0, 0, 0)
    for name in ("collect_wall_s", "advantages_wall_s", "update_wall_s", "loss", "grad_norm", "clip_fraction"):
        assert np.isfinite(row[name])


def test_the_buffer_holds_whole_groups() -> None:
    world = Ladder(TabularPolicy(15, 3), groups=1, n_rollouts=6)
    buffer = fill(world, 0, 0, from_mapping({"buffer_units": 16, "units_per_step": 1}))
    assert (buffer.draws, len(np.unique(buffer.table.group_id)), len(np.unique(buffer.table.rollout_id))) == (3, 3, 18)
    assert len(np.unique(buffer.table.event_id)) == len(buffer.table) == len(buffer.inputs)
    rows = np.flatnonzero(buffer.table.rollout_id == 17)
    alone = world(2, 0)
    last = np.flatnonzero(alone.table.rollout_id == 5)
    np.testing.assert_array_equal(buffer.inputs.take(rows).rows_MF, alone.inputs.take(last).rows_MF)


@pytest.mark.parametrize("rule", [RolloutUnit(), SegmentUnit(4), AgentSetUnit()], ids=lambda rule: type(rule).__name__)
def test_minibatches_are_whole_units_and_cover_everything(rule: object) -> None:
    policy = TabularPolicy(15, 3)
    world = Ladder(policy)
    config = replace(from_mapping({**SIZES, "units_per_step": 5}), unit=rule, compare="group")
    scored = advantages(world(0, 0).table, config)
    trainer = Trainer(world, policy, config, lambda row: None)
    parts = list(trainer._minibatches(scored, 0))
    assert np.array_equal(np.sort(np.concatenate(parts)), np.flatnonzero(scored.scored_N))
    units = [set(scored.frame.units.unit_N[rows].tolist()) for rows in parts]
    assert all(len(part) <= 5 for part in units)
    assert sum(map(len, units)) == len(set.union(*units))
    again, other_epoch = list(trainer._minibatches(scored, 0)), list(trainer._minibatches(scored, 1))
    trainer.update = 1
    for different in (other_epoch, list(trainer._minibatches(scored, 0))):
        assert any(not np.array_equal(a, b) for a, b in zip(parts, different, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(parts, again, strict=True))


def test_joining_maps_agents_by_name() -> None:
    first = Ladder(TabularPolicy(15, 3), groups=1)(0, 0)
    both = join([first, replace(first, agent_names=("other",)), replace(first, agent_names=("x", "agent"))])
    n = len(first.table)
    assert both.agent_names == ("agent", "other", "x")
    assert both.table.agent.reshape(3, n)[:, 0].tolist() == [0, 1, 2]


def failing(world: Ladder, share: float):  # type: ignore[no-untyped-def]
    """Return a collect whose harness failed for the first rollouts."""

    def collect(draw: int, version: int) -> RolloutBatch:
        batch = world(draw, version)
        batch.table.masked[:] = batch.table.rollout_id < share * (batch.table.rollout_id.max() + 1)
        episode = Episode("toy", 0, 0, 0, (), {}, 0, 0.0, "worker died")
        return replace(batch, episodes=(episode,))

    return collect


def test_outcomes_go_back_in_order_but_not_those_of_failed_harnesses() -> None:
    world = Ladder(TabularPolicy(15, 3), groups=2, n_rollouts=4, length=3)
    fill(failing(world, 0.25), 0, 0, from_mapping({"buffer_units": 1, "units_per_step": 1}))
    assert [call[:2] for call in world.feedback] == [(i, "agent") for i in range(2, 8)]
    assert {value for _, _, value in world.feedback} <= {0.0, 1.0}
    assert np.mean([value for _, _, value in world.feedback]) > 0.5


def test_a_dead_harness_ends_the_run_with_its_reason() -> None:
    policy = TabularPolicy(15, 3)
    trainer = Trainer(failing(Ladder(policy), 1.0), policy, from_mapping(SIZES), lambda row: None)
    with pytest.raises(RunError, match="worker died"):
        trainer.run(1)


def fresh(root: Path | None, interrupt_at: int = -1, **options: object) -> tuple[Trainer, TabularPolicy]:
    policy = TabularPolicy(15, 3)
    world = Ladder(policy)

    def collect(draw: int, version: int) -> RolloutBatch:
        if draw == interrupt_at:
            os.kill(os.getpid(), signal.SIGINT)
        return world(draw, version)

    sizes = {"lr": 0.1, "buffer_units": 40, "units_per_step": 9, "epochs": 2, "progpo": {}, "checkpoint_every": 2}
    return Trainer(collect, policy, from_mapping({**sizes, **options}), lambda row: None, root), policy


@pytest.mark.parametrize("options", [{}, {"lr_end": 0.01, "lr_updates": 6}], ids=str)
def test_interrupted_and_resumed_equals_uninterrupted(tmp_path: Path, options: dict[str, object]) -> None:
    straight, expected = fresh(None, **options)
    assert straight.run(6)
    before = signal.getsignal(signal.SIGINT)
    broken, _ = fresh(tmp_path, interrupt_at=4, **options)
    assert not broken.run(6)
    assert broken.update == 3, "the update that was interrupted is finished and saved"
    assert signal.getsignal(signal.SIGINT) is before
    resumed, policy = fresh(tmp_path, **options)
    resumed.resume()
    assert resumed.run(6)
    assert torch.equal(policy.logits, expected.logits)
    assert resumed.totals == straight.totals
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["update-000003", "update-000004", "update-000006"]


def test_other_options_cannot_be_resumed_but_more_frequent_saving_can(tmp_path: Path) -> None:
    fresh(tmp_path)[0].run(1)
    with pytest.raises(ConfigError, match="other options") as error:
        fresh(tmp_path, lr=0.2)[0].resume()
    assert error.value.value == "lr"
    fresh(tmp_path, checkpoint_every=1)[0].resume()
    with pytest.raises(RunError, match="nothing to resume"):
        fresh(None)[0].resume()


@pytest.mark.parametrize(
    ("hold", "expected"),
    [(0.0, [0.1, 0.08, 0.06, 0.04, 0.02, 0.02, 0.02]), (0.5, [0.1, 0.1, 0.1, 0.06, 0.02, 0.02, 0.02])],
)
def test_a_falling_learning_rate_falls_in_a_straight_line_and_then_stays(hold: float, expected: list[float]) -> None:
    policy, rows = TabularPolicy(15, 3), []
    options = from_mapping({**SIZES, "lr": 0.1, "lr_end": 0.02, "lr_updates": 5, "lr_hold": hold})
    Trainer(Ladder(policy), policy, options, rows.append).run(7)
    np.testing.assert_allclose([row["lr"] for row in rows], expected)


def test_a_reference_goes_with_its_weight() -> None:
    policy, anchor = TabularPolicy(15, 3), TabularPolicy(15, 3)
    world = Ladder(policy)
    for options, reference in (({"kl_coef": 0.1}, None), ({}, anchor)):
        with pytest.raises(ConfigError, match="reference"):
            Trainer(world, policy, from_mapping({**SIZES, **options}), lambda row: None, reference=reference)
    rows: list[LogRow] = []
    held = from_mapping({**SIZES, "progpo": {}, "kl_coef": 100.0, "epochs": 2})
    Trainer(world, policy, held, rows.append, reference=anchor).run(2)
    assert rows[-1]["kl_reference"] > 0


def test_a_loss_that_is_not_finite_stops_the_run() -> None:
    policy = TabularPolicy(15, 3)
    world = Ladder(policy)

    def poisoned(draw: int, version: int) -> RolloutBatch:
        batch = world(draw, version)
        batch.table.logp[0] = np.nan
        return batch

    with pytest.raises(RunError, match="not finite"):
        Trainer(poisoned, policy, from_mapping(SIZES), lambda row: None).run(1)
    assert torch.equal(policy.logits, torch.zeros_like(policy.logits))
