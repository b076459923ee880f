"""What is known of one leg and its stops, and the milestones of a booking chain that this amounts to."""

from __future__ import annotations

from dataclasses import dataclass

from masim.arrays import F64, I64
from masim.sim.plan import LegPlan, OrderPlan
from masim.sim.spec import Status
from masim.sim.wire import REVERSED, Message, Slot

NONE, UNKNOWN, PENDING, YES, NO = range(5)
"""States of a tender or an appointment as the agent knows them."""

STATE_OF = {
    Status.NOT_SCHEDULED: NONE,
    Status.PENDING: PENDING,
    Status.UNCONFIRMED: PENDING,
    Status.CONFIRMED: YES,
    Status.REJECTED: NO,
    Status.CANCELED: NO,
}


def after_message(known: int, message: Message) -> int:
    """Return the state after a callback: a refused request does not undo another that was granted, a reversal does."""
    told = STATE_OF[message.status]
    return known if known == YES and told == NO and message.problem != REVERSED else told


@dataclass(slots=True)
class StopView:
    """What is known of one stop of one leg."""

    dock: str
    state: int = NONE
    slots: tuple[Slot, ...] = ()
    slots_at_s: float = 0.0
    booked: Slot | None = None
    held: Slot | None = None
    held_at_s: float = 0.0
    held_until_s: float = 0.0
    unconfirmed: bool = False
    """The appointment waits for the carrier's own confirmation."""
    refused: frozenset[int] = frozenset()
    """Slots that a hold or booking was refused for since the last availability answer that did not list them."""

    def told(self, message: Message) -> None:
        """Take in a callback about the appointment; one of a dock that another has taken the place of says nothing."""
        if message.vendor != self.dock:
            return
        self.state = after_message(self.state, message)
        self.unconfirmed = message.status is Status.UNCONFIRMED
        if STATE_OF[message.status] == YES:
            self.booked = message.slot
        elif self.state != YES:
            self.booked = None


@dataclass(slots=True)
class LegView:
    """What is known of one leg. Arrays have one entry per carrier."""

    plan: LegPlan
    order: OrderPlan
    price: F64
    quoted_until_s: F64
    tender: I64
    tries: I64
    stops: tuple[StopView, StopView]
    dispatch: int = NONE
    dispatched_to: int = -1
    road: int = NONE
    """YES delivered, NO failed, as far as the agent was told."""

    def booked(self) -> bool:
        """Return whether every stop that has a dock is known to be confirmed."""
        pickup, delivery = self.stops
        return (not pickup.dock or pickup.state == YES) and (not delivery.dock or delivery.state == YES)

    def best_tender(self) -> int:
        """Return the most advanced tender state: accepted, pending, unknown, rejected, none."""
        known = self.tender.tolist()
        for state in (YES, PENDING, UNKNOWN, NO):
            if state in known:
                return state
        return NONE

    def quoted(self) -> bool:
        """Return whether any carrier has named a price."""
        return max(self.price.tolist(), default=0.0) > 0.0


def milestones(leg: LegView) -> int:
    """Return the milestones of a booking chain that a leg stands at now, as bits.

    Quoted, tendered, accepted; for each stop slots listed, asked for, booked; ready to go (accepted and every stop
    booked at once); dispatched.
    """
    tender, (pickup, delivery), booked = leg.best_tender(), leg.stops, leg.booked()
    return (
        leg.quoted()
        | (tender in (PENDING, YES)) << 1
        | (tender == YES) << 2
        | bool(pickup.slots) << 3
        | (pickup.state in (PENDING, YES)) << 4
        | (pickup.state == YES) << 5
        | bool(delivery.slots) << 6
        | (delivery.state in (PENDING, YES)) << 7
        | (delivery.state == YES) << 8
        | booked << 9
        | (booked and tender == YES) << 10
        | (leg.dispatch == YES) << 11
    )
