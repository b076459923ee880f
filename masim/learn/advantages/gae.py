"""Generalised advantage estimation: with a critic (PPO), or with the group's own means as the critic (GAGPO)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from masim.arrays import F64
from masim.errors import ConfigError
from masim.learn.advantages.base import Frame
from masim.learn.advantages.gigpo import Anchor, returns_to_go
from masim.learn.advantages.norm import Norm, check_norm, normalised
from masim.learn.discount import check_discount, factors
from masim.learn.grouping import anchor_columns, optional_columns
from masim.learn.reduce import cell_sum, following, group_stats, last_rows, to_go


def gae(frame: Frame, value: F64, gamma: float, lam: float, tau_s: float | None) -> F64:
    """Return (n,) ``sum_l (g lam)^l d_{t+l}`` with ``d_t = r_t + g V_{t+1} - V_t`` over live decisions.

    After the last decision of a sample V is 0, but where it was truncated it stays what it was: the day was cut, not
    over.
    """
    table, rows, sample = frame.table, frame.rows, frame.sample
    turn = table.turn[rows]
    discount = factors(table, rows, sample, gamma, tau_s)
    ahead = following(value, sample, turn)
    last = last_rows(sample, turn)
    ahead[last] = np.where(table.truncated[rows][last], value[last], 0.0)
    delta = table.r_out[rows] + discount * ahead - value
    return to_go(delta, sample, turn, lam * discount)


def check_lambda(lam: float) -> None:
    """Raise ConfigError unless it is in [0, 1]."""
    if not 0 <= lam <= 1:
        raise ConfigError("out of range", "lam", str(lam), "0 <= lam <= 1")


@dataclass(frozen=True, slots=True)
class PpoGae:
    """PPO's estimator (arXiv 1506.02438 with 1707.06347). Reads the critic's column ``value``.

    ``norm: std`` standardises over all live decisions of the update. The critic learns the outcome channel only.
    Raises ConfigError on values out of range.
    """

    gamma: float = 0.99
    lam: float = 0.95
    tau_s: float | None = None
    norm: Norm = "std"
    ddof: int = 0
    eps: float = 1e-6
    compares: ClassVar[bool] = False
    per_step: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("value",)

    def __post_init__(self) -> None:
        check_discount(self.gamma, self.tau_s)
        check_norm(self.norm, self.ddof, self.eps)
        check_lambda(self.lam)

    def __call__(self, frame: Frame) -> F64:
        """Return (N,) advantages."""
        advantage = self._raw(frame)
        if self.norm == "none":
            return frame.scatter(advantage)
        everybody = np.zeros(len(advantage), np.int64)
        return frame.scatter(normalised(group_stats(advantage, everybody), self.norm, self.ddof, self.eps))

    def targets(self, frame: Frame) -> F64:
        """Return (N,) what the critic should have said: the lambda-return."""
        value: F64 = frame.table.columns()["value"][frame.rows]
        return frame.scatter(self._raw(frame) + value)

    def _raw(self, frame: Frame) -> F64:
        value: F64 = frame.table.columns()["value"][frame.rows]
        return gae(frame, value, self.gamma, self.lam, self.tau_s)


@dataclass(frozen=True, slots=True)
class Gagpo:
    """GAGPO (arXiv 2605.13217): the value of a state is its mean discounted return over the comparison group.

    GAE on that, without a part for whole rollouts. ``norm: std`` standardises over the live decisions of each
    comparison group, each counting once. Raises ConfigError on values out of range.
    """

    gamma: float = 0.95
    lam: float = 0.95
    tau_s: float | None = None
    anchor: Anchor = "canonical"
    norm: Norm = "std"
    ddof: int = 1
    eps: float = 1e-6
    compares: ClassVar[bool] = True
    per_step: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_discount(self.gamma, self.tau_s)
        check_norm(self.norm, self.ddof, self.eps)
        check_lambda(self.lam)
        anchor_columns(self.anchor)

    @property
    def needs(self) -> tuple[str, ...]:
        """Optional columns that it reads."""
        return optional_columns(self.anchor)

    def __call__(self, frame: Frame) -> F64:
        """Return (N,) advantages; 0 in a comparison group of one rollout."""
        returns = returns_to_go(frame, frame.table.r_out, self.gamma, self.tau_s)
        state = frame.states(anchor_columns(self.anchor))
        n = int(state.max()) + 1 if len(state) else 0
        mean = cell_sum(returns, state, n) / np.maximum(np.bincount(state, minlength=n), 1)
        advantage = gae(frame, mean[state], self.gamma, self.lam, self.tau_s)
        if self.norm == "std":
            group = group_stats(advantage, frame.key_I[frame.sample])
            advantage = normalised(group, self.norm, self.ddof, self.eps)
        compared = frame.compared_N()[frame.rows]
        return frame.scatter(np.where(compared, advantage, 0.0))
