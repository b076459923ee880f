"""Docks that are booked: what a request for a slot does to places, holds and appointments.

A slot never holds more than its capacity: confirmed and pending appointments, holds and other shippers' bookings are
counted together. While a reschedule is pending the old slot stays held. Holds expire exactly once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from masim.sim.appointments import OPEN_STATES, Appointment, Book
from masim.sim.clock import Clock
from masim.sim.holds import Hold, Holds, Key
from masim.sim.ramps import Ramps
from masim.sim.rules import change_refusal, fee_is_due
from masim.sim.slots import NO_LOADS, TAKEN, Slots
from masim.sim.spec import AppointmentType, DockSpec, Status
from masim.sim.wire import Body, Call, Result, Slot

DECISION_PENDING = "decision pending"


class Dock(Slots):
    """One dock operator's day."""

    __slots__ = ("_ramps", "_slower", "book", "holds", "moves", "walk_in")

    def __init__(self, spec: DockSpec, clock: Clock, day0_s: float, load_of: Mapping[str, str] = NO_LOADS) -> None:
        super().__init__(spec, clock, day0_s, load_of)
        self._slower = 1.0
        self.walk_in = spec.type is AppointmentType.FCFS
        """Whether nobody books: trucks queue as they come."""
        self.book = Book()
        self.holds = Holds(clock, self.take)
        self.moves: dict[Key, tuple[Appointment, int]] = {}
        """Changes under decision: the appointment, which keeps its slot meanwhile, and where it shall go."""
        self._ramps = Ramps(spec.capacity, self._first_s, day0_s + spec.close_s, spec.slot_s)

    @property
    def appointments(self) -> Sequence[Appointment]:
        """Every appointment that was ever made, oldest first."""
        return self.book.made

    def of_stop(self, order: str, leg: int, stop: str) -> Sequence[Appointment]:
        """Return every appointment that was ever made for a stop, oldest first."""
        return self.book.of_stop(order, leg, stop)

    def find(self, call: Call) -> list[Appointment]:
        """Return the open appointments of a stop, oldest first."""
        return self.book.find(call)

    def background(self, slot: int) -> None:
        """Another shipper books, if there is room; where nobody books, its truck comes at that time."""
        if self.spec.type is AppointmentType.FCFS:
            self._clock.at(self.start_s(slot), self._others_truck)
            return
        if self.free(slot) > 0:
            self.take(slot, 1)

    def _others_truck(self) -> None:
        self.queue()

    def queue(self) -> float:
        """Let a truck that is here now queue for a ramp; return when it is served, -1 when that is after closing."""
        return self._ramps.queue(self._clock.now)

    def decline(self) -> None:
        """Degrade: from now on it has fewer places and takes longer; what is booked stays booked."""
        worse = self.spec.decline
        self._slower = worse.slower
        if worse.capacity is not None:
            self.capacity = worse.capacity
            self._ramps.keep(worse.capacity)

    def decision_delay_s(self, u: float) -> float:
        """Return how long a decision takes, from a uniform."""
        return self._slower * self.spec.decision_delay.ppf(u)

    def dwell_s(self, order: str, u: float) -> float:
        """Return how long a truck with an order is loaded or unloaded, from a uniform."""
        dwell = self.rules_for(order).dwell
        return 0.0 if dwell is None else self._slower * dwell.ppf(u)

    def hold(self, call: Call) -> Body:
        """Keep a slot for a stop; a new hold of the same stop replaces the old one, a refused one leaves it."""
        ttl = self.spec.hold_ttl_s
        if ttl is None:
            return Body(Result.FAILURE, 405, problem="this dock has no holds")
        key = (call.order, call.leg, call.stop.value)
        held = self.holds.get(key)
        if held is not None and not held.live:
            return Body(Result.FAILURE, 409, problem=DECISION_PENDING)
        problem = self._refusal_of(call, held)
        if problem:
            return Body(Result.FAILURE, 409, problem=problem)
        hold = self.holds.keep(key, call.slot, ttl)
        return Body(Result.SUCCESS, 200, slot=Slot(call.slot, self.start_s(call.slot)), expires_s=hold.expires_s)

    def lapse(self, key: Key) -> bool:
        """End a stop's hold now, whatever was promised; return whether there was one."""
        return self.holds.release(key)

    def _refusal_of(self, call: Call, held: Hold | None) -> str:
        """As :meth:`refusal`, for a stop whose own hold is no obstacle."""
        problem = self.refusal(call.slot, call.order)
        return "" if problem == TAKEN and held is not None and held.slot == call.slot else problem

    def schedule(self, call: Call, appointment_id: int, agent: str) -> tuple[Body, Appointment | None]:
        """Book a slot: at once, or as PENDING where the dock decides later.

        A pending request reserves nothing unless the stop holds the slot; that is what holds are for.
        """
        held = self.holds.get((call.order, call.leg, call.stop.value))
        own = held is not None and held.slot == call.slot
        problem = "" if own else self.refusal(call.slot, call.order)
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
        self.book.enter(made)
        place = Slot(call.slot, self.start_s(call.slot))
        if self.spec.type is AppointmentType.DEFERRED:
            if own and held is not None:
                self.holds.keep_until_decision(held)
            return self._pending(place, f"{self.spec.id}/a{appointment_id}"), made
        if own and held is not None:
            self.holds.release(held.key)
        self.take(call.slot, 1, call.order)
        confirm_later = self.spec.type is AppointmentType.CARRIER_CONFIRMATION_REQUIRED
        made.status = Status.UNCONFIRMED if confirm_later else Status.CONFIRMED
        return Body(Result.SUCCESS, 200, made.status, slot=place), made

    def _pending(self, place: Slot, number: str) -> Body:
        wait = self.spec.terms.retry_after_s
        return Body(Result.PENDING, 202, Status.PENDING, slot=place, retry_after_s=wait, request=number)

    def decide(self, made: Appointment) -> None:
        """Decide a pending request: confirmed when its slot is held for it or still free, else rejected."""
        if made.status is not Status.PENDING:
            return
        key = made.key
        held = self.holds.get(key)
        if held is not None and held.slot == made.slot:
            self.holds.release(key)
        elif self.no_room(made.slot, made.order):
            made.become(Status.REJECTED, self._clock.now)
            return
        self.take(made.slot, 1, made.order)
        made.become(Status.CONFIRMED, self._clock.now)

    def reject(self, made: Appointment) -> None:
        """Turn a request down, whatever room there is."""
        if made.status is Status.UNCONFIRMED:
            self.take(made.slot, -1, made.order)
        self.holds.release(made.key)
        made.become(Status.REJECTED, self._clock.now)

    def put_off(self, made: Appointment, by: int) -> bool:
        """Move an open appointment to a later slot with room; return whether there was one."""
        slot = self.later(made.slot, by, made.order)
        if slot < 0:
            return False
        if made.status is Status.PENDING:
            self.holds.release(made.key)
        else:
            self.take(slot, 1, made.order)
            self.take(made.slot, -1, made.order)
        made.slot = slot
        return True

    def turns_away(self, made: Appointment) -> bool:
        """Return whether a slot was sold beyond its capacity and this is one of its last bookings."""
        over = self.places.used[made.slot] - self.spec.capacity
        if over <= 0:
            return False
        booked = [a for a in self.appointments if a.slot == made.slot and a.confirmed]
        return any(a is made for a in booked[-over:])

    def withdraw(self, made: Appointment) -> None:
        """Take a confirmed appointment back; its place is free again."""
        self.take(made.slot, -1, made.order)
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

    def reschedule(self, call: Call) -> Body:
        """Move the newest open appointment of a stop; the old slot stays until the new one is sure."""
        open_ones = self.find(call)
        if not open_ones:
            return Body(Result.FAILURE, 404, problem="no appointment to move")
        key = (call.order, call.leg, call.stop.value)
        held = self.holds.get(key)
        problem = self._refusal_of(call, held)
        if problem:
            return Body(Result.FAILURE, 409, open_ones[-1].status, problem=problem)
        made = open_ones[-1]
        if made.status is Status.PENDING or key in self.moves:
            return Body(Result.FAILURE, 409, Status.PENDING, problem=DECISION_PENDING)
        problem = (
            change_refusal(self.rules_for(call.order), self.start_s(made.slot), self._clock.now) if self._ruled else ""
        )
        if problem:
            return Body(Result.FAILURE, 409, made.status, problem=problem)
        if self.spec.rules.changes_decided:
            return self._ask_to_move(made, call.slot, held)
        if held is not None and held.slot == call.slot:
            self.holds.release(key)
        self.take(call.slot, 1, call.order)
        self.take(made.slot, -1, made.order)
        made.slot = call.slot
        return Body(Result.SUCCESS, 200, made.status, slot=Slot(call.slot, self.start_s(call.slot)))

    def _ask_to_move(self, made: Appointment, slot: int, held: Hold | None) -> Body:
        """Take a change under decision; the old slot stays, the new one is kept only where it is held."""
        if held is not None and held.slot == slot:
            self.holds.keep_until_decision(held)
        self.moves[made.key] = (made, slot)
        return self._pending(Slot(slot, self.start_s(slot)), f"{self.spec.id}/a{made.id}-change")

    def decide_move(self, made: Appointment, granted: bool) -> bool:
        """Decide a change; return whether the appointment moved. One that was cancelled meanwhile does not."""
        key = made.key
        if self.moves.get(key, (None, 0))[0] is not made:
            return False
        _, slot = self.moves.pop(key)
        held = self.holds.get(key)
        own = held is not None and held.slot == slot and self.holds.release(key)
        alive = made.status in (Status.CONFIRMED, Status.UNCONFIRMED)
        if not alive or not granted or (not own and self.no_room(slot, made.order)):
            return False
        self.take(slot, 1, made.order)
        self.take(made.slot, -1, made.order)
        made.slot = slot
        return True

    def cancel(self, call: Call) -> tuple[Body, int]:
        """Cancel all open appointments of a stop; return the answer and for how many the fee is due."""
        ended = self.drop((call.order, call.leg, call.stop.value))
        now, rules = self._clock.now, self.rules_for(call.order)
        due = sum(fee_is_due(rules, self.start_s(a.slot), now) for a in ended)
        if not ended:
            return Body(Result.FAILURE, 404, problem="no appointment to cancel"), 0
        return Body(Result.SUCCESS, 200, Status.CANCELED), due

    def drop(self, key: Key) -> list[Appointment]:
        """End all that a stop has here: open appointments (which are returned), a change under decision, a hold."""
        open_ones = [a for a in self.of_stop(*key) if a.status in OPEN_STATES]
        self.moves.pop(key, None)
        for made in open_ones:
            if made.status is not Status.PENDING:
                self.take(made.slot, -1, made.order)
            made.become(Status.CANCELED, self._clock.now)
        self.holds.release(key)
        return open_ones

    def details(self, call: Call, snapshot_s: float) -> Body:
        """Say what is booked for a stop as of a snapshot."""
        return self.book.details(call, snapshot_s, self.start_s)
