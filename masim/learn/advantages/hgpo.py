"""HGPO (arXiv 2602.22817): states in a hierarchy, by how much of the past they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from masim.arrays import F64
from masim.errors import ConfigError
from masim.learn.advantages.base import Frame
from masim.learn.advantages.gigpo import Anchor, returns_to_go
from masim.learn.advantages.norm import Norm, check_norm, normalised
from masim.learn.discount import check_discount
from masim.learn.grouping import anchor_columns, optional_columns
from masim.learn.reduce import dense, group_stats, previous


@dataclass(frozen=True, slots=True)
class Hgpo:
    """HGPO (arXiv 2602.22817): a hierarchy of states, from the last observation to the last ``levels`` ones.

    On level k two decisions are alike when their last k observations are. Each level compares discounted returns as
    GiGPO does, where it has at least two decisions; ``A = sum_k w_k A_k`` with ``w_k`` proportional to ``k ** alpha``
    and summing to 1 over all levels. Before its first decision a sample has a beginning, which is like any other
    beginning. ``anchor: memory`` (the default) puts the view of the memory into the state, for a policy that acts on
    it. Raises ConfigError on values out of range.
    """

    levels: int = 4
    alpha: float = 1.0
    gamma: float = 0.95
    tau_s: float | None = None
    anchor: Anchor = "memory"
    norm: Norm = "std"
    ddof: int = 1
    eps: float = 1e-6
    compares: ClassVar[bool] = True
    per_step: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_discount(self.gamma, self.tau_s)
        check_norm(self.norm, self.ddof, self.eps)
        anchor_columns(self.anchor)
        if self.levels < 1:
            raise ConfigError("out of range", "levels", str(self.levels), ">= 1")

    @property
    def needs(self) -> tuple[str, ...]:
        """Optional columns that it reads."""
        return optional_columns(self.anchor)

    def __call__(self, frame: Frame) -> F64:
        """Return (N,) advantages."""
        return self.step_part(frame, frame.table.r_out)

    def step_part(self, frame: Frame, reward_N: F64) -> F64:
        """Return (N,) the comparison on all levels, for any reward per decision."""
        returns = returns_to_go(frame, reward_N, self.gamma, self.tau_s)
        turn = frame.table.turn[frame.rows]
        weights = [k**self.alpha for k in range(1, self.levels + 1)]
        state = frame.states(anchor_columns(self.anchor))
        total = 0.0 * returns
        for weight in weights:
            stats = group_stats(returns, state)
            total += weight / sum(weights) * normalised(stats, self.norm, self.ddof, self.eps)
            state = dense(state, previous(state, frame.sample, turn, start=-1))[0]
        return frame.scatter(total)

    @property
    def step_weight(self) -> float:
        """Weight of the step part."""
        return 1.0
