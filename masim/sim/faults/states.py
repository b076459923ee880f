"""States of an order that a fault can wait for: ``when: {state: NAME}``. One function and one registry line each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from masim.sim.appointments import OPEN_STATES
from masim.sim.spec import Status
from masim.sim.wire import Stop

if TYPE_CHECKING:
    from masim.sim.world import World

State = Callable[["World", str, int], bool]
"""``state(world, order, leg)``."""


def _tendered(world: World, order: str, leg: int) -> bool:
    return any(carrier.of_leg(order, leg) for carrier in world.carriers.values())


def _accepted(world: World, order: str, leg: int) -> bool:
    loads = (load for carrier in world.carriers.values() for load in carrier.of_leg(order, leg))
    return any(load.status is Status.CONFIRMED for load in loads)


def _appointed(world: World, order: str, leg: int) -> bool:
    stops = [(d, stop) for d in world.docks.values() for stop in (Stop.PICKUP, Stop.DELIVERY)]
    return any(a.status in OPEN_STATES for dock, stop in stops for a in dock.of_stop(order, leg, stop))


def _dispatched(world: World, order: str, leg: int) -> bool:
    return (order, leg) in world.legs and world.legs[order, leg].status != "waiting"


STATES: dict[str, State] = {
    "tendered": _tendered,
    "accepted": _accepted,
    "appointed": _appointed,
    "dispatched": _dispatched,
}
