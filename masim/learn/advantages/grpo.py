"""Group-relative estimators: a score is judged by the scores of other rollouts of the same instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from masim.arrays import F64
from masim.learn.advantages.base import Frame
from masim.learn.advantages.norm import Norm, check_norm, normalised
from masim.learn.reduce import group_stats


@dataclass(frozen=True, slots=True)
class Grpo:
    """GRPO (arXiv 2402.03300): ``A_i = (R_i - mean) / (std + eps)``.

    ``norm="none"`` is Dr.GRPO (arXiv 2503.20783): no division. ``ddof`` is that of the standard deviation: 1 sample,
    0 population. Every score counts once, however many decisions it has. A lone score gets 0.
    Raises ConfigError on values outside these.
    """

    norm: Norm = "std"
    ddof: int = 1
    eps: float = 1e-6
    compares: ClassVar[bool] = True
    per_step: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_norm(self.norm, self.ddof, self.eps)

    def __call__(self, frame: Frame) -> F64:
        """Return (N,) advantages."""
        stats = group_stats(frame.units.scores.out, frame.key_S, frame.units.scores.live)
        return frame.spread(normalised(stats, self.norm, self.ddof, self.eps))


@dataclass(frozen=True, slots=True)
class Rloo:
    """RLOO: ``A_i = R_i - mean of the others = G / (G - 1) * (R_i - mean)``. A lone score gets 0."""

    compares: ClassVar[bool] = True
    per_step: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def __call__(self, frame: Frame) -> F64:
        """Return (N,) advantages."""
        stats = group_stats(frame.units.scores.out, frame.key_S, frame.units.scores.live)
        return frame.spread(stats.deviation * stats.size / np.maximum(stats.size - 1, 1))
