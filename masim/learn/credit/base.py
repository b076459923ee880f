"""Credit units: what one reward is attached to.

A unit rule is a pure function of the step table. It answers three questions for every decision at once:

* ``unit``: which decisions share one advantage and stay together in a minibatch;
* ``score``: what a return is read off and compared with others (a unit, or something larger that its units share);
* ``sample``: whose outcome decides whether a group has failed, and whose penalties are summed.

============ ======================== ======================== ==========================
rules        unit                     score                    sample
============ ======================== ======================== ==========================
rollout      (rollout, agent)         the same                 the same
segments     a run of decisions       the same                 (rollout, agent)
agent sets   decisions of one event   what a set of agents     the same as the score
             or window                did in a rollout
token spans  one span of tokens       (rollout, agent)         the same as the score
============ ======================== ======================== ==========================

Axes: N decisions, U units, S scores, I samples. Rows of a rollout whose harness failed, and rows that are no
decisions, belong to units too (the rules partition the table) but count nowhere: they are not *live*.
A new rule is one class and one line in :data:`masim.learn.credit.registry.UNIT_RULES`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from masim.arrays import F64, I64, Bool
from masim.errors import ConfigError
from masim.learn.reduce import cell_any, cell_first, cell_sum, dense
from masim.rollout.types import StepTable

NONE = -1
"""Agent and role of a score that belongs to a set of agents; segment or set of a score that has none."""
_LATER = 1 << 40


@dataclass(frozen=True, slots=True)
class Cells:
    """One partition of the decisions, with what is constant over each cell. All but ``of_N`` have one entry a cell."""

    of_N: I64
    group: I64
    rollout: I64
    agent: I64
    role: I64
    segment: I64
    """Number of the segment within its sample."""
    part: I64
    """Which set of agents of the rollout."""
    first: I64
    """Row of the earliest decision."""
    live: Bool
    n: I64
    """Live decisions."""
    out: F64
    """Return on the outcome channel."""
    pen: F64
    """Sum of the penalty channel over live decisions."""

    def __len__(self) -> int:
        return len(self.group)


@dataclass(frozen=True, slots=True)
class Units:
    """What a rule returns."""

    live_N: Bool
    unit_N: I64
    n_units: int
    scores: Cells
    samples: Cells
    sample_S: I64
    """Sample of each score."""

    def live_units(self) -> I64:
        """Return the ids of the units that own a live decision."""
        return np.flatnonzero(cell_any(self.live_N, self.unit_N, self.n_units))


class UnitRule(Protocol):
    """A pure function ``StepTable -> Units``."""

    team: ClassVar[bool]
    """Whether the scores belong to whole rollouts, so that keys by agent or role have nothing to split."""
    per_sample: ClassVar[bool]
    """Whether a unit is one whole (rollout, agent)."""
    starts: ClassVar[bool]
    """Whether scores begin in the middle of a sample, so that they can be compared by where they begin."""
    needs: ClassVar[tuple[str, ...]]
    """Optional columns that it reads."""

    def __call__(self, table: StepTable) -> Units: ...


def numbers(text: str, option: str, column: str) -> list[int]:
    """Return the values of a column that an option lists, joined by commas. Raises ConfigError for anything else."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() for part in parts):
        allowed = f"values of the column {column}, joined by commas"
        raise ConfigError(f"{option} are no numbers", option, repr(text), allowed)
    return [int(part) for part in parts]


def live_rows(table: StepTable) -> Bool:
    """Return (N,) which rows count: valid rows of rollouts without a single masked row."""
    rollout, n = dense(table.rollout_id)
    return table.valid & ~cell_any(table.masked, rollout, n)[rollout]


def first_decisions(table: StepTable, live_N: Bool, cell_N: I64) -> I64:
    """Return the earliest row of each cell; rows that do not count come after all that do."""
    return cell_first(cell_N, np.where(live_N, table.turn, table.turn + _LATER))


def samples_of(table: StepTable, live_N: Bool) -> Cells:
    """Return the samples (rollout, agent) of a table."""
    cell, n = dense(table.rollout_id, table.agent)
    out = cell_sum(np.where(live_N, table.r_out, 0.0), cell, n)
    return cells_of(table, live_N, cell, n, out)


def cells_of(
    table: StepTable, live_N: Bool, cell_N: I64, n: int, out: F64,
    segment: I64 | None = None, part: I64 | None = None,
) -> Cells:  # fmt: skip
    """Return cells with their return ``out`` (n,); ``segment`` and ``part`` (n,) where there are any.

    A part is a set of agents, which has neither one agent nor one role.
    """
    first = first_decisions(table, live_N, cell_N)
    nobody = np.full(n, NONE)
    return Cells(
        of_N=cell_N,
        group=table.group_id[first],
        rollout=table.rollout_id[first],
        agent=table.agent[first] if part is None else nobody,
        role=table.role[first] if part is None else nobody,
        segment=nobody if segment is None else segment,
        part=nobody if part is None else part,
        first=first,
        live=cell_any(live_N, cell_N, n),
        n=np.bincount(cell_N, live_N, n).astype(np.int64),
        out=out,
        pen=cell_sum(np.where(live_N, table.r_pen, 0.0), cell_N, n),
    )
