"""States of an order that a fault can wait for: ``when: {state: NAME}``. One function and one registry line each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from masim.sim.appointments import OPEN_STATES
from masim.sim.spec import Status

if TYPE_CHECKING:
    from masim.sim.world import World

State = Callable[["World", str, int], bool]
"""``state(world, order, leg)``."""


def _tendered(world: World, order: str, leg: int) -> bool:
    return any(t.order == order and t.leg == leg for c in world.carriers.values() for t in c.tenders)


def _accepted(world: World, order: str, leg: int) -> bool:
    loads = (t for c in world.carriers.values() for t in c.tenders)
    return any(t.order == order and t.leg == leg and t.status is Status.CONFIRMED for t in loads)


def _appointed(world: World, order: str, leg: int) -> bool:
    made = (a for d in world.docks.values() for a in d.appointments)
    return any(a.order == order and a.leg == leg and a.status in OPEN_STATES for a in made)


def _dispatched(world: World, order: str, leg: int) -> bool:
    return (order, leg) in world.legs and world.legs[order, leg].status != "waiting"


STATES: dict[str, State] = {
    "tendered": _tendered,
    "accepted": _accepted,
    "appointed": _appointed,
    "dispatched": _dispatched,
}
