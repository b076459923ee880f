"""Who may be compared with whom."""

from __future__ import annotations

import numpy as np
import pytest
from learn.tables import rollouts

from masim.errors import ConfigError
from masim.learn.advantages.base import make_frame
from masim.learn.credit.rollout import RolloutUnit
from masim.learn.credit.segments import SegmentUnit
from masim.learn.grouping import key_columns


@pytest.mark.parametrize("column", ["scenario_seed", "day", "reset_digest"])
def test_members_of_a_group_share_their_instance(column: str) -> None:
    table = rollouts([1, 0, 1], groups=[0, 0, 4], **{column: [1, 2, 9]})
    with pytest.raises(ConfigError, match=f"differ in {column}") as error:
        make_frame(table, RolloutUnit(), "group_agent")
    assert error.value.where == "group_id 0"
    assert error.value.value == "1, 2"


def test_a_failed_harness_does_not_speak_about_the_instance() -> None:
    table = rollouts([1, 0, 0], reset_digest=[1, 1, 0], masked=[False, False, True])
    assert make_frame(table, RolloutUnit(), "group_agent").units.live_N.tolist() == [True, True, False]


def test_pooling_across_roles_needs_its_name() -> None:
    table = rollouts([1, 0, 1, 0], agents=[0, 1, 0, 1], rollout_id=[0, 0, 1, 1], role=[0, 1, 0, 1])
    for key in ("group", "group_id"):
        with pytest.raises(ConfigError, match="different roles"):
            make_frame(table, RolloutUnit(), key)
    assert len(np.unique(make_frame(table, RolloutUnit(), "group_pooled_roles").key_I)) == 1
    assert len(np.unique(make_frame(table, RolloutUnit(), "group_role").key_I)) == 2


def test_agents_of_one_role_may_be_pooled() -> None:
    table = rollouts([1, 0, 1, 0], agents=[0, 1, 0, 1], rollout_id=[0, 0, 1, 1])
    assert len(np.unique(make_frame(table, RolloutUnit(), "group").key_I)) == 1


def test_segments_are_compared_by_index() -> None:
    table = rollouts([1, 0], keys=[[0] * 6, [0] * 4])
    frame = make_frame(table, SegmentUnit(2), "group_agent")
    assert frame.key_S.tolist() == [0, 1, 2, 0, 1]
    assert frame.compared_N().tolist() == [True] * 4 + [False] + [True] * 3


@pytest.mark.parametrize("column", ["action_id", "action_row", "endpoint", "vendor", "logp", "next_obs_key", "r_out"])
def test_keys_that_depend_on_the_action_are_refused(column: str) -> None:
    with pytest.raises(ConfigError, match="depends on the action"):
        key_columns(f"group_id,{column}")
