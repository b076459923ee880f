"""The vectorised estimators against plain loops, on random tables.

1. every base estimator, under every unit rule
2. ProGPO: gate, coverage, lambda, always-on
3. penalties by sample and to go
4. rows that do not count get 0, nothing is ever NaN
5. permuting the rows permutes the advantages
6. advantages of whole scores sum to 0 in each group
7. unit rules partition the decisions
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learn.reference import Reference
from learn.strategies import quick, tables

from masim.learn.advantages.assemble import advantages
from masim.learn.advantages.base import make_frame
from masim.learn.advantages.grpo import Grpo, Rloo
from masim.learn.advantages.penalties import penalty_advantage
from masim.learn.advantages.progpo import Progpo
from masim.learn.advantages.reinforce import Reinforce
from masim.learn.config import from_mapping
from masim.learn.credit.base import UnitRule
from masim.learn.credit.rollout import RolloutUnit
from masim.learn.credit.segments import SegmentUnit
from masim.learn.credit.sets import AgentSetUnit
from masim.rollout.types import StepTable

RULES: dict[str, tuple[UnitRule, str, dict[str, object]]] = {
    "rollout": (RolloutUnit(), "group_agent", {}),
    "by_role": (RolloutUnit(), "group_role", {"compare": ("group_id", "role")}),
    "pooled": (RolloutUnit(), "group_pooled_roles", {"compare": ("group_id",)}),
    "to_go": (SegmentUnit(3, "to_go"), "group_agent", {"unit": "segment", "returns": "to_go"}),
    "own": (SegmentUnit(3, "own"), "group_agent", {"unit": "segment", "returns": "own"}),
    "inherit": (SegmentUnit(3, "inherit"), "group_agent", {"unit": "segment", "returns": "inherit"}),
    "agent_set": (AgentSetUnit(), "group", {"unit": "agent_set", "compare": ("group_id",)}),
}
rules = pytest.mark.parametrize("name", RULES)


def both(table: StepTable, name: str):  # type: ignore[no-untyped-def]
    rule, key, options = RULES[name]
    return make_frame(table, rule, key), Reference(table, **options)


@rules
@quick
@given(table=tables())
def test_group_estimators_agree_with_loops(name: str, table: StepTable) -> None:
    frame, slow = both(table, name)
    np.testing.assert_allclose(Grpo()(frame), slow.grpo(1), atol=1e-9)
    np.testing.assert_allclose(Grpo(ddof=0)(frame), slow.grpo(0), atol=1e-9)
    np.testing.assert_allclose(Grpo(norm="none")(frame), slow.grpo(None), atol=1e-9)
    np.testing.assert_allclose(Rloo()(frame), slow.rloo(), atol=1e-9)


@rules
@quick
@given(table=tables())
def test_progpo_agrees_with_loops(name: str, table: StepTable) -> None:
    frame, slow = both(table, name)
    base = slow.grpo(1)
    for options, arguments in (
        ({}, {}),
        ({"lambda_rule": "fixed"}, {"fixed": True}),
        ({"control": "always_on"}, {"always": True}),
    ):
        fast, _ = Progpo(**options)(frame, base)
        np.testing.assert_allclose(fast, slow.progpo(base, **arguments), atol=1e-9)
    assert np.array_equal(Progpo(control="off")(frame, base)[0], base)


@quick
@given(table=tables(), gamma=st.sampled_from([1.0, 0.9]))
def test_reward_to_go_agrees_with_loops(table: StepTable, gamma: float) -> None:
    frame, slow = both(table, "rollout")
    expected = slow.returns_to_go(table.r_out, lambda i, j: gamma ** (j - i))
    np.testing.assert_allclose(Reinforce(gamma, baseline="none")(frame), expected, atol=1e-9)
    live = np.array(slow.live)
    centred = np.where(live, expected - (expected[live].mean() if live.any() else 0.0), 0.0)
    np.testing.assert_allclose(Reinforce(gamma)(frame), centred, atol=1e-9)


@quick
@given(table=tables())
def test_simulated_time_discount_agrees_with_loops(table: StepTable) -> None:
    frame, slow = both(table, "rollout")
    expected = np.zeros(len(table))
    agents = [(r, a) for r, a in zip(table.rollout_id, table.agent, strict=True)]
    for rows in slow.rows_of(agents).values():
        for i, row in enumerate(rows):
            gaps = [(later, table.event_time_s[later] - table.event_time_s[row]) for later in rows[i:]]
            expected[row] = sum(math.exp(-gap / 5.0) * table.r_out[later] for later, gap in gaps)
    np.testing.assert_allclose(Reinforce(tau_s=5.0, baseline="none")(frame), expected, atol=1e-9)


@rules
@quick
@given(table=tables())
def test_sample_penalty_agrees_with_loops(name: str, table: StepTable) -> None:
    frame, slow = both(table, name)
    np.testing.assert_allclose(penalty_advantage(frame, 0.1), slow.penalty(), atol=1e-9)


@quick
@given(table=tables())
def test_penalty_to_go_is_centred_by_turn_over_all_members_of_the_group(table: StepTable) -> None:
    frame, slow = both(table, "rollout")
    ahead = slow.returns_to_go(table.r_pen, lambda i, j: 1.0)
    expected = np.zeros(len(table))
    rows_of = slow.rows_of(slow.sample)
    for samples in slow.members(slow.key_of_sample, slow.out).values():
        rows = [r for s in samples for r in rows_of[s] if len(samples) > 1]
        for row in rows:
            same_turn = sum(ahead[other] for other in rows if table.turn[other] == table.turn[row])
            expected[row] = 0.1 * (ahead[row] - same_turn / len(samples))
    np.testing.assert_allclose(penalty_advantage(frame, 0.1, "to_go"), expected, atol=1e-9)


CONFIGS = [
    {"progpo": {}},
    {"progpo": {"control": "shuffled"}},
    {"progpo": {"control": "random", "lambda_rule": "fixed"}},
    {"estimator": "reinforce", "penalty": "to_go", "progpo": {}},
    {"unit": {"name": "segment", "segment_len": 2}, "progpo": {}},
    {"unit": "agent_set", "compare": "group", "progpo": {"coverage": "horizon", "t_cap": 9}},
    {"drop_equal_groups": True},
]
configs = pytest.mark.parametrize("options", CONFIGS, ids=str)


@configs
@quick
@given(table=tables(), seed=st.integers(0, 2**31))
def test_permuting_rows_permutes_advantages(options: dict[str, object], table: StepTable, seed: int) -> None:
    config = from_mapping(options)
    order = np.random.default_rng(seed).permutation(len(table))
    straight, permuted = advantages(table, config, 3), advantages(table.take(order), config, 3)
    np.testing.assert_allclose(permuted.total_N, straight.total_N[order], atol=1e-9)
    assert np.array_equal(permuted.scored_N, straight.scored_N[order])


@configs
@quick
@given(table=tables())
def test_dead_rows_stay_silent_and_all_is_finite(options: dict[str, object], table: StepTable) -> None:
    scored = advantages(table, from_mapping(options))
    dead = ~scored.frame.units.live_N
    assert np.isfinite(scored.total_N).all()
    assert not scored.total_N[dead].any()
    assert not scored.scored_N[dead].any()


@quick
@given(table=tables(), noise=st.floats(-5, 5))
def test_masked_rollouts_leave_the_statistics(table: StepTable, noise: float) -> None:
    config = from_mapping({"progpo": {}})
    changed = table.take(np.arange(len(table)))
    changed.r_out[table.masked] = noise
    changed.r_pen[table.masked] = noise
    changed.next_obs_key[table.masked] = 77
    np.testing.assert_array_equal(advantages(table, config).total_N, advantages(changed, config).total_N)


@rules
@quick
@given(table=tables())
def test_advantages_sum_to_zero_over_the_scores_of_a_group(name: str, table: StepTable) -> None:
    frame, _ = both(table, name)
    scores = frame.units.scores
    for advantage in (Grpo()(frame), Rloo()(frame), Progpo()(frame, Grpo()(frame))[0]):
        of_score = np.zeros(len(scores))
        live = frame.units.live_N
        of_score[scores.of_N[live]] = advantage[live]
        np.testing.assert_allclose(np.bincount(frame.key_S, of_score), 0.0, atol=1e-6)


@rules
@quick
@given(table=tables())
def test_units_partition_the_decisions(name: str, table: StepTable) -> None:
    units = RULES[name][0](table)
    assert units.unit_N.shape == (len(table),)
    assert np.array_equal(np.unique(units.unit_N), np.arange(units.n_units))
    for unit in range(units.n_units):
        rows = units.unit_N == unit
        assert len(np.unique(units.scores.of_N[rows])) == 1
        assert len(np.unique(table.rollout_id[rows])) == 1
    assert np.array_equal(units.samples.of_N, units.sample_S[units.scores.of_N])
    assert int(units.scores.n.sum()) == int(units.live_N.sum())
