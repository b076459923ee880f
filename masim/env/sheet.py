"""One agent's candidate rows, kept up to date from decision to decision.

A sheet has the blocks that rows are put together from: a row per leg, carrier, stop and slot, and per action for the
ends of calls. Most numbers change only when the agent is told something, so each row is rebuilt when what it is made of
has changed (compared, not announced: whoever changes a view need not know of its sheet), and the columns that move with
the clock are written at every decision. The rows of all K actions would be ten times as large, and with many agents
never in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from masim.arrays import F32, I64
from masim.env.ends import KINDS, Ends
from masim.env.features import (
    CARRIER_F,
    GLOBAL_F,
    SLOT_F,
    STATES,
    STOP_F,
    FeatureBuilder,
    starts_of,
)
from masim.env.leg_view import PENDING, UNKNOWN, YES, LegView, StopView
from masim.env.recollection import CENTRE
from masim.env.timed import Timed
from masim.env.view import AgentView
from masim.sim.spec import AppointmentType
from masim.units import HOUR

MEMORY_SCALE = 3.0
"""Memory columns are shares whose differences are a few tenths; scaled, they weigh as much as the one-hot facts."""
MEMORY_0 = 7 + STATES
"""First memory column of a carrier's block."""
NEVER_S = 1e12
"""A time for entries that do not count: far ahead, so that what is switched off is +0."""
_ONE_HOT = tuple(tuple(float(i == state) for i in range(STATES)) for state in range(STATES))
_EYE = np.eye(STATES, dtype=np.float32)
_NO_STOP = (0.0,) * STOP_F

VendorFeatures = Callable[[str], F32]
"""``vendor_features(shipper)``: the agent's memory of all carriers, shape (carriers, VENDOR_F)."""


class Sheet:
    """The rows of one agent. It follows whatever view it is shown; a fresh sheet gives the same numbers."""

    __slots__ = (
        "_carriers",
        "_end_rows",
        "_ends",
        "_flat",
        "_form",
        "_legs",
        "_memories",
        "_noted",
        "_seen_carriers",
        "_seen_legs",
        "_seen_stops",
        "_slots",
        "_stops",
        "_timed",
    )

    def __init__(self, form: FeatureBuilder) -> None:
        table = form.table
        self._form = form
        self._flat = np.zeros(sum(rows * columns for rows, columns in form.shapes), dtype=np.float32)
        legs, carriers, stops, slots, self._end_rows = _blocks(self._flat, form)
        self._legs, self._carriers, self._stops, self._slots = legs, carriers, stops, slots
        self._timed = Timed(form.timed)
        self._ends: Ends | None = None
        self._noted = 0
        self._seen_carriers: tuple[bytes, ...] = ()
        self._seen_legs: list[object] = [None] * table.n_legs
        self._seen_stops: list[object] = [None] * (2 * table.n_legs)
        self._memories: list[F32 | None] = [None] * table.n_legs

    def arrays(
        self, view: AgentView, legal: I64, clock_s: tuple[float, float], decision: int, memory: VendorFeatures
    ) -> tuple[F32, F32]:
        """Return the (n_legal, F) candidate rows and the (C,) context; ``clock_s`` is (now, start of the day)."""
        now_s, start_s = clock_s
        self._follow(view, memory)
        self._timed.move(now_s, self._flat)
        known = self._legs[:-1].reshape(-1)
        context = np.empty(known.size + GLOBAL_F, dtype=np.float32)
        context[:-GLOBAL_F] = known
        context[-GLOBAL_F:] = self._situation(view, now_s - start_s, decision)
        return self._rows(legal), context

    def _rows(self, legal: I64) -> F32:
        blocks, places = (self._legs, self._carriers, self._stops, self._slots), self._form.row_of
        parts = [block.take(row_of.take(legal), axis=0) for block, row_of in zip(blocks, places, strict=True)]
        return np.concatenate((self._form.static.take(legal, 0), *parts, self._end_rows.take(legal, 0)), axis=1)

    def _situation(self, view: AgentView, since_start_s: float, decision: int) -> tuple[float, ...]:
        code = view.last_code
        kinds = (code == 200 or code == 202, code == 409, code == 429, code >= 500, code == 0)
        return decision / self._form.max_decisions, since_start_s / self._form.day_s, *kinds, all(view.declared)

    def _follow(self, view: AgentView, memory: VendorFeatures) -> None:
        """Rebuild the parts whose ground has changed."""
        self._follow_ends(view.ends)
        money = (view.price.tobytes(), view.quoted_until_s.tobytes(), view.tender.tobytes(), view.tries.tobytes())
        told = money != self._seen_carriers
        if told:
            self._seen_carriers = money
            self._follow_carriers(view)
        booked_before = True
        for i, leg in enumerate(view.legs):
            first = i % self._form.table.legs_per_order == 0
            self._follow_leg(view, i, leg, first or booked_before, told)
            known = memory(leg.order.shipper)
            if known is not self._memories[i]:
                self._memories[i] = known
                self._follow_memory(i, known)
            booked_before = leg.stops[1].state == YES

    def _follow_ends(self, ends: Ends) -> None:
        """Show the last end of each candidate's endpoint; all zero where it was never called."""
        part, timed = self._end_rows[:, :KINDS], self._timed
        if ends is not self._ends:
            self._ends, self._noted = ends, 0
            part[:] = ends.kind
            known = ends.kind[:, 0]
            timed.fill("end", ends.at_s, known)
            timed.fill("retry", ends.retry_at_s, known)
        for where in ends.noted[self._noted :]:
            part[where] = ends.kind[where]
            known = ends.kind[where, 0]
            timed.some("end", where, ends.at_s[where], known)
            timed.some("retry", where, ends.retry_at_s[where], known)
        self._noted = len(ends.noted)

    def _follow_carriers(self, view: AgentView) -> None:
        price, tender = view.price, view.tender
        quoted = price > 0
        cheapest = np.where(quoted, price, np.inf).min(axis=1, keepdims=True)
        part = self._carriers[:-1].reshape(*price.shape, CARRIER_F)
        part[..., 0] = quoted
        part[..., 3] = np.where(quoted, price / cheapest - 1.0, 0.0)
        part[..., 4] = np.minimum(view.tries, 3) / 3.0
        part[..., 5] = (tender == YES).any(axis=1, keepdims=True)
        part[..., 6] = (tender == PENDING).any(axis=1, keepdims=True)
        part[..., 7:MEMORY_0] = _EYE[tender]
        self._timed.fill("quote", view.quoted_until_s.reshape(-1), quoted.reshape(-1))

    def _follow_memory(self, i: int, known: F32) -> None:
        n = self._form.table.n_carriers
        self._carriers[i * n : (i + 1) * n, MEMORY_0:] = (known - CENTRE) * MEMORY_SCALE

    def _follow_leg(self, view: AgentView, i: int, leg: LegView, earlier: bool, told: bool) -> None:
        a, b = leg.stops
        seen = (
            *(leg.plan, leg.dispatch, earlier, view.legs[i - 1].stops[1].booked),
            *(a.dock, a.state, a.slots, a.slots_at_s, a.held, a.held_until_s, a.booked, a.refused),
            *(b.dock, b.state, b.slots, b.slots_at_s, b.held, b.held_until_s, b.booked, b.refused),
        )
        same = seen == self._seen_legs[i]
        if same and not told:
            return
        self._seen_legs[i] = seen
        self._legs[i] = _leg_row(leg, i == 0, earlier)
        self._timed.put("leg", i, leg.plan.pickup_open_s)
        if not same:
            self._follow_stop(view, (i, 0), a, seen[4:12])
            self._follow_stop(view, (i, 1), b, seen[12:])

    def _follow_stop(self, view: AgentView, place: tuple[int, int], stop: StopView, ground: tuple[object, ...]) -> None:
        p, leg = 2 * place[0] + place[1], view.legs[place[0]]
        earliest_s = view.earliest_s(*place)
        seen = (leg.plan, earliest_s, *ground)
        if seen == self._seen_stops[p]:
            return
        self._seen_stops[p] = seen
        self._stops[p] = self._stop_row(stop)
        self._timed.put("age", p, stop.slots_at_s, bool(stop.slots and stop.dock))
        self._timed.put("left", p, stop.held_until_s, stop.held is not None and bool(stop.dock))
        self._follow_slots(p, leg, stop, earliest_s)

    def _stop_row(self, stop: StopView) -> tuple[float, ...]:
        """Return what does not move with the clock; the age of the list and the time left of the hold do."""
        if not stop.dock:
            return _NO_STOP
        dock = self._form.docks[stop.dock]
        offers, deferred = dock.hold_ttl_s is not None, dock.type is AppointmentType.DEFERRED
        return *_ONE_HOT[stop.state], len(stop.slots) / 4.0, 0.0, 0.0, 0.0, offers, deferred, bool(stop.slots)

    def _follow_slots(self, p: int, leg: LegView, stop: StopView, earliest_s: float) -> None:
        n = self._form.n_ranks
        rows = np.zeros((n, SLOT_F), dtype=np.float32)
        timed, held = self._timed, -1 if stop.held is None else stop.held.index
        for rank in range(n):
            if rank < len(stop.slots):
                slot = stop.slots[rank]
                rows[rank] = _slot_row(leg, stop, slot.index, slot.start_s, earliest_s, p % 2)
                timed.put("start", p * n + rank, slot.start_s)
                timed.put("held", p * n + rank, stop.held_until_s, slot.index == held)
            else:
                timed.put("start", p * n + rank, NEVER_S, on=False)
                timed.put("held", p * n + rank, 0.0, on=False)
        self._slots[p * n : (p + 1) * n] = rows


def _blocks(flat: F32, form: FeatureBuilder) -> list[F32]:
    """Return the blocks of a flat array as views."""
    starts = starts_of(form.shapes)
    return [flat[at : at + shape[0] * shape[1]].reshape(shape) for at, shape in zip(starts, form.shapes, strict=True)]


def _leg_row(leg: LegView, first: bool, earlier: bool) -> tuple[float, ...]:
    """Return what does not move with the clock; the last number, the time to the pickup, does."""
    pickup, delivery = leg.stops
    slack = _delivery_slack_h(leg)
    return (
        *_ONE_HOT[leg.best_tender()],
        *_ONE_HOT[leg.dispatch],
        *(leg.quoted(), first),
        *(not pickup.dock or pickup.state == YES, pickup.state == PENDING, pickup.state == UNKNOWN),
        *(not delivery.dock or delivery.state == YES, delivery.state == PENDING, delivery.state == UNKNOWN),
        *(earlier, slack < 0.0, min(max(slack, -1.0), 1.0), 0.0),
    )


def _delivery_slack_h(leg: LegView) -> float:
    pickup, delivery = leg.stops[0].booked, leg.stops[1].booked
    if pickup is None or delivery is None:
        return 0.0
    return (delivery.start_s - pickup.start_s - leg.plan.transit_plan_s) / HOUR


def _slot_row(
    leg: LegView, stop: StopView, slot: int, start_s: float, earliest_s: float, which: int
) -> tuple[float, ...]:
    """Return what does not move with the clock; whether the slot is held and the time to its start do."""
    slack_h = (start_s - earliest_s) / HOUR
    due_h = (leg.plan.delivery_due_s - start_s - (leg.plan.transit_plan_s if which == 0 else 0.0)) / HOUR
    return (
        1.0,
        min(max(slack_h, -2.0), 4.0) / 2.0,
        slack_h < 0.0,
        min(max(due_h, -2.0), 6.0) / 4.0,
        due_h < 0.0,
        0.0,
        stop.booked is not None and stop.booked.index == slot,
        0.0,
        slot in stop.refused,
    )
