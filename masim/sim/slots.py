"""The slots of a dock's day: when they start, how many places are free, and who may book them now."""

from __future__ import annotations

from masim.sim.clock import Clock
from masim.sim.places import Places
from masim.sim.rules import booking_refusal
from masim.sim.spec import DockSpec
from masim.sim.terms import NO_RULES
from masim.sim.wire import Body, Call, Result, Slot

TAKEN = "slot is taken"


class Slots:
    """One day's slots. Whoever takes a place has asked :meth:`refusal` first."""

    __slots__ = ("_clock", "_day0_s", "_first_s", "_ruled", "extra", "n_slots", "places", "spec")

    def __init__(self, spec: DockSpec, clock: Clock, day0_s: float) -> None:
        self.spec = spec
        self._clock = clock
        self._day0_s = day0_s
        self._first_s = day0_s + spec.open_s
        self._ruled = spec.rules != NO_RULES
        self.n_slots = int((spec.close_s - spec.open_s) / spec.slot_s)
        self.places = Places(self.n_slots, clock)
        self.extra = 0
        """Places that are sold beyond the capacity."""

    def start_s(self, slot: int) -> float:
        """Return when a slot starts."""
        return self._first_s + slot * self.spec.slot_s

    def free(self, slot: int) -> int:
        """Return how many places of a slot are free now."""
        return self.spec.capacity + self.extra - self.places.used[slot]

    def later(self, slot: int, by: int) -> int:
        """Return the first slot with room at least ``by`` after another, -1 when there is none."""
        return next((s for s in range(slot + by, self.n_slots) if self.free(s) > 0), -1)

    def availability(self, call: Call, snapshot_s: float) -> Body:
        """List the first free slots that start late enough, as of a snapshot."""
        used = self.places.used_at(snapshot_s)
        earliest = max(call.not_before_s, self._clock.now)
        found = []
        places = self.spec.capacity + self.extra
        for slot in range(self.n_slots):
            if used[slot] < places and self.start_s(slot) >= earliest and not self._against_rules(slot):
                found.append(Slot(slot, self.start_s(slot)))
                if len(found) == self.spec.slots_per_answer:
                    break
        return Body(Result.SUCCESS, 200, slots=tuple(found))

    def refusal(self, slot: int) -> str:
        """Return why a slot cannot be booked now; empty: it can."""
        return self.no_room(slot) or self._against_rules(slot)

    def no_room(self, slot: int) -> str:
        """Return why a slot cannot be had now whatever the rules say; empty: it can."""
        if not 0 <= slot < self.n_slots:
            return "no such slot"
        if self.start_s(slot) <= self._clock.now:
            return "slot is in the past"
        return "" if self.free(slot) > 0 else TAKEN

    def _against_rules(self, slot: int) -> str:
        if not self._ruled:
            return ""
        return booking_refusal(self.spec.rules, self._day0_s, self.start_s(slot), self._clock.now)
