"""Estimators for several agents: credit by turn and agent, and credit by what the team would have done without one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from masim.arrays import F64
from masim.errors import ConfigError
from masim.learn.advantages.base import Frame
from masim.learn.advantages.gigpo import returns_to_go
from masim.learn.advantages.norm import Norm, check_norm, normalised
from masim.learn.discount import check_discount
from masim.learn.reduce import cell_min, dense, group_stats


def team_returns(frame: Frame) -> F64:
    """Return (n,) the return of the team of each live decision: the smallest of its agents' in that rollout."""
    samples = frame.units.samples
    rollout, n = dense(samples.rollout)
    team = cell_min(samples.out[samples.live], rollout[samples.live], n)
    return team[rollout[frame.sample]]


@dataclass(frozen=True, slots=True)
class TurnAgent:
    """AT-GRPO (arXiv 2510.11062): decisions of one agent at one turn are compared over the rollouts of an instance.

    The return of a decision is ``alpha * team + local``: what the team came to, and the agent's own discounted reward
    from there on. The comparison group is split by turn. A policy that picks its own last turn biases such a baseline.
    Raises ConfigError on values out of range.
    """

    alpha: float = 1.0
    gamma: float = 1.0
    tau_s: float | None = None
    norm: Norm = "std"
    ddof: int = 1
    eps: float = 1e-6
    compares: ClassVar[bool] = True
    per_step: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_discount(self.gamma, self.tau_s)
        check_norm(self.norm, self.ddof, self.eps)
        if self.alpha < 0:
            raise ConfigError("out of range", "alpha", str(self.alpha), ">= 0")

    def __call__(self, frame: Frame) -> F64:
        """Return (N,) advantages."""
        local = returns_to_go(frame, frame.table.r_out, self.gamma, self.tau_s)
        stats = group_stats(self.alpha * team_returns(frame) + local, frame.states(("turn",)))
        return frame.scatter(normalised(stats, self.norm, self.ddof, self.eps))


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """``A_i = R(team) - R(team with agent i on the reference policy)``, replayed under the same noise.

    Reads the column ``counterfactual``. No comparison with other rollouts is needed: the replay is the baseline.
    ``norm: std`` divides by the standard deviation of the differences in the comparison group, without centring them.
    Raises ConfigError on values out of range.
    """

    norm: Norm = "none"
    ddof: int = 0
    eps: float = 1e-6
    compares: ClassVar[bool] = False
    per_step: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("counterfactual",)

    def __post_init__(self) -> None:
        check_norm(self.norm, self.ddof, self.eps)

    def __call__(self, frame: Frame) -> F64:
        """Return (N,) advantages. Raises ConfigError when a sample has several counterfactual returns."""
        without: F64 = frame.table.columns()["counterfactual"][frame.rows]
        samples = frame.units.samples
        of_sample = np.zeros(len(samples))
        of_sample[frame.sample] = without
        if np.any(of_sample[frame.sample] != without):
            fix = "give all decisions of a (rollout, agent) the same value"
            raise ConfigError("a sample has several counterfactual returns", "counterfactual", "", "", fix)
        gap_I = np.zeros(len(samples))
        gap_I[frame.sample] = team_returns(frame) - without
        if self.norm == "std":
            gap_I = gap_I / (group_stats(gap_I, frame.key_I, samples.live).std(self.ddof) + self.eps)
        return frame.scatter(gap_I[frame.sample])
