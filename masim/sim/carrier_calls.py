"""What a call to a carrier does, one function and one line of :data:`AT_CARRIERS` per verb."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from masim.sim.spec import Status, Verb
from masim.sim.terms import Decisions
from masim.sim.wire import Body, Call, Result

if TYPE_CHECKING:
    from masim.sim.world import World

Work = Callable[["World", str, Call, float], Body]
"""``work(world, agent, call, snapshot_s)`` takes effect now and returns the vendor's answer."""


def quote(world: World, agent: str, call: Call, snapshot_s: float) -> Body:
    """Name a price."""
    return world.carriers[call.vendor].quote(call, world.orders[call.order])


def tender(world: World, agent: str, call: Call, snapshot_s: float) -> Body:
    """Take a load offer: decided at once or later."""
    carrier = world.carriers[call.vendor]
    body, made = carrier.tender(call, agent)
    if made is not None:
        nth = len(carrier.find(call))
        if carrier.spec.terms.decisions is Decisions.SYNCHRONOUS:
            return world.desk.decide_at_once(carrier, made, nth)
        world.desk.wait(agent, call, carrier.decision_delay_s(made, nth), nth, world.desk.decide_tender, made, nth)
    return body


def tender_status(world: World, agent: str, call: Call, snapshot_s: float) -> Body:
    """Say how a tender stands, as of a snapshot."""
    return world.carriers[call.vendor].status(call, snapshot_s)


def cancel_tender(world: World, agent: str, call: Call, snapshot_s: float) -> Body:
    """Take offers back; an accepted one costs its fee."""
    carrier = world.carriers[call.vendor]
    body, count = carrier.cancel(call)
    fee_cents = count * carrier.says_of(world.orders[call.order]).cancel_fee_cents
    world.pay(agent, call.vendor, fee_cents, call.order, "truck ordered, not used")
    return body


def dispatch(world: World, agent: str, call: Call, snapshot_s: float) -> Body:
    """Send the truck of an accepted load."""
    leg = world.legs[call.order, call.leg]
    if leg.status != "waiting":
        return Body(Result.FAILURE, 409, problem="leg is already dispatched")
    accepted = [t for t in world.carriers[call.vendor].find(call) if t.status is Status.CONFIRMED]
    if not accepted:
        return Body(Result.FAILURE, 404, problem="no accepted tender")
    if not world.appointed(leg):
        return Body(Result.FAILURE, 422, problem="a stop has no confirmed appointment")
    world.trucks.dispatch(leg, accepted[0])
    world.pay(agent, call.vendor, accepted[0].price_cents, call.order, "freight")
    return Body(Result.SUCCESS, 200, Status.CONFIRMED)


def track(world: World, agent: str, call: Call, snapshot_s: float) -> Body:
    """Say where a leg is."""
    leg = world.legs[call.order, call.leg]
    problem = leg.failure or leg.status
    return Body(Result.SUCCESS, 200, Status.CONFIRMED if leg.carrier else Status.NOT_SCHEDULED, problem=problem)


def health(world: World, agent: str, call: Call, snapshot_s: float) -> Body:
    """Answer for a vendor's status page, which is hosted elsewhere."""
    down = world.down(call.vendor)
    status = Status.REJECTED if down else Status.CONFIRMED
    return Body(Result.SUCCESS, 200, status, problem="down" if down else "")


AT_CARRIERS: dict[Verb, Work] = {
    Verb.QUOTE: quote,
    Verb.TENDER: tender,
    Verb.TENDER_STATUS: tender_status,
    Verb.CANCEL_TENDER: cancel_tender,
    Verb.DISPATCH: dispatch,
    Verb.TRACK: track,
    Verb.HEALTH: health,
}
