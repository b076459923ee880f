"""How a training that is paid for something else is judged by the outcome: the proxy beside what it stands for.

``completion_mean`` of a log is always the outcome, whatever was paid. ``paid_for_failure`` is the share of all positive
reward that went to samples whose outcome failed. Where it is large the reward and the outcome are strangers: the reward
can rise while the outcome falls, and an alarm rings.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from masim.arrays import F64, Bool
from masim.learn.credit.base import Units, samples_of
from masim.rollout.types import StepTable

FAILURE_LIMIT = 0.5
"""Share of the reward above which most of it is paid for failures."""


def completion_mean(table: StepTable, units: Units) -> float:
    """Return the mean outcome of the live samples, whatever they were paid."""
    samples = units.samples if table.outcome is None else samples_of(_as_it_came(table), units.live_N)
    return float(samples.out[samples.live].mean()) if samples.live.any() else 0.0


def watch_reward(table: StepTable, live_N: Bool) -> dict[str, float | int]:
    """Return how the rewards of an update go with its outcomes, and the alarm."""
    paid = samples_of(table, live_N)
    reward = paid.out[paid.live]
    outcome = reward if table.outcome is None else samples_of(_as_it_came(table), live_N).out[paid.live]
    wasted = paid_for_failure(reward, outcome)
    mean = float(reward.mean()) if len(reward) else 0.0
    return {"reward_mean": mean, "paid_for_failure": wasted, "proxy_alarm": int(wasted > FAILURE_LIMIT)}


def _as_it_came(table: StepTable) -> StepTable:
    return table if table.outcome is None else replace(table, r_out=table.outcome)


def paid_for_failure(reward_I: F64, outcome_I: F64) -> float:
    """Return the share of all positive reward that went to samples without an outcome; 0 where nothing was paid."""
    gained = np.maximum(reward_I, 0.0)
    total = float(gained.sum())
    return float(gained[outcome_I <= 0.0].sum()) / total if total > 0.0 else 0.0
