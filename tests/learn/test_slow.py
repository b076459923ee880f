"""Every legal combination of unit, key and estimator agrees with loops that know the formulas only.

1. every estimator under every unit and key that go together; what does not raises with a reason
2. what segments are paid, by name
3. ProGPO: trajectory and step form, excluded waiting, capped novelty, a horizon
4. the estimators that choose what a state is
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from learn.slow import UNIT_OPTIONS, Slow
from learn.tables import make_table

from masim.errors import ConfigError
from masim.learn.advantages.assemble import advantages
from masim.learn.advantages.registry import ESTIMATORS
from masim.learn.config import LearnerConfig, from_mapping
from masim.learn.credit.registry import UNIT_RULES
from masim.learn.grouping import KEYS
from masim.rollout.types import StepTable

SEEDS = range(3)


@cache
def random_table(seed: int, roles: int = 1) -> StepTable:
    """Return three groups of up to four rollouts, two agents, broken harnesses, rows that do not count, shuffled."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, object]] = []
    sizes = rng.integers(1, 5, 3) + np.array([1, 0, 0])  # somebody can be compared
    for rollout, group in enumerate(np.repeat(np.arange(3), sizes).tolist()):
        for agent in range(2):
            rows += sample_rows(
                rng, group, rollout, agent, agent % roles, masked=bool(rollout > 1 and rng.random() < 0.1)
            )
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    columns["event_id"] = np.array(columns["rollout_id"]) * 100 + np.array(columns["turn"])
    table = make_table(len(rows), **columns)
    return table.take(rng.permutation(len(rows))) if seed % 2 else table


def sample_rows(
    rng: np.random.Generator, group: int, rollout: int, agent: int, role: int, masked: bool
) -> list[dict[str, object]]:
    n = int(rng.integers(2, 9))
    keys, times = rng.integers(0, 4, n + 1), np.cumsum(rng.random(n) * 10)
    won, paid_at, instead = rng.random() < 0.4, rng.integers(0, n), float(rng.random())
    rows: list[dict[str, object]] = []
    for t in range(n):
        dead = t > 0 and rng.random() < 0.1
        mode = rows[-1]["mode"] if dead else int(rng.integers(1, 3))
        rows.append({
            "group_id": group + 3, "scenario_seed": group, "rollout_id": rollout, "agent": agent, "role": role,
            "turn": t, "event_time_s": times[t], "reason": 0 if dead else int(rng.choice([0, 1, 3, 6])), "mode": mode,
            "kind": int(rng.integers(0, 2)), "order": int(rng.integers(-1, 2)), "vendor": int(rng.integers(-1, 3)),
            "endpoint": int(rng.integers(0, 3)), "logp": 0.0 if dead else float(np.log(rng.random())),
            "subtask_end": not dead and bool(rng.random() < 0.3), "obs_key": keys[t], "next_obs_key": keys[t + 1],
            "obs_key_exact": keys[t], "next_obs_key_exact": keys[t + 1], "memory_key": int(rng.integers(0, 2)),
            "r_out": float(won and t == paid_at), "truncated": bool(t == n - 1 and rng.random() < 0.3),
            "valid": not dead, "masked": masked, "value": float(rng.random()), "counterfactual": instead,
            "obs_similar": int(keys[t] // 2), "span": t % 2, "n_tokens": 1 + t,
        })  # fmt: skip
    return rows


@cache
def slow_of(seed: int, unit: str, key: str, roles: int = 1) -> Slow:
    return Slow(random_table(seed, roles), unit, KEYS[key])


def legal(options: dict[str, object]) -> LearnerConfig | None:
    try:
        return from_mapping(options)
    except ConfigError as error:
        assert error.problem and error.fix, "a refusal says why, and the way out"
        return None


def chosen(unit: str) -> dict[str, object]:
    return {"name": unit, **UNIT_OPTIONS.get(unit, {})}


def agrees(config: LearnerConfig, table: StepTable, expected: list[float], where: object) -> None:
    found = advantages(table, config)
    np.testing.assert_allclose(found.outcome_N, expected, atol=1e-8, err_msg=str(where))
    assert not found.penalty_N.any()


COMBINATIONS = [
    (estimator, unit, key)
    for estimator, unit, key in product(ESTIMATORS, UNIT_RULES, KEYS)
    if legal({"estimator": estimator, "unit": chosen(unit), "compare": key}) is not None
]


def test_most_combinations_that_mean_something_are_legal() -> None:
    per_step = {name for name, kind in ESTIMATORS.items() if kind.per_step}
    assert {e for e, _, _ in COMBINATIONS} == set(ESTIMATORS)
    assert {u for _, u, _ in COMBINATIONS} == set(UNIT_RULES)
    assert {k for _, _, k in COMBINATIONS} == set(KEYS)
    assert {u for e, u, _ in COMBINATIONS if e in per_step} == {"rollout"}
    assert len(COMBINATIONS) > 180


@pytest.mark.parametrize("unit", UNIT_RULES)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_estimators_agree_with_loops(estimator: str, unit: str) -> None:
    keys = [key for e, u, key in COMBINATIONS if (e, u) == (estimator, unit)]
    signal = 0.0
    for key, seed, roles in product(keys, SEEDS, (1, 2)):
        config = from_mapping({"estimator": estimator, "unit": chosen(unit), "compare": key})
        table = random_table(seed, roles)
        pooled = key == "group" and roles == 2 and not config.unit.team
        if pooled:
            with pytest.raises(ConfigError, match="different roles"):
                advantages(table, config)
            continue
        expected = getattr(slow_of(seed, unit, key, roles), estimator)()
        agrees(config, table, expected, (key, seed, roles))
        signal += float(np.abs(expected).sum())
    assert signal > 1 or not keys


@pytest.mark.parametrize("returns", ["own", "to_go", "inherit", "bootstrap"])
@pytest.mark.parametrize("unit", [name for name in UNIT_RULES if name.startswith("segment")])
def test_segments_are_paid_by_name(unit: str, returns: str) -> None:
    config = from_mapping({"unit": {**chosen(unit), "returns": returns}})
    for seed in SEEDS:
        expected = Slow(random_table(seed), unit, KEYS["group_agent"], returns).grpo()
        agrees(config, random_table(seed), expected, seed)


EXTENSIONS: dict[str, tuple[dict[str, object], dict[str, int]]] = {
    "plain": ({}, {}),
    "waiting": ({"waiting": "excluded", "wait_endpoint": 1}, {"wait": 1}),
    "capped": ({"novelty_cap": 1}, {"cap": 1}),
    "horizon": ({"coverage": "horizon", "t_cap": 7}, {"t_cap": 7}),
    "both": ({"novelty_cap": 2, "waiting": "excluded", "wait_endpoint": 0}, {"cap": 2, "wait": 0}),
}


@pytest.mark.parametrize("name", EXTENSIONS)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_progpo_around_every_estimator(estimator: str, name: str) -> None:
    options, arguments = EXTENSIONS[name]
    for unit, seed in product(("rollout", "segment", "role_set"), SEEDS):
        key = "group" if unit == "role_set" else "group_agent"
        mapping = {"estimator": estimator, "unit": chosen(unit), "compare": key, "progpo": options}
        config = legal(mapping)
        if config is not None:
            slow = slow_of(seed, unit, key)
            agrees(config, random_table(seed), slow.progpo(getattr(slow, estimator)(), **arguments), (unit, seed))


@pytest.mark.parametrize("name", EXTENSIONS)
@pytest.mark.parametrize("estimator", ["gigpo", "hgpo"])
def test_progpo_in_its_step_form(estimator: str, name: str) -> None:
    options, arguments = EXTENSIONS[name]
    config = from_mapping({"estimator": estimator, "progpo": {"form": "step", **options}})
    for seed in SEEDS:
        slow = slow_of(seed, "rollout", "group_agent")
        run = getattr(slow, estimator)
        expected = slow.progpo(run(), step=lambda news, run=run: run(reward=news), **arguments)
        agrees(config, random_table(seed), expected, seed)


@pytest.mark.parametrize("anchor", ["canonical", "exact", "memory", "similar"])
def test_gigpo_compares_within_the_states_that_were_asked_for(anchor: str) -> None:
    config = from_mapping({"estimator": {"name": "gigpo", "anchor": anchor}})
    for seed in SEEDS:
        expected = slow_of(seed, "rollout", "group_agent").gigpo(anchor)
        agrees(config, random_table(seed), expected, seed)
