"""Warnings about roles that load but mislead: agents that can never act, too few places, days without an end."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from masim.scenario.load import Scenario
from masim.scenario.ways import reached
from masim.sim.spec import DOCK_VERBS, AppointmentType, Verb, WorldSpec
from masim.sim.staff import RoleSpec, StaffSpec

Place = tuple[str, str]


def orders_per_day(spec: WorldSpec) -> int:
    """Return how many orders a day has."""
    if spec.staff is None:
        return len(spec.agents) * spec.orders.per_agent
    return sum(role.count * role.orders for role in spec.staff.roles)


def _idle(scenario: Scenario) -> Iterator[Place]:
    """A role that no order ever comes to can never act."""
    spec = scenario.spec
    for i, role, staff in _roles(spec):
        if role.name not in reached(staff, spec.day_start_s, spec.booking_end_s):
            text = f"agents.{role.name}: never acts: it has no orders, and nobody who has any hands it one in time"
            yield scenario.where("agents", "roles", i), text


def _useless(scenario: Scenario) -> Iterator[Place]:
    """A role whose verbs this scenario never lets anybody call can only pass orders on."""
    for i, role, _ in _roles(scenario.spec):
        usable = [verb for verb in role.verbs if verb != Verb.HAND_OVER and not _never(Verb(verb), scenario.spec)]
        if not usable:
            listed = ", ".join(verb for verb in role.verbs if verb != Verb.HAND_OVER) or "none but hand_over"
            text = f"agents.{role.name}: never acts on an order: in this scenario nobody can ever call its verbs"
            yield scenario.where("agents", "roles", i, "verbs"), f"{text} ({listed})"


def _never(verb: Verb, spec: WorldSpec) -> bool:
    """Return whether no dock of the legs ever lets a call of a dock's verb be made."""
    named = {name for leg in spec.orders.legs for name in (*leg.pickup_docks, *leg.delivery_docks)}
    docks = [dock for dock in spec.docks if dock.id in named and dock.type is not AppointmentType.FCFS]
    if verb is Verb.CONFIRM_APPOINTMENT:
        return not any(dock.rules.confirm_by_s is not None for dock in docks)
    if verb is Verb.HOLD:
        return not any(dock.hold_ttl_s is not None for dock in docks)
    return verb in DOCK_VERBS and not docks


def _nobody_declares(scenario: Scenario) -> Iterator[Place]:
    """An order is closed when it is under way and claimed; agents are asked until then."""
    staff = scenario.spec.staff
    if staff is not None and not any(Verb.DECLARE in role.verbs for role in staff.roles):
        text = "agents.roles: nobody may `declare`, so no order is ever closed and agents are asked all day"
        yield scenario.where("agents", "roles"), text


def _few_places(scenario: Scenario) -> Iterator[Place]:
    """What is dispatched stays where it is, so those who dispatch need a place for every order."""
    staff, orders = scenario.spec.staff, orders_per_day(scenario.spec)
    if staff is None:
        return
    senders = [role for role in staff.roles if Verb.DISPATCH in role.verbs]
    room = sum(role.count for role in senders) * staff.places
    if room < orders and not any(Verb.HAND_OVER in role.verbs for role in senders):
        text = f"agents.places: {room} places for {orders} orders a day at who may dispatch"
        yield scenario.where("agents", "places"), f"{text} ({', '.join(role.name for role in senders)})"


def _roles(spec: WorldSpec) -> Iterator[tuple[int, RoleSpec, StaffSpec]]:
    if spec.staff is not None:
        for i, role in enumerate(spec.staff.roles):
            yield i, role, spec.staff


ROLE_WARNINGS: dict[str, Callable[[Scenario], Iterator[Place]]] = {
    "role-idle": _idle,
    "role-useless": _useless,
    "role-declare": _nobody_declares,
    "role-places": _few_places,
}
"""Every warning about roles by name."""
