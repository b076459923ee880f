"""From a step table and a configuration to the advantages the loss uses: ``A = A_out + A_pen``.

A pure function: stored rollouts can be scored again, by any other configuration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from masim.arrays import F64, Bool
from masim.errors import ConfigError
from masim.learn.advantages.base import Frame, make_frame
from masim.learn.advantages.filters import kept
from masim.learn.advantages.gate import Progress
from masim.learn.advantages.penalties import penalty_advantage
from masim.learn.advantages.progpo import Progpo
from masim.learn.checks import check_columns
from masim.learn.completion import complete_rows
from masim.learn.config import LearnerConfig
from masim.learn.reduce import cell_any
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
    frame = framed(table, config, draw)
    if config.estimator.compares:
        _refuse_lone(frame)
    return assembled(frame, config)


def framed(table: StepTable, config: LearnerConfig, draw: int = 0) -> Frame:
    """Return the table, checked and cut by the configuration's unit and key. Raises as :func:`advantages`."""
    check_columns(table, config.estimator.needs, type(config.estimator).__name__)
    return make_frame(table, config.unit, config.compare, seed=config.seed * 1_000_003 + draw)


def assembled(frame: Frame, config: LearnerConfig) -> Advantages:
    """Return the advantages of a frame that was made by the same configuration."""
    wrapper = config.progpo or Progpo(control="off")
    outcome, progress = wrapper(frame, config.estimator(frame), config.estimator)
    penalty = penalty_advantage(frame, _penalty_weight(frame, config, wrapper), config.penalty)
    return Advantages(outcome + penalty, outcome, penalty, _scored(frame, config), frame, progress)


def _scored(frame: Frame, config: LearnerConfig) -> Bool:
    """Return (N,) which decisions are part of the loss."""
    table, units = frame.table, frame.units
    scored = frame.compared_N() if config.estimator.compares else units.live_N.copy()
    scored &= complete_rows(table, config.completion, config.min_group)
    scored &= kept(frame, config)
    if config.ratio == "set":
        scored &= ~cell_any(~units.live_N, units.unit_N, units.n_units)[units.unit_N]
    return scored


def _refuse_lone(frame: Frame) -> None:
    """Raise ConfigError when no comparison group has two live members, so that nothing at all would be scored."""
    if np.bincount(frame.key_I, frame.units.samples.live).max() < 2:
        fix = "collect at least two rollouts of an instance, or use an estimator that compares nobody, as reinforce"
        raise ConfigError("every comparison group is a group of one", "group_id", "", "", fix)


def _penalty_weight(frame: Frame, config: LearnerConfig, gate: Progpo) -> F64 | float:
    if config.w_pen_failed is None:
        return config.w_pen
    return np.where(gate.failed_N(frame), config.w_pen_failed, config.w_pen)
