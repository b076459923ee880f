"""Reward designs by name.

1. by hand: what each one pays, and where
2. totals: shaping adds nothing, a unit event its share, the outcome stays what it was
3. late results: booked while the update collects, counted when their group is closed, paid to nobody else
4. contradictions are refused with the reason
5. a proxy rings its alarm, the outcome does not
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from learn.tables import rollouts

from masim.errors import ConfigError
from masim.learn.advantages.base import make_frame
from masim.learn.advantages.grpo import Grpo
from masim.learn.config import from_mapping
from masim.learn.credit.rollout import RolloutUnit
from masim.learn.rewards.arrivals import Arrivals, pay
from masim.learn.rewards.registry import REWARDS
from masim.learn.rewards.watch import completion_mean, watch_reward
from masim.rollout.types import Landings, PolicyInputs, RolloutBatch, StepTable

LANDED = Landings(*(np.array(column) for column in ([0, 0, 1], [0, 0, 0], [1, 2, 0], [2, 3, 1])), np.array([1.0, 0, 1]))
"""Rollout 0 had two orders and one went well; rollout 1 had one, which did."""


def table() -> StepTable:
    made = rollouts([0, 1], keys=[[0] * 5, [0] * 3])
    done = np.array([1, 0, 1, 0, 0, 1], bool)
    return replace(made, subtask_end=done, calls_ok=np.array([1, 2, 0, 0, 3, 0]))


def paid(reward: object, booking: str | None = None) -> StepTable:
    return pay(table(), LANDED, from_mapping({"reward": reward, "booking": booking, "unit": "segment"}))


@pytest.mark.parametrize(
    ("reward", "booking", "expected"),
    [
        ("outcome", "landing", [0, 0, 0, 0, 0, 1]),
        ("outcome", "request", [0, 0, 0, 0, 1, 0]),
        ("unit_event", "landing", [0, 0, 0.5, 0, 0, 1]),
        ("unit_event", "request", [0, 0.5, 0, 0, 1, 0]),
        ({"name": "step_penalty", "cost": 0.25}, None, [-0.25, -0.25, -0.25, -0.25, -0.25, 0.75]),
        ({"name": "shaped", "per_part": 0.5}, None, [0.5, 0, 0.5, -1.0, 0, 1.0]),
        ({"name": "successful_calls", "per_call": 0.5}, None, [0.5, 1, 0, 0, 1.5, 0]),
    ],
)
def test_by_hand(reward: object, booking: str | None, expected: list[float]) -> None:
    assert paid(reward, booking).r_out.tolist() == pytest.approx(expected)


def test_the_outcome_stays_in_a_column_of_its_own() -> None:
    before = replace(table(), preference=np.full(len(table()), 0.25))
    for name in REWARDS:
        model = {"model": "taste.json"} if name == "preference" else {}
        after = pay(before, LANDED, from_mapping({"reward": {"name": name, **model}, "unit": "segment"}))
        if name == "outcome":
            assert after is before
        else:
            assert after.outcome is not None and np.array_equal(after.outcome, before.r_out)
            assert completion_mean(after, RolloutUnit()(after)) == completion_mean(before, RolloutUnit()(before)) == 0.5


def batch(made: StepTable, landed: Landings | None) -> RolloutBatch:
    inputs = PolicyInputs(np.zeros((len(made), 1), np.float32), np.arange(len(made) + 1), np.zeros((len(made), 1)))
    return RolloutBatch(made, inputs, (), ("a",), lambda *_: None, landed)


def test_late_results() -> None:
    first, second = table(), table()
    second = replace(second, rollout_id=second.rollout_id + 2, group_id=second.group_id + 1)
    own = replace(LANDED, rollout_id=LANDED.rollout_id + 2)
    late = Landings(*(np.array([value]) for value in (0, 0, 2, 3, 0.25)))
    names = ("rollout_id", "agent", "request_turn", "landing_turn", "amount")
    mixed = Landings(*(np.concatenate((getattr(late, name), getattr(own, name))) for name in names))
    config = from_mapping({"reward": "unit_event", "booking": "request"})
    open_ = Arrivals(config)
    open_.take(batch(first, LANDED))
    open_.take(batch(second, mixed))
    assert open_.late == 0
    assert open_.batches[0].table.r_out.tolist() == [0, 0.5, 0.25, 0, 1, 0]
    assert open_.batches[1].table.r_out.tolist() == [0, 0.5, 0, 0, 1, 0]
    closed = Arrivals(config)
    closed.take(batch(second, mixed))
    assert closed.late == 1
    assert closed.batches[0].table.r_out.tolist() == [0, 0.5, 0, 0, 1, 0], "nobody else is paid for it"


def test_baselines_are_not_pooled_across_agents() -> None:
    """An agent whose task is hard succeeds once; beside an easy one's rewards its success must not be punished."""
    made = rollouts([1, 0, 1, 0, 10, 8, 9, 7], agents=[0, 0, 0, 0, 1, 1, 1, 1])
    pooled = Grpo()(make_frame(made, RolloutUnit(), "group"))
    apart = Grpo()(make_frame(made, RolloutUnit(), "group_agent"))
    assert (pooled[:4] < 0).all()
    assert apart[:4].tolist() == pytest.approx([0.866, -0.866, 0.866, -0.866], abs=1e-3)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"reward": "successful_calls", "progpo": {}}, "pays those who did"),
        ({"reward": "step_penalty", "progpo": {}}, "pays those who did"),
        ({"reward": "shaped"}, "sums to nothing"),
        ({"reward": "unit_event", "estimator": "counterfactual"}, "counterfactual return is an outcome"),
        ({"reward": "successful_calls", "booking": "request"}, "nothing to book"),
        ({"reward": "succesful_calls"}, "unknown reward"),
        ({"reward": {"name": "step_penalty", "cost": 0.0}}, "out of range"),
        ({"booking": "cause"}, "unknown booking"),
    ],
)
def test_contradictions(options: dict[str, object], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        from_mapping(options)


def test_rollouts_that_do_not_say_what_they_must() -> None:
    with pytest.raises(ConfigError, match="do not say what landed"):
        pay(table(), None, from_mapping({"booking": "request"}))
    with pytest.raises(ConfigError, match="calls_ok"):
        pay(replace(table(), calls_ok=None), None, from_mapping({"reward": "successful_calls"}))


def test_options_survive_a_round_trip() -> None:
    config = from_mapping({"reward": {"name": "step_penalty", "cost": 0.5}, "booking": "request"})
    assert from_mapping(config.to_mapping()) == config


def test_a_proxy_rings_its_alarm() -> None:
    failed = replace(table(), r_out=np.zeros(6))
    for name, rings in (("outcome", 0), ("unit_event", 0), ("successful_calls", 1)):
        row = watch_reward(pay(table(), LANDED, from_mapping({"reward": name})), np.ones(6, bool))
        assert row["proxy_alarm"] == 0
        lost = watch_reward(pay(failed, LANDED, from_mapping({"reward": name})), np.ones(6, bool))
        if name == "successful_calls":
            assert (lost["paid_for_failure"], lost["proxy_alarm"]) == (1.0, rings)
