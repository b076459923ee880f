"""What vendors decide after a while, take back and let lapse, and that they tell it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from masim.sim.appointments import Appointment
from masim.sim.carriers import Carrier, Tender
from masim.sim.clock import Clock
from masim.sim.docks import Dock
from masim.sim.faults.base import DecisionChange
from masim.sim.faults.event import call_at
from masim.sim.mail import Mail
from masim.sim.plan import OrderPlan
from masim.sim.spec import AppointmentType, Status
from masim.sim.wire import REVERSED, Body, Call, Message, Result, Slot, Stop


class DecisionDesk:
    """Decides for the vendors of one world; holds no state of its own."""

    def __init__(
        self, clock: Clock, mail: Mail, carriers: Mapping[str, Carrier], orders: Mapping[str, OrderPlan]
    ) -> None:
        self._clock = clock
        self._mail = mail
        self._carriers = carriers
        self._orders = orders

    def decide_move(self, dock: Dock, made: Appointment, change: DecisionChange | None = None) -> None:
        """Let a dock decide a change of an appointment."""
        granted = change is None or change.verdict is not Status.REJECTED
        moved = dock.decide_move(made, granted)
        if made.status in (Status.CONFIRMED, Status.UNCONFIRMED):
            self._tell_appointment(dock, made, "" if moved else "change refused")

    def lapse(self, dock: Dock, made: Appointment) -> None:
        """An appointment that nobody confirmed in time is no more."""
        if made.status is Status.UNCONFIRMED and self._clock.now >= dock.confirm_until_s(made):
            dock.withdraw(made)
            self._tell_appointment(dock, made, "not confirmed in time")

    def _tell_appointment(self, dock: Dock, made: Appointment, problem: str) -> None:
        self._mail.state(
            "state", made.agent, made.order, made.leg, made.stop, made.dock, made.slot, made.status, problem
        )
        slot, stop = Slot(made.slot, dock.start_s(made.slot)), Stop(made.stop)
        self._mail.send(
            Message(made.agent, 0.0, "appointment", made.dock, made.order, made.leg, stop, made.status, slot, problem)
        )

    def wait(
        self, agent: str, call: Call, delay_s: float, nth: int, decide: Callable[..., None], *args: object
    ) -> None:
        """Let a vendor decide after a delay; a fault may change when, whether and what it decides."""
        change = None
        if self._mail.faults is not None:
            change = self._mail.faults.on_decision(
                call_at(agent, call, self._clock.now),
                f"decision\x1f{agent}\x1f{call.verb}\x1f{call.vendor}\x1f{call.order}\x1f{call.leg}\x1f{call.stop}\x1f{nth}",
            )
        if change is None:
            self._clock.at(self._clock.now + delay_s, decide, *args)
        elif not change.never:
            at = self._clock.now + delay_s * change.scale + change.add_s
            self._clock.at(at, decide, *args, change)

    def decide_appointment(self, dock: Dock, made: Appointment, change: DecisionChange | None = None) -> None:
        """Let a dock decide a request for a slot, and tell."""
        if made.status not in (Status.PENDING, Status.UNCONFIRMED):
            return
        if change is not None and change.slots_later:
            dock.put_off(made, change.slots_later)
        if change is not None and change.verdict is Status.REJECTED:
            dock.reject(made)
        elif dock.spec.type is AppointmentType.CARRIER_CONFIRMATION_REQUIRED:
            dock.confirm(made)
        else:
            dock.decide(made)
        place = (made.agent, made.order, made.leg, made.stop, made.dock)
        self._mail.state("state", *place, made.slot, made.status)
        slot = Slot(made.slot, dock.start_s(made.slot))
        stop = Stop(made.stop)
        problem = "" if change is None else change.problem
        self._mail.send(
            Message(made.agent, 0.0, "appointment", made.dock, made.order, made.leg, stop, made.status, slot, problem)
        )
        if change is not None and change.reverse_s >= 0.0:
            self._clock.at(self._clock.now + change.reverse_s, self._reverse_appointment, dock, made)

    def _reverse_appointment(self, dock: Dock, made: Appointment) -> None:
        """A dock takes a confirmed appointment back."""
        if made.status is Status.CONFIRMED:
            dock.withdraw(made)
            self._tell_appointment(dock, made, REVERSED)

    def decide_at_once(self, carrier: Carrier, made: Tender, nth: int) -> Body:
        """Let a carrier decide in its answer."""
        problem = carrier.decide(made, self._orders[made.order].shipper, nth)
        self._mail.state("state", made.agent, made.order, made.leg, "", made.carrier, -1, made.status, problem)
        if made.confirmed:
            return Body(Result.SUCCESS, 200, made.status)
        return Body(Result.FAILURE, 422, made.status, problem=problem)

    def decide_tender(self, made: Tender, nth: int, change: DecisionChange | None = None) -> None:
        """Let a carrier decide a tender, and tell."""
        if made.status is not Status.PENDING:
            return
        order = self._orders[made.order]
        if change is not None and change.verdict is not None:
            made.become(change.verdict, self._clock.now)
            problem = change.problem
        else:
            problem = self._carriers[made.carrier].decide(made, order.shipper, nth)
        if change is not None and change.price_factor != 1.0:
            problem = _on_other_terms(made, change, problem)
        self._mail.state("state", made.agent, made.order, made.leg, "", made.carrier, -1, made.status, problem)
        self._mail.send(
            Message(
                made.agent, 0.0, "tender", made.carrier, made.order, made.leg, Stop.NONE, made.status, problem=problem
            )
        )
        if change is not None and change.reverse_s >= 0.0 and made.confirmed:
            self._clock.at(self._clock.now + change.reverse_s, self._reverse_tender, made)

    def _reverse_tender(self, made: Tender) -> None:
        """A carrier takes an accepted load back before its truck was sent."""
        if made.status is not Status.CONFIRMED or made.dispatched:
            return
        made.become(Status.REJECTED, self._clock.now)
        self._mail.state("state", made.agent, made.order, made.leg, "", made.carrier, -1, made.status, REVERSED)
        self._mail.send(
            Message(
                made.agent, 0.0, "tender", made.carrier, made.order, made.leg, Stop.NONE, made.status, problem=REVERSED
            )
        )


def _on_other_terms(made: Tender, change: DecisionChange, problem: str) -> str:
    """Let an accepted load cost what its decision says; return what the agent is told."""
    if made.status is not Status.CONFIRMED:
        return problem
    made.price_cents = round(made.price_cents * change.price_factor)
    return change.problem
