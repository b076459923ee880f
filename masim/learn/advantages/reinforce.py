"""REINFORCE per step: every decision is paid the outcome reward that follows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from masim.arrays import F64, I64
from masim.errors import ConfigError
from masim.learn.advantages.base import Frame
from masim.learn.discount import check_discount, factors
from masim.learn.reduce import to_go

Baseline = Literal["step_mean", "rollout_mean", "none"]


@dataclass(frozen=True, slots=True)
class Reinforce:
    """Reward-to-go minus one baseline for the whole batch.

    Discount: ``gamma`` per decision, or, when ``tau_s`` is given, ``exp(-dt / tau_s)`` over simulated seconds between
    decisions; both at once is a contradiction. ``baseline`` says whose average it is: ``step_mean`` over decisions
    (long rollouts weigh more), ``rollout_mean`` over samples, each the mean of its decisions.
    Raises ConfigError on values outside these.
    """

    gamma: float = 1.0
    tau_s: float | None = None
    baseline: Baseline = "step_mean"
    compares: ClassVar[bool] = False
    per_step: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_discount(self.gamma, self.tau_s)
        if self.baseline not in ("step_mean", "rollout_mean", "none"):
            raise ConfigError("unknown baseline", "baseline", repr(self.baseline), "step_mean, rollout_mean, none")

    def __call__(self, frame: Frame) -> F64:
        """Return (N,) advantages."""
        rows = frame.rows
        sample, turn = frame.sample, frame.table.turn[rows]
        discount = factors(frame.table, rows, sample, self.gamma, self.tau_s)
        returns = to_go(frame.table.r_out[rows], sample, turn, discount)
        return frame.scatter(returns - batch_mean(returns, sample, self.baseline))


def batch_mean(values: F64, sample: I64, weighting: Baseline) -> float:
    """Return the mean of per-decision values by the named weighting; 0 for "none" or an empty batch."""
    if weighting == "none" or not len(values):
        return 0.0
    if weighting == "step_mean":
        return float(values.mean())
    return float(np.average(values, weights=1.0 / np.bincount(sample)[sample]))
