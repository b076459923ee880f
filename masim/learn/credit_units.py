"""Credit units: what one reward is attached to.

A unit rule is a pure function of the step table. It answers three questions for every decision at once:

* ``unit``: which decisions share one advantage and stay together in a minibatch;
* ``score``: what a return is read off and compared with others (a unit, or something larger that its units share);
* ``sample``: whose outcome decides whether a group has failed, and whose penalties are summed.

========== ======================== ======================== ==================
rule       unit                     score                    sample
========== ======================== ======================== ==================
rollout    (rollout, agent)         the same                 the same
segment    segment_len decisions    the same                 (rollout, agent)
agent_set  decisions of one event   the rollout              the rollout
========== ======================== ======================== ==================

Axes: N decisions, U units, S scores, I samples. Rows of a rollout whose harness failed, and rows that are no
decisions, belong to units too (the rules partition the table) but count nowhere: they are not *live*.
A new rule is one class and one line in :data:`UNIT_RULES`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np

from masim.arrays import F64, I64, Bool
from masim.errors import ConfigError
from masim.learn.reduce import cell_any, cell_first, cell_min, cell_sum, dense, to_go
from masim.rollout.types import StepTable

NONE = -1
"""Agent and role of a score that belongs to the whole team; segment index of a score that is no segment."""


@dataclass(frozen=True, slots=True)
class Cells:
    """One partition of the decisions, with what is constant over each cell. All but ``of_N`` have one entry a cell."""

    of_N: I64
    group: I64
    rollout: I64
    agent: I64
    role: I64
    segment: I64
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

    def __call__(self, table: StepTable) -> Units: ...


def live_rows(table: StepTable) -> Bool:
    """Return (N,) which rows count: valid rows of rollouts without a single masked row."""
    rollout, n = dense(table.rollout_id)
    return table.valid & ~cell_any(table.masked, rollout, n)[rollout]


@dataclass(frozen=True, slots=True)
class RolloutUnit:
    """One whole rollout of one agent."""

    team: ClassVar[bool] = False
    per_sample: ClassVar[bool] = True

    def __call__(self, table: StepTable) -> Units:
        """Return one unit per (rollout, agent)."""
        live = live_rows(table)
        samples = _samples(table, live)
        return Units(live, samples.of_N, len(samples), samples, samples, np.arange(len(samples)))


SegmentReturn = Literal["to_go", "own", "inherit"]


@dataclass(frozen=True, slots=True)
class SegmentUnit:
    """``segment_len`` consecutive decisions of one agent.

    ``returns`` names what a segment is paid: ``to_go`` all outcome reward from its first decision to the end of the
    sample; ``own`` only what was booked inside it (blind to everything that lands later); ``inherit`` the outcome of
    its sample, the null arm that any segment claim is to be compared with. Segments are compared with segments of
    the same index; rollouts that ended earlier are missing from late comparisons, which scales late terms down.

    Raises ConfigError on a length below 1 or an unknown name.
    """

    segment_len: int = 8
    returns: SegmentReturn = "to_go"
    team: ClassVar[bool] = False
    per_sample: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.segment_len < 1:
            raise ConfigError("a segment needs at least one decision", "segment_len", str(self.segment_len), ">= 1")
        if self.returns not in ("to_go", "own", "inherit"):
            raise ConfigError("unknown segment return", "returns", repr(self.returns), "to_go, own, inherit")

    def __call__(self, table: StepTable) -> Units:
        """Return one unit per (rollout, agent, turn // segment_len)."""
        live = live_rows(table)
        samples = _samples(table, live)
        segment = table.turn // self.segment_len
        cell, n = dense(samples.of_N, segment)
        sample = samples.of_N[cell_first(cell, table.turn)]
        own = cell_sum(np.where(live, table.r_out, 0.0), cell, n)
        paid = {"own": own, "inherit": samples.out[sample], "to_go": _remaining(own, sample)}
        scores = _cells(table, live, cell, n, paid[self.returns], segment)
        return Units(live, cell, n, scores, samples, sample)


@dataclass(frozen=True, slots=True)
class AgentSetUnit:
    """All agents that decide in one event share one advantage: the outcome of the whole team (arXiv 2508.04652).

    The team succeeds iff every agent does: its return is the smallest return of its agents. Events inherit it, so
    statistics count each rollout once, however many events it had. Raises ConfigError for members other than "all".
    """

    members: Literal["all"] = "all"
    team: ClassVar[bool] = True
    per_sample: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.members != "all":
            raise ConfigError("unknown agent set", "members", repr(self.members), "all")

    def __call__(self, table: StepTable) -> Units:
        """Return one unit per (rollout, event)."""
        live = live_rows(table)
        by_agent = _samples(table, live)
        rollout, n = dense(table.rollout_id)
        event, n_events = dense(rollout, table.event_id)
        owner = rollout[cell_first(by_agent.of_N, table.turn)]
        out = cell_min(by_agent.out[by_agent.live], owner[by_agent.live], n)
        team = _cells(table, live, rollout, n, out, np.full(len(table), NONE), whole_team=True)
        return Units(live, event, n_events, team, team, np.arange(n))


UNIT_RULES: dict[str, type[RolloutUnit] | type[SegmentUnit] | type[AgentSetUnit]] = {
    "rollout": RolloutUnit,
    "segment": SegmentUnit,
    "agent_set": AgentSetUnit,
}


def _samples(table: StepTable, live_N: Bool) -> Cells:
    cell, n = dense(table.rollout_id, table.agent)
    out = cell_sum(np.where(live_N, table.r_out, 0.0), cell, n)
    return _cells(table, live_N, cell, n, out, np.full(len(table), NONE))


def _cells(
    table: StepTable, live_N: Bool, cell_N: I64, n: int, out: F64, segment_N: I64, whole_team: bool = False
) -> Cells:
    first = cell_first(cell_N, table.turn)
    nobody = np.full(n, NONE)
    return Cells(
        of_N=cell_N,
        group=table.group_id[first],
        rollout=table.rollout_id[first],
        agent=nobody if whole_team else table.agent[first],
        role=nobody if whole_team else table.role[first],
        segment=segment_N[first],
        live=cell_any(live_N, cell_N, n),
        n=np.bincount(cell_N, live_N, n).astype(np.int64),
        out=out,
        pen=cell_sum(np.where(live_N, table.r_pen, 0.0), cell_N, n),
    )


def _remaining(own_S: F64, sample_S: I64) -> F64:
    """Return each segment's own reward plus that of the later segments of its sample (segments come in order)."""
    return to_go(own_S, sample_S, np.arange(len(own_S)), np.ones(len(own_S)))
