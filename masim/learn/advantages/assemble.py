"""From a step table and a configuration to the advantages the loss uses: ``A = A_out + A_pen``.

A pure function: stored rollouts can be scored again, by any other configuration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from masim.arrays import F64, Bool
from masim.learn.advantages.base import Frame, make_frame
from masim.learn.advantages.penalties import penalty_advantage
from masim.learn.advantages.progpo import Progpo, Progress
from masim.learn.config import LearnerConfig
from masim.learn.reduce import group_stats
from masim.rollout.types import StepTable


@dataclass(frozen=True, slots=True)
class Advantages:
    """Axes: N decisions."""

    total_N: F64
    """What the loss uses; finite everywhere."""
    outcome_N: F64
    penalty_N: F64
    scored_N: Bool
    """False where nothing can be said (harness failure, nobody to compare with, dropped group): never scored. A scored
    decision without signal has advantage 0 and is part of the loss."""
    frame: Frame
    progress: Progress
    """Measured even when ProGPO is off."""

    @property
    def penalty_mass(self) -> float:
        """Share of the penalty channel in the |A| of both channels; above 0.5 the trainer raises its alarm."""
        penalty, outcome = float(np.abs(self.penalty_N).sum()), float(np.abs(self.outcome_N).sum())
        return penalty / (penalty + outcome) if penalty > 0 else 0.0


def advantages(table: StepTable, config: LearnerConfig, draw: int = 0) -> Advantages:
    """Score every decision of whole comparison groups.

    ``draw`` numbers the update for the randomised controls. Raises ConfigError when groups mix instances or the
    comparison key does not fit the table.
    """
    frame = make_frame(table, config.unit, config.compare, seed=config.seed * 1_000_003 + draw)
    wrapper = config.progpo or Progpo(control="off")
    outcome, progress = wrapper(frame, config.estimator(frame))
    penalty = penalty_advantage(frame, _penalty_weight(frame, config, wrapper), config.penalty)
    scored = frame.compared_N() if config.estimator.compares else frame.units.live_N.copy()
    if config.drop_equal_groups:
        scored &= ~_equal_outcomes(frame)
    return Advantages(outcome + penalty, outcome, penalty, scored, frame, progress)


def _penalty_weight(frame: Frame, config: LearnerConfig, gate: Progpo) -> F64 | float:
    if config.w_pen_failed is None:
        return config.w_pen
    return np.where(gate.failed_N(frame), config.w_pen_failed, config.w_pen)


def _equal_outcomes(frame: Frame) -> Bool:
    """Return (N,) whether all outcomes of the decision's comparison group are the same."""
    samples = frame.units.samples
    return group_stats(samples.out, frame.key_I, samples.live).equal()[samples.of_N]
