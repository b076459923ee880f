"""Units whose rules are more than a division, on tables made by hand.

1. the random phase is shared by the rollouts of an instance and differs between instances
2. segments end after what a decision caused, and begin with what the world caused
3. a collecting stretch is paid for facts that were used while fresh, an acting one for the outcome
4. sets of agents: who shares vendors, who decides in one window, who has one role
5. token spans: a decision's rewards and its end belong to its last span
6. observations that are alike
"""

from __future__ import annotations

import numpy as np
import pytest
from learn.tables import make_table, rollouts

from masim.errors import ConfigError
from masim.learn.advantages.assemble import advantages
from masim.learn.advantages.base import make_frame
from masim.learn.advantages.grpo import Grpo
from masim.learn.config import from_mapping
from masim.learn.credit.cuts import EventUnit, LowProbUnit, SubtaskUnit
from masim.learn.credit.modes import ModeUnit
from masim.learn.credit.segments import RandomPhaseUnit
from masim.learn.credit.sets import RoleSetUnit, VendorSetUnit, WindowSetUnit
from masim.learn.credit.spans import Spans, TokenSpanUnit, by_span
from masim.learn.similar import similar_keys


def test_the_phase_belongs_to_the_instance() -> None:
    lengths = []
    for seed in range(30):
        table = rollouts([1, 0], keys=[[0] * 21, [0] * 21], scenario_seed=[seed, seed])
        units = RandomPhaseUnit(5)(table)
        first = units.scores.n.reshape(2, -1)
        assert first[0].tolist() == first[1].tolist()
        assert set(first[0, 1:-1].tolist()) == {5}
        lengths.append(int(first[0, 0]))
    assert set(lengths) == {1, 2, 3, 4, 5}


def test_cuts_come_after_what_a_decision_did_and_before_what_the_world_did() -> None:
    table = make_table(
        6, turn=[0, 1, 2, 3, 4, 5], subtask_end=[0, 1, 0, 0, 1, 0], reason=[0, 1, 3, 1, 6, 1],
        logp=np.log([0.9, 0.4, 0.9, 0.3, 0.2, 0.9]),
    )  # fmt: skip
    assert SubtaskUnit()(table).scores.of_N.tolist() == [0, 0, 1, 1, 1, 2]
    assert EventUnit()(table).scores.of_N.tolist() == [0, 0, 1, 1, 2, 2]
    assert EventUnit(reasons="6")(table).scores.of_N.tolist() == [0, 0, 0, 0, 1, 1]
    assert LowProbUnit()(table).scores.of_N.tolist() == [0, 0, 1, 1, 2, 3]
    assert LowProbUnit(cuts_per_segment=2)(table).scores.of_N.tolist() == [0, 0, 0, 0, 1, 1]


def test_a_scenario_that_marks_no_subtask_is_told_from_rollouts_that_finished_none() -> None:
    assert SubtaskUnit()(rollouts([0, 0])).n_units == 2
    with pytest.raises(ConfigError, match="finished a subtask"):
        SubtaskUnit()(rollouts([1, 0]))


def test_information_is_worth_what_is_done_with_it() -> None:
    # Ask vendor 0 (new, used 30 s later), vendor 0 again (nothing new), vendor 1 (new, never used), vendor 2 (new,
    # used too late), then act on vendor 0 and on vendor 2.
    table = make_table(
        6, mode=[1, 1, 1, 1, 2, 2], vendor=[0, 0, 1, 2, 0, 2], event_time_s=[0, 5, 10, 15, 30, 200],
        obs_key=[0, 1, 1, 2, 3, 4], next_obs_key=[1, 1, 2, 3, 4, 5], r_out=[0, 0, 0, 0, 0, 1],
    )  # fmt: skip
    units = ModeUnit(fresh_s=60.0)(table)
    assert units.scores.of_N.tolist() == [0, 0, 0, 0, 1, 1]
    np.testing.assert_allclose(units.scores.out, [0.25, 1.0])
    np.testing.assert_allclose(ModeUnit(fresh_s=600.0)(table).scores.out, [0.5, 1.0])
    assert units.samples.out.tolist() == [1.0], "whether a group has failed is judged by outcomes alone"


def test_collecting_is_compared_with_collecting() -> None:
    table = make_table(
        8, rollout_id=np.repeat([0, 1], 4), turn=np.tile(np.arange(4), 2), mode=[1, 1, 2, 2, 1, 2, 2, 1],
        obs_key=[0, 1, 2, 3] * 2, next_obs_key=[1, 2, 3, 4] * 2, r_out=[0, 0, 0, 1, 0, 0, 0, 0],
    )  # fmt: skip
    frame = make_frame(table, ModeUnit(), "segment_mode")
    key = dict(zip(frame.key_S.tolist(), zip(table.mode[frame.units.scores.first], strict=True), strict=True))
    assert len(key) == 3, "two stretches that both have, and a third that one rollout has alone"
    found = Grpo(norm="none")(frame)
    np.testing.assert_allclose(found, [0, 0, 0.5, 0.5, 0, -0.5, -0.5, 0])


def test_a_table_without_modes_has_no_mode_groups() -> None:
    with pytest.raises(ConfigError, match="without a mode"):
        advantages(rollouts([1, 0]), from_mapping({"unit": "segment_mode"}))


def test_sets_of_agents() -> None:
    # Agents 0 and 1 meet at vendor 5, 1 and 2 at vendor 6 in the other rollout; agent 3 calls nobody.
    table = make_table(
        8, rollout_id=np.repeat([0, 1], 4), agent=[0, 1, 2, 3] * 2, turn=0, event_id=np.repeat([0, 1], 4),
        vendor=[5, 5, 6, -1, 7, 6, 6, -1], role=[0, 0, 1, 1] * 2, event_time_s=[0, 59, 61, 119] * 2,
        r_out=[1, 1, 1, 0, 1, 0, 1, 1],
    )  # fmt: skip
    shared = VendorSetUnit()(table)
    assert shared.unit_N.tolist() == [0, 0, 0, 1, 2, 2, 2, 3]
    assert shared.scores.out.tolist() == [1, 0, 0, 1]
    np.testing.assert_allclose(
        Grpo(norm="none")(make_frame(table, VendorSetUnit(), "group")), [0.5] * 3 + [-0.5] * 4 + [0.5]
    )
    by_role = RoleSetUnit()(table)
    assert by_role.unit_N.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert by_role.scores.out.tolist() == [1, 0, 0, 1]
    windows = WindowSetUnit(60.0)(table)
    assert windows.unit_N.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert windows.scores.out.tolist() == [0, 0], "the team of a rollout"


def test_a_member_that_is_missing_voids_the_event() -> None:
    table = make_table(
        8, rollout_id=np.repeat([0, 1], 4), agent=[0, 1] * 4, turn=[0, 0, 1, 1] * 2,
        event_id=np.repeat(np.arange(4), 2), r_out=[0, 0, 1, 1, 0, 0, 0, 0], valid=[1, 0, 1, 1, 1, 1, 1, 1],
    )  # fmt: skip
    options = {"unit": "agent_set", "compare": "group"}
    whole, void = (advantages(table, from_mapping({**options, "ratio": ratio})) for ratio in ("decision", "set"))
    assert whole.scored_N.tolist() == [True, False] + [True] * 6
    assert void.scored_N.tolist() == [False, False] + [True] * 6


def test_spans_of_decisions() -> None:
    table = rollouts([1, 0], keys=[[0, 1, 2], [0, 3]], penalties=[[-1.0, -2.0], [-3.0]])
    spans = Spans(np.array([0, 2, 3, 5]), np.array([0, 1, 1, 0, 1]), np.array([9, 2, 3, 8, 2]), -np.arange(5.0))
    whole = by_span(table, spans)
    assert whole.turn.tolist() == [0, 1, 2, 0, 1]
    assert whole.r_out.tolist() == [0, 0, 1, 0, 0] and whole.r_pen.tolist() == [0, -1, -2, 0, -3]
    assert whole.next_obs_key.tolist() == [0, 1, 2, 0, 3], "no span but the last leads anywhere"
    units = TokenSpanUnit()(whole)
    assert units.n_units == 5 and units.scores.out.tolist() == [1, 0]
    before, after = (
        advantages(t, from_mapping({"unit": unit, "estimator": "grpo", "n_rollouts": 2}))
        for t, unit in ((table, "rollout"), (whole, "token_span"))
    )
    np.testing.assert_allclose(after.total_N, before.total_N[[0, 0, 1, 2, 2]])
    with pytest.raises(ConfigError, match="spans do not fit"):
        by_span(table, Spans(np.array([0, 2, 2, 5]), spans.kind_P, spans.n_tokens_P, spans.logp_P))


def test_observations_that_are_alike_share_a_key() -> None:
    table = rollouts([0, 0, 0, 0], groups=[0, 0, 0, 1])
    vectors = np.array([[1, 0], [0.99, 0.05], [0, 1], [0.5, 0.5]], np.float32)
    assert similar_keys(table, vectors).tolist() == [0, 0, 1, 0]
    assert similar_keys(table, vectors, 1.0).tolist() == [0, 1, 2, 0]
    order = np.array([3, 1, 0, 2])
    assert similar_keys(table.take(order), vectors[order]).tolist() == [0, 0, 0, 1]
    with pytest.raises(ConfigError, match="0 < threshold"):
        similar_keys(table, vectors, 0.0)


@pytest.mark.parametrize(
    ("unit", "problem"),
    [
        ({"name": "segment_low_prob", "below": 1.0}, "out of range"),
        ({"name": "segment_event", "reasons": "message"}, "no numbers"),
        ({"name": "segment_mode", "fresh_s": 0.0}, "out of range"),
        ({"name": "segment_random_phase", "segment_len": 0}, "at least one decision"),
        ({"name": "segment_subtask", "returns": "later"}, "unknown segment return"),
        ({"name": "window_set", "window_s": -1.0}, "out of range"),
        ({"name": "agent_set", "members": "some"}, "unknown agent set"),
    ],
    ids=str,
)
def test_impossible_options_of_units(unit: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        from_mapping({"unit": unit, "compare": "group"})
