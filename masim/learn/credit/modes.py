"""Segments by mode: stretches of collecting information and stretches of acting on it, each paid for its own job.

The column ``mode`` says what was asked before the choice: 1 collect, 2 act (0: not marked). An acting segment is paid
by the outcome. A collecting one is paid by *information quality*, in [0, 1]:

    share of its decisions that learned a fact which was used while it was fresh.

A decision learned a fact when the observation after it was new to its sample (a first visit of the canonical key).
The fact was used when a later acting decision of the same sample concerned the same order and the same vendor (where
the collecting decision named one; -1 names none and matches any) within ``fresh_s`` simulated seconds. So asking twice,
asking what nobody acts on, and acting on what has gone stale all earn nothing. With ``commits`` only calls of these
endpoints use a fact: asking once more while an act was due is no use of the first answer.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from masim.arrays import F64, I64, Bool
from masim.errors import ConfigError
from masim.learn.credit.base import Units, numbers
from masim.learn.credit.segments import SegmentReturn, after, check_returns, count_cuts, segment_units
from masim.learn.reduce import cell_sum, dense, first_visits, in_order
from masim.rollout.types import ACT, COLLECT, StepTable

HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class ModeUnit:
    """One unit per stretch of equal mode. ``returns`` is what an acting segment is paid.

    ``commits`` lists values of the column ``endpoint``, joined by commas: the calls that use what was collected; empty:
    every acting decision does. A training run fills in the calls that bind somebody.
    Raises ConfigError on values out of range, and on a table whose live decisions have no mode.
    """

    fresh_s: float = HOUR_S
    returns: SegmentReturn = "to_go"
    commits: str = ""
    team: ClassVar[bool] = False
    per_sample: ClassVar[bool] = False
    starts: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_returns(self.returns)
        if self.fresh_s <= 0:
            raise ConfigError("out of range", "fresh_s", str(self.fresh_s), "> 0 simulated seconds")
        self.endpoints()

    def endpoints(self) -> list[int] | None:
        """Return the endpoints that use a fact; None: all."""
        return numbers(self.commits, "commits", "endpoint") if self.commits else None

    def __call__(self, table: StepTable) -> Units:
        """Return one unit per (rollout, agent, stretch of equal mode)."""
        units = segment_units(table, count_cuts(table, _changes(table)), self.returns)
        unmarked = units.live_N & (table.mode != COLLECT) & (table.mode != ACT)
        if unmarked.any():
            value = ", ".join(map(str, np.unique(table.mode[unmarked])[:4]))
            fix = "use another unit: this table does not say which decisions collect and which act"
            raise ConfigError("decisions without a mode", "mode", value, f"{COLLECT} collect, {ACT} act", fix)
        scores = units.scores
        collects = table.mode[scores.first] == COLLECT
        facts = used_facts(table, units.live_N, self.fresh_s, self.endpoints())
        useful = cell_sum(facts.astype(np.float64), scores.of_N, len(scores))
        quality: F64 = useful / np.maximum(scores.n, 1)
        return replace(units, scores=replace(scores, out=np.where(collects, quality, scores.out)))


def _changes(table: StepTable) -> Bool:
    """Return (N,) whether the mode of a decision differs from that of the decision before it."""
    collecting, acting = table.mode == COLLECT, table.mode == ACT
    changes: Bool = (collecting & after(table, acting)) | (acting & after(table, collecting))
    return changes


def used_facts(table: StepTable, live_N: Bool, fresh_s: float, endpoints: list[int] | None = None) -> Bool:
    """Return (N,) which collecting decisions learned something that a later acting decision used in time.

    ``endpoints``: the calls that use a fact; None: any.
    """
    acts = table.mode == ACT
    if endpoints is not None:
        acts &= np.isin(table.endpoint, endpoints)
    result = np.zeros(len(table), bool)
    sample = dense(table.rollout_id, table.agent)[0]
    rows = np.flatnonzero(live_N)
    new = np.zeros(len(table), bool)
    new[rows] = first_visits(sample[rows], table.turn[rows], table.obs_key[rows], table.next_obs_key[rows])
    order = rows[in_order(sample[rows], table.turn[rows])]
    for run in np.split(order, np.flatnonzero(np.diff(sample[order])) + 1):
        _mark_used(table, run, (new, acts), fresh_s, result)
    return result


def _mark_used(table: StepTable, run: I64, marks: tuple[Bool, Bool], fresh_s: float, used: Bool) -> None:
    """Go backwards through one sample and remember when each (order, vendor) is acted on next.

    ``marks``: (N,) which decisions learned something, and which use what was learned.
    """
    new, acts = marks
    soonest: dict[tuple[int, int], float] = defaultdict(lambda: np.inf)
    for row in run[::-1].tolist():
        order, vendor, t_s = int(table.order[row]), int(table.vendor[row]), float(table.event_time_s[row])
        if acts[row]:
            for place in ((order, vendor), (order, -1), (-1, vendor), (-1, -1)):
                soonest[place] = t_s
        elif new[row] and table.mode[row] == COLLECT:
            used[row] = soonest[order, vendor] - t_s <= fresh_s
