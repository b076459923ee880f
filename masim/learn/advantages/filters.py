"""Filters: groups that teach nothing are left out of the loss (DAPO, arXiv 2503.14476).

A group teaches nothing when its outcomes are all equal. Under ProGPO such a group still speaks, unless its coverage is
all equal, too; the filter for that is another one.
"""

from __future__ import annotations

import numpy as np

from masim.arrays import Bool
from masim.learn.advantages.base import Frame, make_frame
from masim.learn.advantages.progpo import Progpo
from masim.learn.config import LearnerConfig
from masim.learn.reduce import cell_any, group_stats
from masim.rollout.types import StepTable


def kept_by_filters(table: StepTable, config: LearnerConfig) -> Bool:
    """Return (N,) which decisions of a table belong to groups that pass the filters."""
    return kept(make_frame(table, config.unit, config.compare), config)


def kept(frame: Frame, config: LearnerConfig) -> Bool:
    """Return (N,) which decisions belong to groups that pass the filters."""
    passed = np.ones(len(frame.table), bool)
    if config.drop_equal_groups:
        passed &= ~_equal_outcomes(frame)
    if config.drop_silent_groups and config.progpo is not None:
        passed &= ~(_equal_outcomes(frame) & _equal_coverage(frame, config.progpo))
    return passed


def _equal_coverage(frame: Frame, wrapper: Progpo) -> Bool:
    """Return (N,) whether coverage says nothing about the decision's whole comparison group."""
    units = frame.units
    stats = group_stats(wrapper.progress(frame), frame.key_S, units.scores.live)
    speaks_S = (stats.size > 1) & (stats.std(0) >= wrapper.tau_p)
    group_S = frame.key_I[units.sample_S]
    return ~cell_any(speaks_S, group_S, int(group_S.max()) + 1)[group_S][units.scores.of_N]


def _equal_outcomes(frame: Frame) -> Bool:
    """Return (N,) whether all outcomes of the decision's comparison group are the same."""
    samples = frame.units.samples
    return group_stats(samples.out, frame.key_I, samples.live).equal()[samples.of_N]
