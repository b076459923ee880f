"""Contradictions in the roles of a scenario: what nobody may do, times outside the day, orders that none can finish."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from masim.errors import ScenarioError, did_you_mean
from masim.scenario.build_roles import build_staff
from masim.scenario.nodes import Node
from masim.scenario.role_docs import OWN, RoleDoc
from masim.scenario.schema import ScenarioDoc
from masim.scenario.validate import shown
from masim.scenario.ways import Needs, missing
from masim.sim.spec import Verb
from masim.units import HOUR, MINUTE


def check_roles(doc: ScenarioDoc, node: Node, needed: Sequence[Verb]) -> Iterator[ScenarioError]:
    """Yield what is wrong with the agents; ``needed`` are the verbs without which no order is completed."""
    here = node.find("agents")
    if doc.agents.roles is None:
        yield from _alike(doc, here)
        return
    wrong = [*_form(doc, here), *_names(doc.agents.roles, here)]
    for i, role in enumerate(doc.agents.roles):
        place = here.find("roles", i)
        wrong += [*_verbs(role, place, doc), *_times(role, place, doc), *_takers(role, place, doc.agents.roles)]
    yield from wrong or (*_orders(doc, here), *_unfinished(doc, here, needed))


def _alike(doc: ScenarioDoc, here: Node) -> Iterator[ScenarioError]:
    """Agents without roles: there is a number of them, and nothing that belongs to roles."""
    if doc.agents.count is None:
        fix, empty = "add `count:`, or `roles:` where agents differ", here.child("count")
        if empty is None:
            yield ScenarioError("missing key 'agents.count'", here.where, "", "", fix)
        else:
            yield ScenarioError("agents.count: expected a whole number", empty.where, shown(empty), "", fix)
    for key in ("places", "hand_over"):
        if getattr(doc.agents, key) is not None:
            place = here.find(key)
            yield ScenarioError(f"agents.{key} belongs to roles", place.where, shown(place), "", "add `agents.roles:`")


def _form(doc: ScenarioDoc, here: Node) -> Iterator[ScenarioError]:
    for key in ("role", "count"):
        if getattr(doc.agents, key) is not None:
            place, fix = here.find(key), f"remove it, or write `{key}: null` over the base"
            yield ScenarioError(f"agents.{key} contradicts agents.roles", place.where, shown(place), "", fix)
    if not doc.agents.roles:
        yield ScenarioError("agents.roles is empty", here.find("roles").where, "", "at least one role")


def _names(roles: Sequence[RoleDoc], here: Node) -> Iterator[ScenarioError]:
    seen: dict[str, str] = {}
    for i, role in enumerate(roles):
        named = here.find("roles", i, "id")
        if role.id in seen:
            yield ScenarioError(f"duplicate id {role.id!r}", named.where, "", "", f"first at {seen[role.id]}")
        seen.setdefault(role.id, named.where)


def _verbs(role: RoleDoc, here: Node, doc: ScenarioDoc) -> Iterator[ScenarioError]:
    known = [verb.value for verb in (*doc.apis, *OWN)]
    if not role.verbs:
        yield ScenarioError(
            f"agents.{role.id}: a role without verbs can never act", here.find("verbs").where, "", ", ".join(known)
        )
    for j, verb in enumerate(role.verbs):
        if verb.value not in known:
            problem = f"agents.{role.id}: this scenario has no API {verb.value!r}"
            fix = f"add `{verb.value}: {{}}` under `apis`, or remove the verb"
            yield ScenarioError(problem, here.find("verbs", j).where, verb.value, ", ".join(known), fix)


def _times(role: RoleDoc, here: Node, doc: ScenarioDoc) -> Iterator[ScenarioError]:
    start, end = doc.time.day_start, doc.time.booking_end
    joins, leaves = here.find("joins"), here.find("leaves")
    if role.joins is not None and not start <= role.joins < end:
        allowed = f"{_clock(start)} or later, before {_clock(end)}"
        problem = f"agents.{role.id}: joins outside the booking day"
        yield ScenarioError(problem, joins.where, shown(joins), allowed, "the booking day is `time:`")
    elif role.leaves is not None and not start < role.leaves <= end:
        allowed = f"after {_clock(start)}, up to {_clock(end)}"
        problem = f"agents.{role.id}: leaves outside the booking day"
        yield ScenarioError(problem, leaves.where, shown(leaves), allowed, "the booking day is `time:`")
    elif role.leaves is not None and role.joins is not None and role.leaves <= role.joins:
        allowed = f"after it joins at {_clock(role.joins)}, up to {_clock(end)}"
        problem = f"agents.{role.id}: leaves before it joins"
        yield ScenarioError(problem, leaves.where, shown(leaves), allowed, "turn the two times round")


def _clock(t_s: float) -> str:
    return f"{int(t_s // HOUR):02d}:{int(t_s % HOUR // MINUTE):02d}"


def _takers(role: RoleDoc, here: Node, roles: Sequence[RoleDoc]) -> Iterator[ScenarioError]:
    known: Mapping[str, RoleDoc] = {other.id: other for other in roles}
    for j, name in enumerate(role.hands_to or ()):
        if name not in known:
            near = did_you_mean(name, known) or "add the role"
            problem = f"agents.{role.id}: hands_to names no role"
            yield ScenarioError(problem, here.find("hands_to", j).where, name, ", ".join(known), near)
        elif name == role.id and role.count == 1:
            problem = f"agents.{role.id}: hands_to names itself, and there is only one"
            where = here.find("hands_to", j).where
            yield ScenarioError(problem, where, name, ", ".join(known), "name another role, or give it a `count` of 2")
    if role.hands_to and Verb.HAND_OVER not in role.verbs:
        where = here.find("hands_to").where
        problem = f"agents.{role.id}: hands_to without the verb hand_over"
        yield ScenarioError(problem, where, "", "", "add `hand_over` to its verbs, or remove `hands_to`")
    if Verb.HAND_OVER in role.verbs and (role.hands_to == () or (role.hands_to is None and len(roles) == 1)):
        problem = f"agents.{role.id}: it may hand over, but to nobody"
        fix = "remove `hand_over` from its verbs, or name a role in `hands_to`"
        yield ScenarioError(problem, here.find("verbs").where, "", ", ".join(known), fix)


def _orders(doc: ScenarioDoc, here: Node) -> Iterator[ScenarioError]:
    roles = doc.agents.roles or ()
    dealt = [doc.orders.per_agent if role.orders is None else role.orders for role in roles]
    if not any(dealt):
        where = here.find("roles").where
        yield ScenarioError("no agent has an order", where, "", "", "give a role `orders:` of 1 or more")
    places = here.find("places")
    if doc.agents.places is not None and doc.agents.places < max(dealt):
        allowed = f"at least {max(dealt)}, what an agent has in the morning"
        yield ScenarioError("agents.places is too small", places.where, shown(places), allowed)


def _unfinished(doc: ScenarioDoc, here: Node, needed: Sequence[Verb]) -> Iterator[ScenarioError]:
    """An order goes from role to role; on some way every needed verb must come in its turn."""
    staff = build_staff(doc.agents, doc.orders.per_agent)
    if staff is None:
        return
    needs = Needs.of([*needed, *([Verb.CONFIRM_APPOINTMENT] if _confirmed(doc) else [])])
    for i, role in enumerate(staff.roles):
        lost = missing(staff, role, needs, doc.time.day_start, doc.time.booking_end)
        if role.orders and lost:
            problem = f"agents.{role.name}: nobody can finish its orders: on no way from role to role comes '{lost}'"
            fix = f"give `{lost}` to a role that they reach in time, or let `hands_to` lead to one that has it"
            fix += " after what was dropped" if staff.drops else ""
            yield ScenarioError(problem, here.find("roles", i, "verbs").where, ", ".join(role.verbs), "", fix)


def _confirmed(doc: ScenarioDoc) -> bool:
    """Return whether every order has a stop whose docks all wait for the carrier's own confirmation."""
    waiting = {dock.id for dock in doc.docks if dock.confirm_by is not None}
    stops = [docks for leg in doc.orders.legs for docks in (leg.pickup_docks, leg.delivery_docks) if docks]
    return any(waiting.issuperset(docks) for docks in stops)
