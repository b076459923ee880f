"""The slots of a dock's day: when they start, how many places are free, and who may book them now."""

from __future__ import annotations

from collections.abc import Mapping

from masim.sim.clock import Clock
from masim.sim.places import Places
from masim.sim.rules import booking_refusal
from masim.sim.spec import DockSpec
from masim.sim.terms import ANY_LOAD, NO_RULES, DockRules
from masim.sim.wire import Body, Call, Result, Slot

TAKEN = "slot is taken"
NO_LOADS: Mapping[str, str] = {}


class Slots:
    """One day's slots. Whoever takes a place has asked :meth:`refusal` first.

    Loads of a type with a capacity of its own share the slot's places with all others and have a count of their own.
    ``load_of`` maps orders to their load types; an order that it does not name goes by the usual rules.
    """

    __slots__ = (
        "_by_load",
        "_clock",
        "_day0_s",
        "_first_s",
        "_load_of",
        "_quotas",
        "_ruled",
        "capacity",
        "extra",
        "n_slots",
        "places",
        "spec",
    )

    def __init__(self, spec: DockSpec, clock: Clock, day0_s: float, load_of: Mapping[str, str] = NO_LOADS) -> None:
        self.spec = spec
        self._load_of = load_of
        self._by_load = {own.load_type: own for own in spec.loads}
        self._clock = clock
        self._day0_s = day0_s
        self._first_s = day0_s + spec.open_s
        self._ruled = spec.rules != NO_RULES or bool(spec.loads)
        self.n_slots = int((spec.close_s - spec.open_s) / spec.slot_s)
        self.capacity = spec.capacity
        """Places per slot for new bookings."""
        self.places = Places(self.n_slots, clock)
        self._quotas = {
            own.load_type: (own.capacity, Places(self.n_slots, clock)) for own in spec.loads if own.capacity is not None
        }
        self.extra = 0
        """Places that are sold beyond the capacity."""

    def start_s(self, slot: int) -> float:
        """Return when a slot starts."""
        return self._first_s + slot * self.spec.slot_s

    def free(self, slot: int, order: str = "") -> int:
        """Return how many places of a slot are free now, for an order if one is named."""
        free = self.capacity + self.extra - self.places.used[slot]
        quota = self._quota(order)
        return free if quota is None else min(free, quota[0] - quota[1].used[slot])

    def take(self, slot: int, delta: int, order: str = "") -> None:
        """Take a place of a slot for an order (1), or give one back (-1); without an order it is another shipper's."""
        self.places.take(slot, delta)
        quota = self._quota(order)
        if quota is not None:
            quota[1].take(slot, delta)

    def _quota(self, order: str) -> tuple[int, Places] | None:
        return self._quotas.get(self._load_of.get(order, ANY_LOAD)) if self._quotas else None

    def later(self, slot: int, by: int, order: str) -> int:
        """Return the first slot with room for an order at least ``by`` after another, -1 when there is none."""
        return next((s for s in range(slot + by, self.n_slots) if self.free(s, order) > 0), -1)

    def rules_for(self, order: str) -> DockRules:
        """Return the rules that hold for an order."""
        own = self._by_load.get(self._load_of.get(order, ANY_LOAD)) if self._by_load else None
        return self.spec.rules if own is None else own.rules

    def cancel_fee_cents(self, order: str) -> int:
        """Return what it costs to cancel an appointment of an order."""
        own = self._by_load.get(self._load_of.get(order, ANY_LOAD)) if self._by_load else None
        return self.spec.cancel_fee_cents if own is None else own.cancel_fee_cents

    def availability(self, call: Call, snapshot_s: float) -> Body:
        """List the first free slots that start late enough, as of a snapshot."""
        used, quota = self.places.used_at(snapshot_s), self._quota(call.order)
        own = None if quota is None else quota[1].used_at(snapshot_s)
        earliest = max(call.not_before_s, self._clock.now)
        found = []
        places = self.capacity + self.extra
        for slot in range(self.n_slots):
            if quota is not None and own is not None and own[slot] >= quota[0]:
                continue
            if used[slot] < places and self.start_s(slot) >= earliest and not self._against_rules(slot, call.order):
                found.append(Slot(slot, self.start_s(slot)))
                if len(found) == self.spec.slots_per_answer:
                    break
        return Body(Result.SUCCESS, 200, slots=tuple(found))

    def refusal(self, slot: int, order: str) -> str:
        """Return why an order cannot book a slot now; empty: it can."""
        return self.no_room(slot, order) or self._against_rules(slot, order)

    def no_room(self, slot: int, order: str) -> str:
        """Return why a slot cannot be had now whatever the rules say; empty: it can."""
        if not 0 <= slot < self.n_slots:
            return "no such slot"
        if self.start_s(slot) <= self._clock.now:
            return "slot is in the past"
        return "" if self.free(slot, order) > 0 else TAKEN

    def _against_rules(self, slot: int, order: str) -> str:
        if not self._ruled:
            return ""
        return booking_refusal(self.rules_for(order), self._day0_s, self.start_s(slot), self._clock.now)
