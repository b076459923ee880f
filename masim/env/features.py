"""Candidate features: what a scorer sees of each legal call, and of the agent's whole situation.

Here is what is the same in every session of a scenario: the layout, the static block, and which row of which block an
action's row shows. The numbers of one agent are in its :class:`masim.env.sheet.Sheet`.

Every number is relative (no vendor, order or dock identity), so a scorer that learns on one campaign acts on another:
who is reliable is in the memory columns alone. A candidate row is the concatenation of blocks: the action itself, its
leg, its carrier, its stop, its slot, and the endpoint it would call; blocks that do not apply are zero.
"""

from __future__ import annotations

import numpy as np

from masim.arrays import I64
from masim.env.actions import ActionTable
from masim.env.legality import Legality
from masim.env.timed import Segment, TimedPlan
from masim.memory.features import VENDOR_F
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

LEG_0 = STATIC_F
CARRIER_0 = LEG_0 + LEG_F
STOP_0 = CARRIER_0 + CARRIER_F
SLOT_0 = STOP_0 + STOP_F
ENDPOINT_0 = SLOT_0 + SLOT_F
"""First columns of the blocks of a row."""
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
        stop_of = np.where(table.stop >= 0, table.leg * 2 + table.stop, -1)
        carrier_of = np.where(table.vendor >= 0, table.leg * table.n_carriers + table.vendor, -1)
        slot_of = np.where(table.rank >= 0, stop_of * self.n_ranks + table.rank, -1)
        self.of_carriers = _pairs(carrier_of)
        """(actions with a carrier, row of each in the block of all legs' carriers)."""
        self.of_leg = tuple(np.flatnonzero(table.leg == i) for i in range(table.n_legs))
        """Actions by leg."""
        self.carriers_of_leg = tuple(_pairs(np.where(table.leg == i, table.vendor, -1)) for i in range(table.n_legs))
        """(actions with a carrier, the carrier) by leg."""
        self.of_stop = tuple(np.flatnonzero(stop_of == p) for p in range(2 * table.n_legs))
        """Actions by stop; stops are counted over all legs, pickups even."""
        self.slots_of_stop = tuple(_pairs(np.where(stop_of == p, table.rank, -1)) for p in range(2 * table.n_legs))
        """(actions with a slot, its rank) by stop."""
        self.timed = self._timed(carrier_of, stop_of, slot_of)

    def _timed(self, carrier_of: I64, stop_of: I64, slot_of: I64) -> TimedPlan:
        """Return the columns that move with the clock. Minutes and hours are the units that the features are in."""
        table, k = self.table, len(self.table)
        stops, slots = 2 * table.n_legs, 2 * table.n_legs * self.n_ranks
        every = np.arange(k)
        return TimedPlan(
            (
                Segment("leg", table.n_legs, 12 * HOUR, shown=((table.leg, LEG_0 + TO_PICKUP),)),
                Segment("age", stops, 10 * MINUTE, -1.0, high=2.0, shown=((stop_of, STOP_0 + 6),)),
                Segment("start", slots, 12 * HOUR, shown=((slot_of, SLOT_0 + 7),)),
                Segment("end", k, 10 * MINUTE, -1.0, high=2.0, shown=((every, ENDPOINT_0 + 6),)),
                Segment("retry", k, MINUTE, low=0.0, high=2.0, shown=((every, ENDPOINT_0 + 7),)),
                Segment(
                    "quote",
                    table.n_legs * table.n_carriers,
                    30 * MINUTE,
                    low=-1.0,
                    high=1.0,
                    shown=((carrier_of, CARRIER_0 + 2),),
                    flag=CARRIER_0 + 1,
                ),
                Segment("left", stops, 10 * MINUTE, low=0.0, shown=((stop_of, STOP_0 + 8),), flag=STOP_0 + 7),
                Segment("held", slots, 10 * MINUTE, low=0.0, flag=SLOT_0 + 5, flag_of=slot_of),
            ),
            ROW_F,
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


def _pairs(of: I64) -> tuple[I64, I64]:
    """Return the actions that have a row in a block, and which."""
    actions = np.flatnonzero(of >= 0)
    return actions, of[actions]
