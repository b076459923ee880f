"""Segments by mode: stretches of collecting information and stretches of acting on it, each paid for its own job.

The column ``mode`` says what was asked before the choice: 1 collect, 2 act (0: not marked). An acting segment is paid
by the outcome. A collecting one is paid by *information quality*, in [0, 1]:

    share of its decisions that learned a fact which was used while it was fresh.

A decision learned a fact when the observation after it was new to its sample (a first visit of the canonical key).
The fact was used when a later acting decision of the same sample concerned the same order and the same vendor (where
the collecting decision named one; -1 names none and matches any) within ``fresh_s`` simulated seconds. So asking twice,
asking what nobody acts on, and acting on what has gone stale all earn nothing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from masim.arrays import F64, I64, Bool
from masim.errors import ConfigError
from masim.learn.credit.base import Units
from masim.learn.credit.segments import SegmentReturn, after, check_returns, count_cuts, segment_units
from masim.learn.reduce import cell_sum, dense, first_visits, in_order
from masim.rollout.types import ACT, COLLECT, StepTable

HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class ModeUnit:
    """One unit per stretch of equal mode. ``returns`` is what an acting segment is paid.

    Raises ConfigError on values out of range, and on a table whose live decisions have no mode.
    """

    fresh_s: float = HOUR_S
    returns: SegmentReturn = "to_go"
    team: ClassVar[bool] = False
    per_sample: ClassVar[bool] = False
    starts: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_returns(self.returns)
        if self.fresh_s <= 0:
            raise ConfigError("out of range", "fresh_s", str(self.fresh_s), "> 0 simulated seconds")

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
        useful = cell_sum(used_facts(table, units.live_N, self.fresh_s).astype(np.float64), scores.of_N, len(scores))
        quality: F64 = useful / np.maximum(scores.n, 1)
        return replace(units, scores=replace(scores, out=np.where(collects, quality, scores.out)))


def _changes(table: StepTable) -> Bool:
    """Return (N,) whether the mode of a decision differs from that of the decision before it."""
    collecting, acting = table.mode == COLLECT, table.mode == ACT
    changes: Bool = (collecting & after(table, acting)) | (acting & after(table, collecting))
    return changes


def used_facts(table: StepTable, live_N: Bool, fresh_s: float) -> Bool:
    """Return (N,) which collecting decisions learned something that a later acting decision used in time."""
    result = np.zeros(len(table), bool)
    sample = dense(table.rollout_id, table.agent)[0]
    rows = np.flatnonzero(live_N)
    new = np.zeros(len(table), bool)
    new[rows] = first_visits(sample[rows], table.turn[rows], table.obs_key[rows], table.next_obs_key[rows])
    order = rows[in_order(sample[rows], table.turn[rows])]
    for run in np.split(order, np.flatnonzero(np.diff(sample[order])) + 1):
        _mark_used(table, run, new, fresh_s, result)
    return result


def _mark_used(table: StepTable, run: I64, new: Bool, fresh_s: float, used: Bool) -> None:
    """Go backwards through one sample and remember when each (order, vendor) is acted on next."""
    soonest: dict[tuple[int, int], float] = defaultdict(lambda: np.inf)
    for row in run[::-1].tolist():
        order, vendor, t_s = int(table.order[row]), int(table.vendor[row]), float(table.event_time_s[row])
        if table.mode[row] == ACT:
            for place in ((order, vendor), (order, -1), (-1, vendor), (-1, -1)):
                soonest[place] = t_s
        elif new[row]:
            used[row] = soonest[order, vendor] - t_s <= fresh_s
