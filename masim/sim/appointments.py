"""Docks: slots, holds and the appointment state machine of the Scheduling Standards Consortium.

A slot never holds more than its capacity: confirmed and pending appointments, holds and other shippers' bookings are
counted together. While a reschedule is pending the old slot stays held. Holds expire exactly once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapreplace

from masim.sim.clock import Clock
from masim.sim.past import Dated
from masim.sim.rules import booking_refusal, change_refusal, fee_is_due
from masim.sim.spec import AppointmentType, DockSpec, Status
from masim.sim.terms import NO_RULES
from masim.sim.wire import Body, Call, Result, Slot

TAKEN = "slot is taken"
DECISION_PENDING = "decision pending"
OPEN_STATES = (Status.PENDING, Status.CONFIRMED, Status.UNCONFIRMED)


@dataclass(slots=True)
class Appointment(Dated):
    """One appointment: born PENDING or CONFIRMED, ends CONFIRMED, REJECTED or CANCELED."""

    id: int
    dock: str
    order: str
    leg: int
    stop: str
    slot: int
    agent: str


@dataclass(slots=True)
class Hold:
    """A slot kept for one stop of one leg until it expires or is used."""

    key: tuple[str, int, str]
    slot: int
    expires_s: float
    live: bool = True
    """False once it was used or released, and while it is kept without an end for a request under decision."""


class Dock:
    """One dock operator's day."""

    __slots__ = (
        "_by_stop",
        "_clock",
        "_day0_s",
        "_first_s",
        "_log",
        "_ramps_s",
        "_ruled",
        "_used",
        "appointments",
        "extra",
        "holds",
        "moves",
        "n_slots",
        "spec",
    )

    def __init__(self, spec: DockSpec, clock: Clock, day0_s: float) -> None:
        self.spec = spec
        self._clock = clock
        self._day0_s = day0_s
        self._first_s = day0_s + spec.open_s
        self._ruled = spec.rules != NO_RULES
        self.n_slots = int((spec.close_s - spec.open_s) / spec.slot_s)
        self._used = [0] * self.n_slots
        self.extra = 0
        """Places that are sold beyond the capacity."""
        self._log: list[tuple[float, int, int]] = []
        self.appointments: list[Appointment] = []
        self._by_stop: dict[tuple[str, int, str], list[Appointment]] = {}
        self.holds: dict[tuple[str, int, str], Hold] = {}
        self.moves: dict[tuple[str, int, str], tuple[Appointment, int]] = {}
        """Changes under decision: the appointment, which keeps its slot meanwhile, and where it shall go."""
        self._ramps_s = [self._first_s] * spec.capacity
        """When each ramp of a dock without appointments is free next."""

    def start_s(self, slot: int) -> float:
        """Return when a slot starts."""
        return self._first_s + slot * self.spec.slot_s

    def free(self, slot: int) -> int:
        """Return how many places of a slot are free now."""
        return self.spec.capacity + self.extra - self._used[slot]

    def _take(self, slot: int, delta: int) -> None:
        self._used[slot] += delta
        self._log.append((self._clock.now, slot, delta))

    def background(self, slot: int) -> None:
        """Another shipper books, if there is room; where nobody books, its truck comes at that time."""
        if self.spec.type is AppointmentType.FCFS:
            self._clock.at(self.start_s(slot), self._others_truck)
            return
        if self.free(slot) > 0:
            self._take(slot, 1)

    def _others_truck(self) -> None:
        self.queue()

    def queue(self) -> float:
        """Let a truck that is here now queue for a ramp; return when it is served, -1 when that is after closing."""
        start = max(self._clock.now, self._ramps_s[0])
        if start + self.spec.slot_s > self._day0_s + self.spec.close_s:
            return -1.0
        heapreplace(self._ramps_s, start + self.spec.slot_s)
        return start

    def changed_since(self, t_s: float) -> bool:
        """Return whether any place was taken or given back after a moment."""
        return bool(self._log) and self._log[-1][0] > t_s

    def used_at(self, t_s: float) -> list[int]:
        """Return the places taken per slot as they were at ``t_s``, for reads from an old snapshot."""
        used = list(self._used)
        for when, slot, delta in reversed(self._log):
            if when <= t_s:
                break
            used[slot] -= delta
        return used

    def availability(self, call: Call, snapshot_s: float) -> Body:
        """List the first free slots that start late enough, as of a snapshot."""
        used = self.used_at(snapshot_s)
        earliest = max(call.not_before_s, self._clock.now)
        found = []
        places = self.spec.capacity + self.extra
        for slot in range(self.n_slots):
            if used[slot] < places and self.start_s(slot) >= earliest and not self._against_rules(slot):
                found.append(Slot(slot, self.start_s(slot)))
                if len(found) == self.spec.slots_per_answer:
                    break
        return Body(Result.SUCCESS, 200, slots=tuple(found))

    def hold(self, call: Call) -> Body:
        """Keep a slot for a stop; a new hold of the same stop replaces the old one, a refused one leaves it."""
        ttl = self.spec.hold_ttl_s
        if ttl is None:
            return Body(Result.FAILURE, 405, problem="this dock has no holds")
        key = (call.order, call.leg, call.stop.value)
        held = self.holds.get(key)
        if held is not None and not held.live:
            return Body(Result.FAILURE, 409, problem=DECISION_PENDING)
        problem = self._refusal_of(call.slot, held)
        if problem:
            return Body(Result.FAILURE, 409, problem=problem)
        self._release(key)
        hold = Hold(key, call.slot, self._clock.now + ttl)
        self.holds[key] = hold
        self._take(call.slot, 1)
        self._clock.at(hold.expires_s, self._expire, hold)
        return Body(Result.SUCCESS, 200, slot=Slot(call.slot, self.start_s(call.slot)), expires_s=hold.expires_s)

    def _expire(self, hold: Hold) -> None:
        if hold.live:
            self._release(hold.key)

    def lapse(self, key: tuple[str, int, str]) -> bool:
        """End a stop's hold now, whatever was promised; return whether there was one."""
        return self._release(key)

    def _release(self, key: tuple[str, int, str]) -> bool:
        hold = self.holds.pop(key, None)
        if hold is None:
            return False
        hold.live = False
        self._take(hold.slot, -1)
        return True

    def _against_rules(self, slot: int) -> str:
        if not self._ruled:
            return ""
        return booking_refusal(self.spec.rules, self._day0_s, self.start_s(slot), self._clock.now)

    def _refusal(self, slot: int) -> str:
        return self._no_room(slot) or self._against_rules(slot)

    def _no_room(self, slot: int) -> str:
        if not 0 <= slot < self.n_slots:
            return "no such slot"
        if self.start_s(slot) <= self._clock.now:
            return "slot is in the past"
        return "" if self.free(slot) > 0 else TAKEN

    def _refusal_of(self, slot: int, held: Hold | None) -> str:
        """As :meth:`_refusal`, for a stop whose own hold is no obstacle."""
        problem = self._refusal(slot)
        return "" if problem == TAKEN and held is not None and held.slot == slot else problem

    def schedule(self, call: Call, appointment_id: int, agent: str) -> tuple[Body, Appointment | None]:
        """Book a slot: at once, or as PENDING where the dock decides later.

        A pending request reserves nothing unless the stop holds the slot; that is what holds are for.
        """
        held = self.holds.get((call.order, call.leg, call.stop.value))
        own = held is not None and held.slot == call.slot
        problem = "" if own else self._refusal(call.slot)
        if problem:
            return Body(Result.FAILURE, 409, problem=problem), None
        made = Appointment(
            appointment_id,
            self.spec.id,
            call.order,
            call.leg,
            call.stop.value,
            call.slot,
            agent,
            status=Status.PENDING,
            made_s=self._clock.now,
        )
        self.appointments.append(made)
        self._by_stop.setdefault((made.order, made.leg, made.stop), []).append(made)
        place = Slot(call.slot, self.start_s(call.slot))
        if self.spec.type is AppointmentType.DEFERRED:
            if own and held is not None:
                self._keep_until_decision(held)
            return self._pending(place, f"{self.spec.id}/a{appointment_id}"), made
        if own and held is not None:
            self._release(held.key)
        self._take(call.slot, 1)
        confirm_later = self.spec.type is AppointmentType.CARRIER_CONFIRMATION_REQUIRED
        made.status = Status.UNCONFIRMED if confirm_later else Status.CONFIRMED
        return Body(Result.SUCCESS, 200, made.status, slot=place), made

    def _pending(self, place: Slot, number: str) -> Body:
        wait = self.spec.terms.retry_after_s
        return Body(Result.PENDING, 202, Status.PENDING, slot=place, retry_after_s=wait, request=number)

    def _keep_until_decision(self, hold: Hold) -> None:
        """A held slot under decision does not lapse: the hold is renewed without an end."""
        hold.live = False
        self.holds[hold.key] = Hold(hold.key, hold.slot, float("inf"), live=False)

    def decide(self, made: Appointment) -> None:
        """Decide a pending request: confirmed when its slot is held for it or still free, else rejected."""
        if made.status is not Status.PENDING:
            return
        key = (made.order, made.leg, made.stop)
        held = self.holds.get(key)
        if held is not None and held.slot == made.slot:
            self._release(key)
        elif self._no_room(made.slot):
            made.become(Status.REJECTED, self._clock.now)
            return
        self._take(made.slot, 1)
        made.become(Status.CONFIRMED, self._clock.now)

    def reject(self, made: Appointment) -> None:
        """Turn a request down, whatever room there is."""
        if made.status is Status.UNCONFIRMED:
            self._take(made.slot, -1)
        self._release((made.order, made.leg, made.stop))
        made.become(Status.REJECTED, self._clock.now)

    def later(self, slot: int, by: int) -> int:
        """Return the first slot with room at least ``by`` after another, -1 when there is none."""
        return next((s for s in range(slot + by, self.n_slots) if self.free(s) > 0), -1)

    def put_off(self, made: Appointment, by: int) -> bool:
        """Move an open appointment to a later slot with room; return whether there was one."""
        slot = self.later(made.slot, by)
        if slot < 0:
            return False
        if made.status is Status.PENDING:
            self._release((made.order, made.leg, made.stop))
        else:
            self._take(slot, 1)
            self._take(made.slot, -1)
        made.slot = slot
        return True

    def turns_away(self, made: Appointment) -> bool:
        """Return whether a slot was sold beyond its capacity and this is one of its last bookings."""
        over = self._used[made.slot] - self.spec.capacity
        if over <= 0:
            return False
        booked = [a for a in self.appointments if a.slot == made.slot and a.confirmed]
        return any(a is made for a in booked[-over:])

    def withdraw(self, made: Appointment) -> None:
        """Take a confirmed appointment back; its place is free again."""
        self._take(made.slot, -1)
        made.become(Status.CANCELED, self._clock.now)

    def confirm_until_s(self, made: Appointment) -> float:
        """Return until when an unconfirmed appointment must be confirmed."""
        return self.start_s(made.slot) - (self.spec.rules.confirm_by_s or 0.0)

    def confirm_stop(self, call: Call) -> Body:
        """Confirm the newest open appointment of a stop; to confirm it again changes nothing."""
        open_ones = self.find(call)
        if not open_ones:
            return Body(Result.FAILURE, 404, problem="no appointment to confirm")
        made = open_ones[-1]
        self.confirm(made)
        return Body(Result.SUCCESS, 200, made.status, slot=Slot(made.slot, self.start_s(made.slot)))

    def confirm(self, made: Appointment) -> None:
        """The carrier confirms an UNCONFIRMED appointment."""
        if made.status is Status.UNCONFIRMED:
            made.become(Status.CONFIRMED, self._clock.now)

    def find(self, call: Call) -> list[Appointment]:
        """Return the open appointments of a stop, oldest first."""
        return [a for a in self.of_stop(call.order, call.leg, call.stop) if a.status in OPEN_STATES]

    def of_stop(self, order: str, leg: int, stop: str) -> Sequence[Appointment]:
        """Return every appointment that was ever made for a stop, oldest first."""
        return self._by_stop.get((order, leg, stop), ())

    def reschedule(self, call: Call) -> Body:
        """Move the newest open appointment of a stop; the old slot stays until the new one is sure."""
        open_ones = self.find(call)
        if not open_ones:
            return Body(Result.FAILURE, 404, problem="no appointment to move")
        key = (call.order, call.leg, call.stop.value)
        held = self.holds.get(key)
        problem = self._refusal_of(call.slot, held)
        if problem:
            return Body(Result.FAILURE, 409, open_ones[-1].status, problem=problem)
        made = open_ones[-1]
        if made.status is Status.PENDING or key in self.moves:
            return Body(Result.FAILURE, 409, Status.PENDING, problem=DECISION_PENDING)
        problem = change_refusal(self.spec.rules, self.start_s(made.slot), self._clock.now) if self._ruled else ""
        if problem:
            return Body(Result.FAILURE, 409, made.status, problem=problem)
        if self.spec.rules.changes_decided:
            return self._ask_to_move(made, call.slot, held)
        if held is not None and held.slot == call.slot:
            self._release(key)
        self._take(call.slot, 1)
        self._take(made.slot, -1)
        made.slot = call.slot
        return Body(Result.SUCCESS, 200, made.status, slot=Slot(call.slot, self.start_s(call.slot)))

    def _ask_to_move(self, made: Appointment, slot: int, held: Hold | None) -> Body:
        """Take a change under decision; the old slot stays, the new one is kept only where it is held."""
        if held is not None and held.slot == slot:
            self._keep_until_decision(held)
        self.moves[made.order, made.leg, made.stop] = (made, slot)
        return self._pending(Slot(slot, self.start_s(slot)), f"{self.spec.id}/a{made.id}-change")

    def decide_move(self, made: Appointment, granted: bool) -> bool:
        """Decide a change; return whether the appointment moved. One that was cancelled meanwhile does not."""
        key = (made.order, made.leg, made.stop)
        if self.moves.get(key, (None, 0))[0] is not made:
            return False
        _, slot = self.moves.pop(key)
        held = self.holds.get(key)
        own = held is not None and held.slot == slot and self._release(key)
        alive = made.status in (Status.CONFIRMED, Status.UNCONFIRMED)
        if not alive or not granted or (not own and self._no_room(slot)):
            return False
        self._take(slot, 1)
        self._take(made.slot, -1)
        made.slot = slot
        return True

    def cancel(self, call: Call) -> tuple[Body, int]:
        """Cancel all open appointments of a stop; return the answer and for how many the fee is due."""
        open_ones = self.find(call)
        now, rules = self._clock.now, self.spec.rules
        due = sum(fee_is_due(rules, self.start_s(a.slot), now) for a in open_ones)
        self.moves.pop((call.order, call.leg, call.stop.value), None)
        for made in open_ones:
            if made.status is not Status.PENDING:
                self._take(made.slot, -1)
            made.become(Status.CANCELED, self._clock.now)
        self._release((call.order, call.leg, call.stop.value))
        if not open_ones:
            return Body(Result.FAILURE, 404, problem="no appointment to cancel"), 0
        return Body(Result.SUCCESS, 200, Status.CANCELED), due

    def details(self, call: Call, snapshot_s: float) -> Body:
        """Say what is booked for a stop as of a snapshot: the newest open appointment, or how the last one ended."""
        made = [a for a in self.of_stop(call.order, call.leg, call.stop) if a.made_s <= snapshot_s]
        said = [a.status_at(snapshot_s) for a in made]
        for appointment, status in zip(reversed(made), reversed(said), strict=True):
            if status in OPEN_STATES:
                slot = Slot(appointment.slot, self.start_s(appointment.slot))
                return Body(Result.SUCCESS, 200, status, slot=slot)
        return Body(Result.SUCCESS, 200, said[-1] if said else Status.NOT_SCHEDULED)
