"""Stop or continue: the policy picks its own last turn, and the true gradient is known.

RLOO over whole rollouts is unbiased. The same estimator with a baseline keyed by turn is not: who is still there at a
late turn was decided by the policy, and the last one standing has nobody to be compared with.
"""

from __future__ import annotations

import numpy as np
import pytest
from learn.tables import make_table

from masim.learn.advantages.base import Estimator, make_frame
from masim.learn.advantages.grpo import Grpo, Rloo
from masim.learn.credit.base import UnitRule
from masim.learn.credit.rollout import RolloutUnit
from masim.learn.credit.segments import SegmentUnit

P_STOP = 0.5
PAID = np.array([0.0, 1.0, 0.2])
"""Reward of stopping at turn 0, at turn 1, or of running to the end."""
TRUE_GRADIENT = P_STOP * (1 - P_STOP) * ((1 - 2 * P_STOP) * PAID[1] - 2 * (1 - P_STOP) * PAID[2])


def estimate(rule: UnitRule, estimator: Estimator, n: int = 10_000, size: int = 2) -> tuple[float, float]:
    """Return the mean and standard error over rollouts of ``sum_t A_t dlog pi / dlogit``."""
    stops = np.random.default_rng(5).random((n, 2)) < P_STOP
    end = np.where(stops[:, 0], 0, np.where(stops[:, 1], 1, 2))
    rollout = np.repeat(np.arange(n), np.minimum(end, 1) + 1)
    turn = np.concatenate([np.arange(min(e, 1) + 1) for e in end])
    last = np.append(turn[1:] == 0, True)
    table = make_table(
        len(turn),
        rollout_id=rollout,
        group_id=rollout // size,
        turn=turn,
        r_out=np.where(last, PAID[end[rollout]], 0.0),
    )
    score = stops[rollout, turn] - P_STOP
    advantage = estimator(make_frame(table, rule, "group_agent"))
    per_rollout = np.bincount(rollout, advantage * score)
    return float(per_rollout.mean()), float(per_rollout.std() / np.sqrt(n / size))


def test_rloo_over_rollouts_is_unbiased() -> None:
    mean, error = estimate(RolloutUnit(), Rloo())
    assert mean == pytest.approx(TRUE_GRADIENT, abs=3 * error)
    assert 3 * error < abs(TRUE_GRADIENT) / 2


def test_centring_by_the_group_mean_scales_it() -> None:
    mean, error = estimate(RolloutUnit(), Grpo(norm="none"))
    assert mean == pytest.approx(TRUE_GRADIENT / 2, abs=3 * error)


def test_a_baseline_by_turn_is_biased() -> None:
    mean, error = estimate(SegmentUnit(1), Rloo())
    assert abs(mean - TRUE_GRADIENT) > 5 * error
