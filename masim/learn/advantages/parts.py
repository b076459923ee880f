"""Scoring tables that are longer than any update: stored rollouts, a part of whole comparison groups at a time.

Estimators that compare rollouts look at nothing beyond their own group, so the parts can be scored one after the other,
with arrays of a size that memory and caches like. What ProGPO shares over an update, the share of all-failed groups, is
counted over all parts first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from masim.arrays import F64, I64, Bool
from masim.errors import ConfigError
from masim.learn.advantages.assemble import assembled, framed
from masim.learn.advantages.base import Frame
from masim.learn.advantages.gate import judge
from masim.learn.advantages.progpo import Progpo
from masim.learn.config import LearnerConfig
from masim.rollout.types import StepTable

PART = 250_000
"""Decisions of a part, about: some twenty columns of two megabytes."""


@dataclass(frozen=True, slots=True)
class Scores:
    """What :func:`scored_in_parts` returns; N decisions."""

    total_N: F64
    scored_N: Bool
    all_failed: float
    """Share of comparison groups in which nobody succeeded."""


def scored_in_parts(table: StepTable, config: LearnerConfig, rows: int = PART) -> Scores:
    """Return the same advantages as :func:`masim.learn.advantages.assemble.advantages`, part by part.

    Raises ConfigError, besides what that raises, for estimators and controls that look beyond a group, and for a table
    whose groups do not lie together.
    """
    _refuse_global(config)
    places = list(parts(table.group_id, rows))
    frames: Iterable[Frame] = (framed(table.take(np.arange(*place)), config) for place in places)
    if _shares_over_parts(config):
        frames = list(frames)
        config = _with_share(config, Share.of(frames, config).all_failed)
    total, scored, share = np.zeros(len(table)), np.zeros(len(table), bool), Share()
    for (begin, end), frame in zip(places, frames, strict=True):
        one = assembled(frame, config)
        total[begin:end], scored[begin:end] = one.total_N, one.scored_N
        share.add(frame, config)
    return Scores(total, scored, share.all_failed)


@dataclass(slots=True)
class Share:
    """Counts comparison groups, and those in which nobody succeeded."""

    groups: int = 0
    failed: float = 0.0

    def add(self, frame: Frame, config: LearnerConfig) -> None:
        """Count one part."""
        gate = judge(frame, (config.progpo or Progpo()).tau_r)
        self.groups += gate.groups
        self.failed += gate.q_fail * gate.groups

    @classmethod
    def of(cls, frames: Iterable[Frame], config: LearnerConfig) -> Share:
        """Count all parts."""
        share = cls()
        for frame in frames:
            share.add(frame, config)
        return share

    @property
    def all_failed(self) -> float:
        """Return the share."""
        return self.failed / max(self.groups, 1)


def parts(group_N: I64, rows: int) -> Iterator[tuple[int, int]]:
    """Yield (begin, end) of parts of about ``rows`` decisions that split no group.

    Raises ConfigError when a group comes up again after another one.
    """
    if not len(group_N):
        return
    begins = np.concatenate((np.zeros(1, np.int64), 1 + np.flatnonzero(np.diff(group_N)))).astype(np.int64)
    if len(np.unique(group_N[begins])) != len(begins):
        fix = "sort the table by group_id, or score it as a whole"
        raise ConfigError("the decisions of a comparison group do not lie together", "group_id", "", "", fix)
    ends = np.concatenate((begins[1:], np.full(1, len(group_N)))).astype(np.int64)
    begin = 0
    while begin < len(group_N):
        end = int(ends[min(int(np.searchsorted(ends, begin + rows)), len(ends) - 1)])
        yield begin, end
        begin = end


def _refuse_global(config: LearnerConfig) -> None:
    name = type(config.estimator).__name__
    if not config.estimator.compares:
        raise ConfigError("this estimator looks beyond comparison groups", "estimator", name, "those that compare")
    if config.progpo is not None and config.progpo.control in ("shuffled", "random"):
        raise ConfigError("this control draws over the whole table", "progpo.control", config.progpo.control)


def _shares_over_parts(config: LearnerConfig) -> bool:
    """Return whether lambda depends on all parts."""
    wrapper = config.progpo
    return wrapper is not None and wrapper.lambda_rule == "q_fail" and wrapper.control != "off"


def _with_share(config: LearnerConfig, failed: float) -> LearnerConfig:
    """Return the configuration with the share of all parts in its lambda."""
    wrapper = config.progpo
    if wrapper is None or failed == 0.0:
        return replace(config, progpo=None)
    return replace(config, progpo=replace(wrapper, lambda_rule="fixed", lambda_aux=wrapper.lambda_aux * failed))
