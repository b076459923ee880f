"""Numbers worked out by hand or published with the formulas.

1. GRPO, Dr.GRPO, RLOO on one success in four
2. ProGPO over four groups, and over three groups of two
3. agent-wise against pooled statistics
4. one success in 10 decisions against seven failures in 50: every rollout counts once
5. coverage is (D - 1) / T, over decisions or a horizon
6. centred penalties
"""

from __future__ import annotations

import numpy as np
import pytest
from learn.tables import coverage_keys, make_table, per_sample, rollouts

from masim.learn.advantages.assemble import advantages
from masim.learn.advantages.base import Estimator, make_frame
from masim.learn.advantages.grpo import Grpo, Rloo
from masim.learn.advantages.penalties import penalty_advantage
from masim.learn.advantages.progpo import Progpo
from masim.learn.config import from_mapping
from masim.learn.credit.rollout import RolloutUnit
from masim.learn.credit.segments import SegmentUnit
from masim.learn.credit.sets import AgentSetUnit


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (Grpo(ddof=1), [1.5, -0.5, -0.5, -0.5]),
        (Grpo(ddof=0), [1.7321, -0.5774, -0.5774, -0.5774]),
        (Grpo(norm="none"), [0.75, -0.25, -0.25, -0.25]),
        (Rloo(), [1.0, -1 / 3, -1 / 3, -1 / 3]),
    ],
)
def test_one_success_in_four(estimator: Estimator, expected: list[float]) -> None:
    frame = make_frame(rollouts([1, 0, 0, 0]), RolloutUnit(), "group_agent")
    np.testing.assert_allclose(estimator(frame), expected, atol=1e-4)


def test_progpo_over_four_groups() -> None:
    outcomes = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    progress = [0.2, 0.4, 0.4, 0.6, 0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.5, 0.5, 0.1, 0.2, 0.3, 0.4]
    groups = np.repeat(range(4), 4).tolist()
    table = rollouts(outcomes, groups, [coverage_keys(p) for p in progress])
    scored = advantages(table, from_mapping({"progpo": {}}))
    expected = [-0.2121, 0, 0, 0.2121, -0.5, 1.5, -0.5, -0.5, *[0.0] * 8]
    np.testing.assert_allclose(per_sample(scored.total_N, table), expected, atol=1e-4)
    seen = scored.progress
    assert (seen.all_failed, seen.lambda_eff) == (0.5, pytest.approx(0.15))
    assert (seen.triggered, seen.degenerate, seen.equal_outcome) == (0.25, 0.25, 0.75)
    assert seen.fallback_mass == pytest.approx(0.4243 / (0.4243 + 3.0), abs=1e-4)
    assert scored.scored_N.all(), "scored without signal is 0, not 'never scored'"


def test_progpo_over_three_groups_of_two() -> None:
    progress = [0.1, 0.2, 0.1, 0.3, 0.3, 0.4]
    table = rollouts([0, 1, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2], [coverage_keys(p) for p in progress])
    scored = advantages(table, from_mapping({"progpo": {}}))
    np.testing.assert_allclose(per_sample(scored.total_N, table), [-0.7071, 0.7071, -0.1, 0.1, 0, 0], atol=1e-4)
    assert scored.progress.lambda_eff == pytest.approx(0.1)


def test_agents_are_compared_with_themselves() -> None:
    outcomes, agents, rollout_id = [1, 0, 1, 0, 10, 8, 9, 7], [0] * 4 + [1] * 4, [0, 1, 2, 3] * 2
    table = rollouts(outcomes, agents=agents, rollout_id=rollout_id)
    pooled = Grpo(ddof=1)(make_frame(table, RolloutUnit(), "group"))
    agent_wise = Grpo(ddof=1)(make_frame(table, RolloutUnit(), "group_agent"))
    np.testing.assert_allclose(pooled[:4], [-0.80, -1.03, -0.80, -1.03], atol=5e-3)
    np.testing.assert_allclose(agent_wise[:4], [0.866, -0.866, 0.866, -0.866], atol=1e-3)


def test_each_rollout_counts_once_however_long() -> None:
    keys = [[0] * 11, *[[0] * 51] * 7]
    table = rollouts([1, *[0] * 7], keys=keys)
    advantage = per_sample(Grpo()(make_frame(table, RolloutUnit(), "group_agent")), table)
    assert advantage[0] == pytest.approx(2.47, abs=5e-3)


@pytest.mark.parametrize(
    ("keys", "rate"), [([0, 1, 2, 3], 1.0), ([0, 0, 0], 0.0), ([0, 1, 0, 1, 2], 0.5), ([5, 5, 6, 5, 6], 0.25)]
)
def test_coverage_is_distinct_minus_one_over_decisions(keys: list[int], rate: float) -> None:
    steps = len(keys) - 1
    assert rate == (len(set(keys)) - 1) / steps
    frame = make_frame(rollouts([0], keys=[keys]), RolloutUnit(), "group_agent")
    assert Progpo().progress(frame).tolist() == [rate]
    over_horizon = Progpo(coverage="horizon", t_cap=20).progress(frame)
    np.testing.assert_allclose(over_horizon, [rate * steps / 20])


def test_a_clock_in_the_observation_makes_exact_keys_useless_and_leaves_canonical_ones_alone() -> None:
    table = rollouts([0, 0], keys=[[0, 0, 1], [0, 0, 0]])
    table.next_obs_key_exact[:] = np.arange(1, 5)
    exact, canonical = (advantages(table, from_mapping({"progpo": {"keys": keys}})) for keys in ("exact", "canonical"))
    assert exact.progress.progress_mean == 1.0
    assert (exact.progress.triggered, exact.progress.degenerate) == (0.0, 1.0)
    assert not exact.total_N.any()
    assert canonical.progress.triggered == 1.0


def test_penalties_are_centred_and_never_scaled() -> None:
    table = rollouts([0, 0], keys=[[0, 1], [0, 1]], penalties=[[-0.1], [-0.3]])
    scored = advantages(table, from_mapping({"progpo": {}}))
    np.testing.assert_allclose(scored.penalty_N, [0.01, -0.01])
    np.testing.assert_allclose(scored.outcome_N, 0.0)
    assert scored.penalty_mass == 1.0
    assert scored.progress.all_failed == 1.0, "the gate does not see penalties"


def test_a_lone_rollout_is_never_scored() -> None:
    table = rollouts([1, 0, 1], groups=[0, 0, 1], penalties=[[0.0], [0.0], [-1.0]])
    scored = advantages(table, from_mapping({}))
    assert scored.scored_N.tolist() == [True, True, False]
    assert scored.total_N[2] == 0.0


def test_segments_split_the_sample_and_are_paid_by_name() -> None:
    table = rollouts([1], keys=[[0, 1, 2, 3, 4, 5]])
    table.r_out[1] = 0.5
    paid = {name: SegmentUnit(2, name)(table).scores.out.tolist() for name in ("own", "to_go", "inherit")}
    assert paid == {"own": [0.5, 0.0, 1.0], "to_go": [1.5, 1.0, 1.0], "inherit": [1.5, 1.5, 1.5]}
    progress = Progpo().progress(make_frame(table, SegmentUnit(2), "group_agent"))
    np.testing.assert_allclose(progress, [1.0, 1.0, 1.0])


def test_an_agent_set_succeeds_only_together_and_shares_one_advantage_per_event() -> None:
    table = make_table(
        6, rollout_id=[0, 0, 0, 1, 1, 1], agent=[0, 1, 0, 0, 1, 0], turn=[0, 0, 1, 0, 0, 1],
        event_id=[0, 0, 1, 2, 2, 3], r_out=[0, 1, 1, 0, 1, 0],
    )  # fmt: skip
    frame = make_frame(table, AgentSetUnit(), "group")
    assert frame.units.unit_N.tolist() == [0, 0, 1, 2, 2, 3]
    np.testing.assert_allclose(Grpo(norm="none")(frame), [0.5, 0.5, 0.5, -0.5, -0.5, -0.5])


def test_to_go_penalty_blames_the_decisions_before_it() -> None:
    table = rollouts([0, 0], keys=[[0, 0, 0], [0, 0, 0]], penalties=[[0.0, -1.0], [-1.0, 0.0]])
    frame = make_frame(table, RolloutUnit(), "group_agent")
    np.testing.assert_allclose(penalty_advantage(frame, 1.0), 0.0)
    np.testing.assert_allclose(penalty_advantage(frame, 1.0, "to_go"), [0.0, -0.5, 0.0, 0.5])


def test_penalties_weigh_as_told_where_every_rollout_failed() -> None:
    table = rollouts([0, 0, 1, 0], groups=[0, 0, 1, 1], penalties=[[-1.0], [-3.0], [-1.0], [-3.0]])
    quiet = from_mapping({"w_pen": 0.5, "w_pen_failed": 0.0, "n_rollouts": 2})
    same = from_mapping({"w_pen": 0.5, "n_rollouts": 2})
    np.testing.assert_allclose(advantages(table, quiet).penalty_N, [0.0, 0.0, 0.5, -0.5])
    np.testing.assert_allclose(advantages(table, same).penalty_N, [0.5, -0.5, 0.5, -0.5])
