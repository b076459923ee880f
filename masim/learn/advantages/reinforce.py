"""REINFORCE per step: every decision is paid the outcome reward that follows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from masim.arrays import F64, I64, Bool
from masim.errors import ConfigError
from masim.learn.advantages.base import Frame
from masim.learn.reduce import step_gaps, to_go

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

    def __post_init__(self) -> None:
        if not 0 < self.gamma <= 1:
            raise ConfigError("gamma out of range", "gamma", str(self.gamma), "0 < gamma <= 1")
        if self.tau_s is not None and self.tau_s <= 0:
            raise ConfigError("tau_s must be positive", "tau_s", str(self.tau_s), "> 0 seconds, or null")
        if self.tau_s is not None and self.gamma != 1:
            fix = "drop one: discount by decisions or by simulated time"
            raise ConfigError("gamma and tau_s are both set", "tau_s", str(self.tau_s), "", fix)
        if self.baseline not in ("step_mean", "rollout_mean", "none"):
            raise ConfigError("unknown baseline", "baseline", repr(self.baseline), "step_mean, rollout_mean, none")

    def __call__(self, frame: Frame) -> F64:
        """Return (N,) advantages."""
        live = frame.units.live_N
        sample, turn = frame.units.samples.of_N[live], frame.table.turn[live]
        returns = to_go(frame.table.r_out[live], sample, turn, self._discount(frame, live))
        advantage = np.zeros(len(live))
        advantage[live] = returns - batch_mean(returns, sample, self.baseline)
        return advantage

    def _discount(self, frame: Frame, live: Bool) -> F64:
        if self.tau_s is None:
            return np.full(int(live.sum()), self.gamma)
        table, sample = frame.table, frame.units.samples.of_N
        gaps_s = step_gaps(table.event_time_s[live], sample[live], table.turn[live])
        return np.exp(-gaps_s / self.tau_s)


def batch_mean(values: F64, sample: I64, weighting: Baseline) -> float:
    """Return the mean of per-decision values by the named weighting; 0 for "none" or an empty batch."""
    if weighting == "none" or not len(values):
        return 0.0
    if weighting == "step_mean":
        return float(values.mean())
    return float(np.average(values, weights=1.0 / np.bincount(sample)[sample]))
