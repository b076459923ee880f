"""Candidate features: what a scorer sees of each legal call, and of the agent's whole situation.

Here is what is the same in every session of a scenario: the layout, the static block, and which row of which block an
action's row shows. The numbers of one agent are in its :class:`masim.env.sheet.Sheet`.

Every number is relative (no vendor, order or dock identity), so a scorer that learns on one campaign acts on another:
who is reliable is in the memory columns alone. A candidate row is the concatenation of blocks: the action itself, its
leg, its carrier, its stop, its slot, and the endpoint it would call; blocks that do not apply are zero.
"""

from __future__ import annotations

import numpy as np

from masim.env.actions import ActionTable
from masim.env.legality import Legality
from masim.env.timed import Segment, TimedPlan
from masim.memory.vendor_features import VENDOR_F
from masim.sim.spec import EXTRA_VERBS, Verb
from masim.units import HOUR, MINUTE

_RARE = (*EXTRA_VERBS, Verb.CONFIRM_APPOINTMENT, Verb.HAND_OVER)
_VERBS = tuple(verb for verb in Verb if verb not in _RARE)
"""Verbs with a column of their own; those that few scenarios have are the row of zeros."""
STATES = 5
MAX_WAITS = 4
"""A scenario has at most as many waits; each has its column."""
STATIC_F = len(_VERBS) + MAX_WAITS + 5
LEG_F = 2 * STATES + 12
CARRIER_F = 7 + STATES + VENDOR_F
STOP_F = 7 + STATES
SLOT_F = 9
ENDPOINT_F = 8
ROW_F = STATIC_F + LEG_F + CARRIER_F + STOP_F + SLOT_F + ENDPOINT_F
GLOBAL_F = 8

ENDPOINT_0 = ROW_F - ENDPOINT_F
"""First column of the last block of a row."""
TO_PICKUP = 21
"""Column of a leg's block that moves with the clock."""


def context_size(table: ActionTable) -> int:
    """Return C, the number of context features: the leg blocks of all legs and the global block."""
    return table.n_legs * LEG_F + GLOBAL_F


class FeatureBuilder:
    """Holds the static block of every action and where its row looks; one serves all sessions of a scenario."""

    def __init__(self, table: ActionTable) -> None:
        self.table = table
        self.max_decisions = table.spec.max_decisions
        self.day_s = table.spec.booking_end_s - table.spec.day_start_s
        self.docks = {d.id: d for d in table.spec.docks}
        self.legality = Legality(table)
        """Which of the actions are legal; kept here because it is shared by the same sessions."""
        self.static = np.array([self._static_row(i) for i in range(len(table))], dtype=np.float32)
        self.n_ranks = max(table.n_ranks, 1)
        stop_of = np.where(table.stop >= 0, table.leg * 2 + table.stop, 2 * table.n_legs)
        n_carriers, n_stops = table.n_legs * table.n_carriers, 2 * table.n_legs
        carrier_of = np.where(table.vendor >= 0, table.leg * table.n_carriers + table.vendor, n_carriers)
        slot_of = np.where(table.rank >= 0, stop_of * self.n_ranks + table.rank, n_stops * self.n_ranks)
        self.row_of = (np.where(table.leg >= 0, table.leg, table.n_legs), carrier_of, stop_of, slot_of)
        """Row of every action in the blocks of all legs, carriers, stops and slots; the last one is empty."""
        self.shapes = (
            (table.n_legs + 1, LEG_F),
            (n_carriers + 1, CARRIER_F),
            (n_stops + 1, STOP_F),
            (n_stops * self.n_ranks + 1, SLOT_F),
            (len(table), ENDPOINT_F),
        )
        """Rows and columns of the blocks, which lie one after the other; the last has a row for every action."""
        self.timed = self._timed()

    def _timed(self) -> TimedPlan:
        """Return the columns that move with the clock. Minutes and hours are the units that the features are in."""
        legs, carriers, stops, slots = (rows - 1 for rows, _ in self.shapes[:-1])
        ends = len(self.table)
        leg, carrier, stop, slot, end = starts_of(self.shapes)
        return TimedPlan(
            (
                Segment("leg", legs, 12 * HOUR, stride=LEG_F, value=leg + TO_PICKUP),
                Segment("age", stops, 10 * MINUTE, -1.0, high=2.0, stride=STOP_F, value=stop + 6),
                Segment("start", slots, 12 * HOUR, stride=SLOT_F, value=slot + 7),
                Segment("end", ends, 10 * MINUTE, -1.0, high=2.0, stride=ENDPOINT_F, value=end + 6),
                Segment("retry", ends, MINUTE, low=0.0, high=2.0, stride=ENDPOINT_F, value=end + 7),
                Segment(
                    "quote",
                    carriers,
                    30 * MINUTE,
                    low=-1.0,
                    high=1.0,
                    stride=CARRIER_F,
                    value=carrier + 2,
                    flag=carrier + 1,
                ),
                Segment("left", stops, 10 * MINUTE, low=0.0, stride=STOP_F, value=stop + 8, flag=stop + 7),
                Segment("held", slots, 10 * MINUTE, low=0.0, stride=SLOT_F, flag=slot + 5),
            )
        )

    def _static_row(self, index: int) -> list[float]:
        a = self.table.actions[index]
        waits = _one_hot(index, MAX_WAITS) if index < self.table.n_waits else [0.0] * MAX_WAITS
        last = a.leg >= 0 and a.leg % self.table.legs_per_order == self.table.legs_per_order - 1
        tail = [float(a.leg >= 0), float(last), float(a.stop == 0), float(a.stop == 1), max(a.rank, a.role, 0) / 4.0]
        return [*(float(verb is self.table.verb[index]) for verb in _VERBS), *waits, *tail]


def _one_hot(index: int, size: int) -> list[float]:
    row = [0.0] * size
    row[index] = 1.0
    return row


def starts_of(shapes: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """Return where each of some blocks begins that lie one after the other."""
    return tuple(sum(rows * columns for rows, columns in shapes[:i]) for i in range(len(shapes)))
