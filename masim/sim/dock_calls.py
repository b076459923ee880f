"""What a call to a dock does, one function and one line of :data:`AT_DOCKS` per verb."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masim.sim.carrier_calls import Work
from masim.sim.spec import Status, Verb
from masim.sim.wire import Body, Call, Result

if TYPE_CHECKING:
    from masim.sim.world import World

WALK_IN = Body(Result.FAILURE, 405, problem="first come, first served: no appointments")
"""What a dock without appointments answers to every call."""


def availability(world: World, agent: str, call: Call, snapshot_s: float) -> Body:
    """List slots, as of a snapshot; a list that is out of date is labelled."""
    dock = world.docks[call.vendor]
    if dock.walk_in:
        return WALK_IN
    body = dock.availability(call, snapshot_s)
    stale = world.trace.enabled and dock.places.changed_since(snapshot_s)
    if stale and body.slots != dock.availability(call, world.clock.now).slots:
        world.mail.fault("stale_read", agent, call.order, call.leg, call.stop.value, call.vendor, call.verb.value)
    return body


def hold(world: World, agent: str, call: Call, snapshot_s: float) -> Body:
    """Keep a slot for a while."""
    dock = world.docks[call.vendor]
    return WALK_IN if dock.walk_in else dock.hold(call)


def schedule(world: World, agent: str, call: Call, snapshot_s: float) -> Body:
    """Book a slot: at once, on request, or to be confirmed by the carrier."""
    dock = world.docks[call.vendor]
    if dock.walk_in:
        return WALK_IN
    nth = len(dock.appointments)
    body, made = dock.schedule(call, nth, agent)
    if made is not None and made.status is Status.UNCONFIRMED and dock.spec.rules.confirm_by_s is not None:
        world.clock.at(dock.confirm_until_s(made), world.desk.lapse, dock, made)
    elif made is not None and made.status is not Status.CONFIRMED:
        tries = len(dock.of_stop(call.order, call.leg, call.stop))
        u = world.noise.uniform("dock decision", call.vendor, call.order, call.leg, call.stop, tries)
        world.desk.wait(agent, call, dock.decision_delay_s(u), tries, world.desk.decide_appointment, dock, made)
    return body


def reschedule(world: World, agent: str, call: Call, snapshot_s: float) -> Body:
    """Move an appointment, at once or on request."""
    dock = world.docks[call.vendor]
    if dock.walk_in:
        return WALK_IN
    body = dock.reschedule(call)
    if body.result is Result.PENDING:
        made, _ = dock.moves[call.order, call.leg, call.stop.value]
        nth = world.changes = world.changes + 1
        u = world.noise.uniform("dock change", call.vendor, call.order, call.leg, call.stop, call.slot, made.id)
        world.desk.wait(agent, call, dock.decision_delay_s(u), nth, world.desk.decide_move, dock, made)
    elif body.status is Status.UNCONFIRMED and dock.spec.rules.confirm_by_s is not None:
        made = dock.find(call)[-1]
        world.clock.at(dock.confirm_until_s(made), world.desk.lapse, dock, made)
    return body


def confirm_appointment(world: World, agent: str, call: Call, snapshot_s: float) -> Body:
    """Confirm what waits for the carrier."""
    dock = world.docks[call.vendor]
    return WALK_IN if dock.walk_in else dock.confirm_stop(call)


def cancel_appointment(world: World, agent: str, call: Call, snapshot_s: float) -> Body:
    """Give appointments back, for a fee."""
    dock = world.docks[call.vendor]
    if dock.walk_in:
        return WALK_IN
    body, count = dock.cancel(call)
    world.pay(agent, call.vendor, count * dock.cancel_fee_cents(call.order), call.order, "cancellation")
    return body


def appointment_details(world: World, agent: str, call: Call, snapshot_s: float) -> Body:
    """Say how an appointment stands, as of a snapshot."""
    dock = world.docks[call.vendor]
    return WALK_IN if dock.walk_in else dock.details(call, snapshot_s)


AT_DOCKS: dict[Verb, Work] = {
    Verb.AVAILABILITY: availability,
    Verb.HOLD: hold,
    Verb.SCHEDULE: schedule,
    Verb.RESCHEDULE: reschedule,
    Verb.CONFIRM_APPOINTMENT: confirm_appointment,
    Verb.CANCEL_APPOINTMENT: cancel_appointment,
    Verb.APPOINTMENT_DETAILS: appointment_details,
}
