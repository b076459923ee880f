"""What holds for every unit, key and estimator, on random tables.

1. permuting the rows permutes the advantages; renaming groups, rollouts and agents changes nothing
2. advantages sum to 0 in what they were compared in, each score (or decision, step-wise) counting once
3. every unit rule partitions the decisions, and a unit never mixes rollouts or scores
4. tables that mean nothing are refused, with the row
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learn.strategies import quick
from learn.tables import rollouts
from learn.test_slow import COMBINATIONS, chosen, random_table

from masim.errors import ConfigError
from masim.learn.advantages.assemble import advantages
from masim.learn.advantages.base import make_frame
from masim.learn.advantages.registry import ESTIMATORS
from masim.learn.config import LearnerConfig, from_mapping
from masim.learn.credit.registry import UNIT_RULES
from masim.learn.grouping import anchor_columns
from masim.learn.reduce import dense
from masim.rollout.types import StepTable

combinations = st.sampled_from(COMBINATIONS)
seeds = st.integers(0, 200)
PROGPO: list[dict[str, Any] | None] = [None, {}, {"control": "shuffled"}, {"control": "random", "novelty_cap": 1}]


def configured(combination: tuple[str, str, str], **more: object) -> LearnerConfig:
    estimator, unit, key = combination
    return from_mapping({"estimator": estimator, "unit": chosen(unit), "compare": key, **more})


@quick
@given(combination=combinations, seed=seeds, progpo=st.sampled_from(PROGPO))
def test_permuting_rows_permutes_advantages(
    combination: tuple[str, str, str], seed: int, progpo: dict[str, Any] | None
) -> None:
    config, table = configured(combination, progpo=progpo), random_table(seed)
    order = np.random.default_rng(seed).permutation(len(table))
    straight, permuted = advantages(table, config, 3), advantages(table.take(order), config, 3)
    np.testing.assert_allclose(permuted.total_N, straight.total_N[order], atol=1e-8)
    assert np.array_equal(permuted.scored_N, straight.scored_N[order])


@quick
@given(seed=seeds)
def test_the_step_form_of_controls_moves_with_its_rows(seed: int) -> None:
    table = random_table(seed)
    order = np.random.default_rng(seed).permutation(len(table))
    for control in ("shuffled", "random"):
        config = from_mapping({"estimator": "gigpo", "progpo": {"form": "step", "control": control}})
        straight, permuted = advantages(table, config, 3), advantages(table.take(order), config, 3)
        np.testing.assert_allclose(permuted.total_N, straight.total_N[order], atol=1e-8)


@quick
@given(combination=combinations, seed=seeds)
def test_names_of_groups_rollouts_and_agents_do_not_matter(combination: tuple[str, str, str], seed: int) -> None:
    config, table = configured(combination), random_table(seed)
    rng = np.random.default_rng(seed)
    renamed = replace(
        table,
        **{name: 7 + 3 * rng.permutation(50)[getattr(table, name)] for name in ("group_id", "rollout_id", "agent")},
    )
    straight, again = advantages(table, config), advantages(renamed, config)
    np.testing.assert_allclose(again.total_N, straight.total_N, atol=1e-8)


@quick
@given(combination=st.sampled_from([c for c in COMBINATIONS if c[0] in ("grpo", "rloo")]), seed=seeds)
def test_scores_of_a_comparison_sum_to_zero(combination: tuple[str, str, str], seed: int) -> None:
    scored = advantages(random_table(seed), configured(combination))
    frame, live = scored.frame, scored.frame.units.live_N
    of_score = np.zeros(len(frame.units.scores))
    of_score[frame.units.scores.of_N[live]] = scored.outcome_N[live]
    np.testing.assert_allclose(np.bincount(frame.key_S, of_score), 0.0, atol=1e-6)


@quick
@given(name=st.sampled_from(["gigpo", "hgpo", "graphgpo", "turn_agent", "gagpo"]), seed=seeds)
def test_decisions_of_a_state_sum_to_zero(name: str, seed: int) -> None:
    table = random_table(seed)
    estimator = ESTIMATORS[name]()
    frame = make_frame(table, UNIT_RULES["rollout"](), "group_agent")
    columns = {"turn_agent": ("turn",), "gagpo": (), "hgpo": anchor_columns("memory")}.get(name, ("obs_key",))
    step = estimator(frame)
    if name in ("gigpo", "graphgpo"):
        step = step - ESTIMATORS["grpo"]()(frame)
    state = frame.states(columns) if columns else frame.key_I[frame.sample]
    np.testing.assert_allclose(np.bincount(state, step[frame.rows]), 0.0, atol=1e-6)


@pytest.mark.parametrize("unit", UNIT_RULES)
@quick
@given(seed=seeds)
def test_units_partition_the_decisions(unit: str, seed: int) -> None:
    table = random_table(seed)
    units = configured(("grpo", unit, "group")).unit(table)
    assert np.array_equal(np.unique(units.unit_N), np.arange(units.n_units))
    for cells in (units.scores.of_N, table.rollout_id):
        assert len(set(zip(units.unit_N.tolist(), cells.tolist(), strict=True))) == units.n_units
    assert np.array_equal(units.samples.of_N, units.sample_S[units.scores.of_N])
    assert int(units.scores.n.sum()) == int(units.samples.n.sum()) == int(units.live_N.sum())
    assert dense(units.unit_N, units.scores.of_N)[1] == units.n_units


def broken(**columns: object) -> StepTable:
    table = random_table(2)
    changed = {name: getattr(table, name).copy() for name in columns}
    for name, value in columns.items():
        row, new = value  # type: ignore[misc]
        changed[name][row] = new
    return replace(table, **changed)


BAD = {
    "a decision twice": (broken(turn=(1, 0)), "a decision is in the table twice", "rollout 0, agent 0, turn 0"),
    "a rollout in two groups": (broken(group_id=(0, 99)), "in two comparison groups", "0"),
    "an outcome that is no number": (broken(r_out=(0, np.nan)), "not a finite number", "nan in row 0"),
    "a penalty without end": (broken(r_pen=(0, -np.inf)), "not a finite number", "-inf in row 0"),
    "another seed": (broken(scenario_seed=(slice(0, 2), 77)), "differ in scenario_seed", "0, 77"),
    "a short column": (replace(random_table(2), logp=np.zeros(3)), "does not fit the table", "(3,)"),
    "nobody left": (broken(masked=(slice(None), True)), "no decision counts", ""),
}


@pytest.mark.parametrize("name", BAD)
def test_tables_that_mean_nothing_are_refused(name: str) -> None:
    table, problem, value = BAD[name]
    with pytest.raises(ConfigError, match=problem) as error:
        advantages(table, from_mapping({}))
    assert value in error.value.value


@pytest.mark.parametrize(
    ("options", "column"),
    [
        ({"estimator": "ppo_gae"}, "value"),
        ({"estimator": "counterfactual"}, "counterfactual"),
        ({"estimator": {"name": "gigpo", "anchor": "similar"}}, "obs_similar"),
        ({"unit": "token_span"}, "span"),
    ],
    ids=str,
)
def test_a_missing_column_is_named_with_who_fills_it(options: dict[str, object], column: str) -> None:
    table = replace(random_table(2), value=None, counterfactual=None, obs_similar=None, span=None)
    with pytest.raises(ConfigError, match="needs a column") as error:
        advantages(table, from_mapping(options))
    assert error.value.value == column and error.value.fix


def test_groups_of_one_are_no_groups() -> None:
    alone = rollouts([1, 0, 1], groups=[0, 1, 2])
    with pytest.raises(ConfigError, match="a group of one"):
        advantages(alone, from_mapping({}))
    assert advantages(alone, from_mapping({"estimator": "reinforce"})).scored_N.all()


def test_a_sample_has_one_counterfactual_return() -> None:
    table = random_table(2)
    instead = table.columns()["counterfactual"].copy()
    instead[0] += 1
    with pytest.raises(ConfigError, match="several counterfactual returns"):
        advantages(replace(table, counterfactual=instead), from_mapping({"estimator": "counterfactual"}))
