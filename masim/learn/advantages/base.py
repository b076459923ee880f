"""What every estimator sees and returns.

An estimator is a frozen dataclass (its fields are its options) called with a :class:`Frame`; it returns one advantage
per decision, finite everywhere, 0 on rows that are not live. It works on the outcome channel only: penalties are
added at the very end. Axes as in :mod:`masim.learn.credit.base`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from masim.arrays import F64, I64, Bool
from masim.learn.checks import check_columns, check_rows, check_values
from masim.learn.credit.base import UnitRule, Units
from masim.learn.grouping import check_same_instance, sample_keys, score_keys
from masim.learn.reduce import dense
from masim.rollout.types import StepTable


@dataclass(frozen=True, slots=True)
class Frame:
    """The step table, cut into units and comparison groups."""

    table: StepTable
    units: Units
    key_I: I64
    """Comparison group of each sample."""
    key_S: I64
    """Comparison group of each score (finer than ``key_I`` for segments)."""
    rows: I64
    """The n live rows, and the sample of each."""
    sample: I64
    seed: int = 0
    """Seed of the randomised controls; estimators proper draw nothing."""

    def spread(self, advantage_S: F64) -> F64:
        """Return (N,) the advantage of each decision's score, 0 on rows that are not live."""
        return np.where(self.units.live_N, advantage_S[self.units.scores.of_N], 0.0)

    def scatter(self, values: F64) -> F64:
        """Return (N,) the values of the live rows, 0 elsewhere."""
        result = np.zeros(len(self.table))
        result[self.rows] = values
        return result

    def states(self, columns: tuple[str, ...]) -> I64:
        """Return the comparison group and state of each live row as one dense id (n,)."""
        given = (self.table.columns()[column][self.rows] for column in columns)
        return dense(self.key_I[self.sample], *given)[0]

    def compared_N(self) -> Bool:
        """Return (N,) which live decisions have at least one other score to be compared with."""
        live = self.units.scores.live
        size = np.bincount(self.key_S, live, len(self.key_S) + 1)
        return self.units.live_N & (size[self.key_S] > 1)[self.units.scores.of_N]


class Estimator(Protocol):
    """A base estimator."""

    compares: ClassVar[bool]
    """Whether it needs at least two rollouts of an instance."""
    per_step: ClassVar[bool]
    """Whether every decision gets a return of its own, so that units have nothing to share."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Optional columns that it reads."""
        ...

    def __call__(self, frame: Frame) -> F64: ...


def make_frame(table: StepTable, rule: UnitRule, compare: str, seed: int = 0) -> Frame:
    """Cut ``table`` by a unit rule and a comparison key.

    Raises ConfigError when columns are missing or broken (:mod:`masim.learn.checks`), a group mixes instances or the
    key is not allowed (:mod:`masim.learn.grouping`).
    """
    check_columns(table, rule.needs, type(rule).__name__)
    check_rows(table)
    units = rule(table)
    check_values(table, units.live_N)
    check_same_instance(table, units.live_N)
    key_I = sample_keys(units.samples, compare)
    key_S = score_keys(table, compare, key_I, units.sample_S, units.scores)
    rows = np.flatnonzero(units.live_N)
    return Frame(table, units, key_I, key_S, rows, units.samples.of_N[rows], seed)
