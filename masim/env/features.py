"""Candidate features: what a scorer sees of each legal call, and of the agent's whole situation.

Every number is relative (no vendor, order or dock identity), so a scorer that learns on one campaign acts on another:
who is reliable is in the memory columns alone. A candidate row is the concatenation of blocks: the action itself, its
leg, its carrier, its stop, its slot, and the endpoint it would call; blocks that do not apply are zero.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from masim.arrays import F32, I64
from masim.env.actions import ActionTable
from masim.env.leg_view import PENDING, UNKNOWN, YES, LegView, StopView
from masim.env.recollection import CENTRE
from masim.env.view import AgentView
from masim.memory.features import VENDOR_F
from masim.sim.spec import EXTRA_VERBS, AppointmentType, Verb
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

MEMORY_SCALE = 3.0
"""Memory columns are shares whose differences are a few tenths; scaled, they weigh as much as the one-hot facts."""

_EYE = np.eye(STATES, dtype=np.float32)

VendorFeatures = Callable[[str], F32]
"""``vendor_features(shipper)``: the agent's memory of all carriers, shape (carriers, VENDOR_F)."""


def context_size(table: ActionTable) -> int:
    """Return C, the number of context features: the leg blocks of all legs and the global block."""
    return table.n_legs * LEG_F + GLOBAL_F


def _one_hot(index: int, size: int) -> list[float]:
    row = [0.0] * size
    row[index] = 1.0
    return row


class FeatureBuilder:
    """Builds the rows of a scenario's decisions; holds the static block of every action and where each points.

    Stateless between calls, so one builder serves all agents and sessions of a scenario.
    """

    def __init__(self, table: ActionTable) -> None:
        self.table = table
        self._max_decisions = table.spec.max_decisions
        self._day_s = table.spec.booking_end_s - table.spec.day_start_s
        self._docks = {d.id: d for d in table.spec.docks}
        self._static = np.array([self._static_row(i) for i in range(len(table))], dtype=np.float32)
        n_legs, n_carriers, n_ranks = table.n_legs, table.n_carriers, table.n_ranks
        leg, stop = table.leg, table.stop
        carrier = np.where(table.vendor >= 0, leg * n_carriers + table.vendor, n_legs * n_carriers)
        self._carrier_at = carrier.astype(np.int64)
        self._leg_at = np.where(leg >= 0, leg, n_legs).astype(np.int64)
        place = np.where(stop >= 0, leg * 2 + stop, n_legs * 2)
        self._stop_at = place.astype(np.int64)
        slot = np.where(table.rank >= 0, place * max(n_ranks, 1) + table.rank, n_legs * 2 * max(n_ranks, 1))
        self._slot_at = slot.astype(np.int64)

    def _static_row(self, index: int) -> list[float]:
        a = self.table.actions[index]
        waits = _one_hot(index, MAX_WAITS) if index < self.table.n_waits else [0.0] * MAX_WAITS
        last = a.leg >= 0 and a.leg % self.table.legs_per_order == self.table.legs_per_order - 1
        tail = [float(a.leg >= 0), float(last), float(a.stop == 0), float(a.stop == 1), max(a.rank, a.role, 0) / 4.0]
        return [*(float(verb is self.table.verb[index]) for verb in _VERBS), *waits, *tail]

    def rows(
        self, view: AgentView, legal: I64, clock_s: tuple[float, float], decision: int, memory: VendorFeatures
    ) -> tuple[F32, F32]:
        """Return the (n_legal, F) candidate rows and the (C,) context; ``clock_s`` is (now, start of the day)."""
        now_s, start_s = clock_s
        legs = self._leg_block(view, now_s)
        blocks = (
            self._static[legal],
            legs[self._leg_at[legal]],
            self._carrier_block(view, now_s, memory)[self._carrier_at[legal]],
            self._stop_block(view, now_s)[self._stop_at[legal]],
            self._slot_block(view, now_s)[self._slot_at[legal]],
            self._endpoint_block(view, legal, now_s),
        )
        context = np.concatenate((legs[:-1].ravel(), self._global_block(view, now_s - start_s, decision)))
        return np.concatenate(blocks, axis=1), context

    def _global_block(self, view: AgentView, since_start_s: float, decision: int) -> F32:
        used = decision / self._max_decisions
        day = since_start_s / self._day_s
        code = view.last_code
        kinds = (code == 200 or code == 202, code == 409, code == 429, code >= 500, code == 0)
        return np.array([used, day, *map(float, kinds), float(all(view.declared))], dtype=np.float32)

    def _leg_block(self, view: AgentView, now_s: float) -> F32:
        rows = [self._leg_row(view, i, leg, now_s) for i, leg in enumerate(view.legs)]
        rows.append([0.0] * LEG_F)
        return np.array(rows, dtype=np.float32)

    def _leg_row(self, view: AgentView, index: int, leg: LegView, now_s: float) -> list[float]:
        pickup, delivery = leg.stops
        row = _one_hot(leg.best_tender(), STATES)
        row += _one_hot(leg.dispatch, STATES)
        row += [float(bool((leg.price > 0).any())), float(index == 0)]
        for stop in (pickup, delivery):
            needed = not stop.dock
            row += [float(needed or stop.state == YES), float(stop.state == PENDING), float(stop.state == UNKNOWN)]
        earlier = index % self.table.legs_per_order == 0 or view.legs[index - 1].stops[1].state == YES
        slack = self._delivery_slack_h(leg)
        row += [float(earlier), float(slack < 0.0), min(max(slack, -1.0), 1.0)]
        row.append((leg.plan.pickup_open_s - now_s) / (12 * HOUR))
        return row

    @staticmethod
    def _delivery_slack_h(leg: LegView) -> float:
        pickup, delivery = leg.stops[0].booked, leg.stops[1].booked
        if pickup is None or delivery is None:
            return 0.0
        return (delivery.start_s - pickup.start_s - leg.plan.transit_plan_s) / HOUR

    def _carrier_block(self, view: AgentView, now_s: float, memory: VendorFeatures) -> F32:
        legs, carriers = view.price.shape
        out = np.zeros((legs * carriers + 1, CARRIER_F), dtype=np.float32)
        part = out[:-1].reshape(legs, carriers, CARRIER_F)
        quoted = view.price > 0
        left = (view.quoted_until_s - now_s) / (30 * MINUTE)
        cheapest = np.where(quoted, view.price, np.inf).min(axis=1, keepdims=True)
        part[..., 0] = quoted
        part[..., 1] = quoted & (left > 0)
        part[..., 2] = np.minimum(np.maximum(left, -1.0), 1.0) * quoted
        part[..., 3] = np.where(quoted, view.price / cheapest - 1.0, 0.0)
        part[..., 4] = np.minimum(view.tries, 3) / 3.0
        part[..., 5] = (view.tender == YES).any(axis=1, keepdims=True)
        part[..., 6] = (view.tender == PENDING).any(axis=1, keepdims=True)
        part[..., 7 : 7 + STATES] = _EYE[view.tender]
        for i, leg in enumerate(view.legs):
            part[i, :, 7 + STATES :] = (memory(leg.order.shipper) - CENTRE) * MEMORY_SCALE
        return out

    def _stop_block(self, view: AgentView, now_s: float) -> F32:
        rows = [self._stop_row(stop, now_s) for leg in view.legs for stop in leg.stops]
        rows.append([0.0] * STOP_F)
        return np.array(rows, dtype=np.float32)

    def _stop_row(self, stop: StopView, now_s: float) -> list[float]:
        if not stop.dock:
            return [0.0] * STOP_F
        dock = self._docks[stop.dock]
        held = stop.held is not None and stop.held_until_s > now_s
        left = (stop.held_until_s - now_s) / (10 * MINUTE) if held else 0.0
        age = (now_s - stop.slots_at_s) / (10 * MINUTE) if stop.slots else 0.0
        deferred = dock.type is AppointmentType.DEFERRED
        return [
            *_one_hot(stop.state, STATES),
            len(stop.slots) / 4.0,
            min(age, 2.0),
            float(held),
            left,
            float(dock.hold_ttl_s is not None),
            float(deferred),
            float(bool(stop.slots)),
        ]

    def _slot_block(self, view: AgentView, now_s: float) -> F32:
        n_ranks = max(self.table.n_ranks, 1)
        out = np.zeros((len(view.legs) * 2 * n_ranks + 1, SLOT_F), dtype=np.float32)
        for i, leg in enumerate(view.legs):
            for s, stop in enumerate(leg.stops):
                if stop.slots:
                    earliest = view.earliest_s(i, s)
                    base = (i * 2 + s) * n_ranks
                    for rank, slot in enumerate(stop.slots[:n_ranks]):
                        out[base + rank] = self._slot_row(leg, stop, slot.index, slot.start_s, earliest, now_s, s)
        return out

    @staticmethod
    def _slot_row(
        leg: LegView, stop: StopView, slot: int, start_s: float, earliest_s: float, now_s: float, which: int
    ) -> list[float]:
        slack_h = (start_s - earliest_s) / HOUR
        due_h = (leg.plan.delivery_due_s - start_s - (leg.plan.transit_plan_s if which == 0 else 0.0)) / HOUR
        return [
            1.0,
            min(max(slack_h, -2.0), 4.0) / 2.0,
            float(slack_h < 0.0),
            min(max(due_h, -2.0), 6.0) / 4.0,
            float(due_h < 0.0),
            float(stop.held is not None and stop.held.index == slot and stop.held_until_s > now_s),
            float(stop.booked is not None and stop.booked.index == slot),
            (start_s - now_s) / (12 * HOUR),
            float(slot in stop.refused),
        ]

    def _endpoint_block(self, view: AgentView, legal: I64, now_s: float) -> F32:
        """Return the last end of each candidate's endpoint; all zero where it was never called."""
        ends = view.ends
        out = np.empty((len(legal), ENDPOINT_F), dtype=np.float32)
        out[:, :-2] = ends.kind[legal]
        known = out[:, 0]
        out[:, -2] = np.minimum((now_s - ends.at_s[legal]) / (10 * MINUTE), 2.0) * known
        out[:, -1] = np.clip((ends.retry_at_s[legal] - now_s) / MINUTE, 0.0, 2.0) * known
        return out
