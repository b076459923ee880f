"""GiGPO (arXiv 2505.10978): a group inside the group, of decisions that were taken in the same state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from masim.arrays import F64
from masim.errors import ConfigError
from masim.learn.advantages.base import Frame
from masim.learn.advantages.grpo import Grpo
from masim.learn.advantages.norm import Norm, check_norm, normalised
from masim.learn.discount import check_discount, factors
from masim.learn.grouping import anchor_columns, optional_columns
from masim.learn.reduce import group_stats, to_go

Anchor = Literal["canonical", "exact", "memory", "similar"]


def returns_to_go(frame: Frame, reward_N: F64, gamma: float, tau_s: float | None) -> F64:
    """Return (n,) the discounted reward from each live decision to the end of its sample."""
    discount = factors(frame.table, frame.rows, frame.sample, gamma, tau_s)
    return to_go(reward_N[frame.rows], frame.sample, frame.table.turn[frame.rows], discount)


@dataclass(frozen=True, slots=True)
class Gigpo:
    """``A = A_E + w * A_S``.

    ``A_E`` compares whole rollouts as GRPO does. ``A_S`` compares the discounted returns of all decisions of the
    comparison group that were taken in the same state, each decision counting once; a state that was met once says
    nothing (0). ``anchor`` says what the same state is; ``similar`` (the similarity mode) needs the column
    ``obs_similar``. ``norm`` and ``ddof`` hold for both parts. Raises ConfigError on values out of range.
    """

    w: float = 1.0
    gamma: float = 0.95
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
        anchor_columns(self.anchor)
        if self.w < 0:
            raise ConfigError("out of range", "w", str(self.w), ">= 0")

    @property
    def needs(self) -> tuple[str, ...]:
        """Optional columns that it reads."""
        return optional_columns(self.anchor)

    def __call__(self, frame: Frame) -> F64:
        """Return (N,) advantages."""
        whole = Grpo(self.norm, self.ddof, self.eps)(frame)
        return whole + self.w * self.step_part(frame, frame.table.r_out)

    def step_part(self, frame: Frame, reward_N: F64) -> F64:
        """Return (N,) the comparison within states, for any reward per decision."""
        returns = returns_to_go(frame, reward_N, self.gamma, self.tau_s)
        state = frame.states(anchor_columns(self.anchor))
        return frame.scatter(normalised(group_stats(returns, state), self.norm, self.ddof, self.eps))

    @property
    def step_weight(self) -> float:
        """Weight of the step part."""
        return self.w
