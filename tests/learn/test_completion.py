"""Groups that are not whole, and groups that teach nothing.

1. what is left of a group is compared, given up, or ends the update, as told
2. groups that a filter leaves out are drawn again, at most so many times
3. under ProGPO only groups that are equal in outcome and in coverage are left out
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from learn.ladder import Ladder, TabularPolicy
from learn.tables import coverage_keys, rollouts

from masim.errors import ConfigError, RunError
from masim.learn.advantages.assemble import advantages
from masim.learn.buffer import fill
from masim.learn.config import LearnerConfig, from_mapping
from masim.rollout.types import RolloutBatch


def half_broken(world: Ladder):  # type: ignore[no-untyped-def]
    """Return a collect whose harness failed for one rollout of every second draw."""

    def collect(draw: int, version: int) -> RolloutBatch:
        batch = world(draw, version)
        if draw % 2 == 0:
            batch.table.masked[:] = batch.table.rollout_id == 0
        return batch

    return collect


def config(**options: object) -> LearnerConfig:
    return from_mapping({"buffer_units": 16, "units_per_step": 16, "n_rollouts": 4, **options})


def test_what_is_left_is_compared_or_drawn_again() -> None:
    world = Ladder(TabularPolicy(15, 3), groups=1, n_rollouts=4)
    left = fill(half_broken(world), 0, 0, config())
    assert (left.draws, len(np.unique(left.table.rollout_id))) == (5, 20)
    assert advantages(left.table, config()).scored_N.sum() == (~left.table.masked).sum()
    again = fill(half_broken(world), 0, 0, config(completion="retry"))
    assert again.draws == 8, "only the whole groups of every second draw count"
    scored = advantages(again.table, config(completion="retry")).scored_N
    broken = np.isin(again.table.group_id, again.table.group_id[again.table.masked])
    assert np.array_equal(scored, ~broken)


def test_a_failure_that_nobody_accepts_ends_the_update() -> None:
    world = Ladder(TabularPolicy(15, 3), groups=1, n_rollouts=4)
    with pytest.raises(RunError, match="the harness failed for a rollout") as error:
        fill(half_broken(world), 0, 0, config(completion="fail_fast"))
    assert error.value.value == "0"


def test_a_group_may_be_too_small() -> None:
    table = rollouts([1, 0, 0, 1, 0, 0], groups=[0, 0, 0, 1, 1, 1], masked=[True, False, False, False, False, False])
    assert advantages(table, config(min_group=2)).scored_N.tolist() == [False, *[True] * 5]
    assert advantages(table, config(min_group=3)).scored_N.tolist() == [False] * 3 + [True] * 3
    with pytest.raises(ConfigError, match="no group is large enough"):
        config(min_group=5)


def succeeding(share: float):  # type: ignore[no-untyped-def]
    """Return a collect of one group per draw: draws below ``share`` of ten have outcomes that differ."""

    def collect(draw: int, version: int) -> RolloutBatch:
        batch = Ladder(TabularPolicy(15, 3), groups=1, n_rollouts=4)(draw, version)
        last = np.append(batch.table.turn[1:] == 0, True)
        differs = draw % 10 < 10 * share
        batch.table.r_out[:] = last & differs & (batch.table.rollout_id == 0)
        return batch

    return collect


def test_groups_that_teach_nothing_are_drawn_again_at_most_so_often() -> None:
    for most, draws in ((0, 4), (3, 4 + 3), (100, 4 + 8)):
        options = config(drop_equal_groups=True, resample=most)
        buffer = fill(succeeding(0.2), 0, 0, options)
        assert buffer.draws == draws


def test_the_filter_that_fits_progpo() -> None:
    outcomes, progress = [0, 0, 0, 0, 1, 0], [0.1, 0.3, 0.2, 0.2, 0.1, 0.1]
    table = rollouts(outcomes, [0, 0, 1, 1, 2, 2], [coverage_keys(p) for p in progress])
    options = from_mapping({"progpo": {}, "drop_silent_groups": True})
    scored = advantages(table, options).scored_N
    assert scored[table.turn == 0].tolist() == [True, True, False, False, True, True]
    for wrong in ({"progpo": {}, "drop_equal_groups": True}, {"drop_silent_groups": True}, {"resample": 3}):
        with pytest.raises(ConfigError):
            from_mapping(wrong)


def test_a_truncated_table_of_a_group_is_no_silent_no_op() -> None:
    table = rollouts([1, 0])
    with pytest.raises(ConfigError, match="no decision counts"):
        advantages(replace(table, valid=np.zeros(2, bool)), config())
