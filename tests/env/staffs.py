"""Small worlds whose agents have roles: a booker, a dispatcher and a clerk, without chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sim.worlds import calm

from masim.env.core import Decision, Session
from masim.sim.dists import Constant
from masim.sim.spec import Instance, Verb, WorldSpec
from masim.sim.staff import RoleSpec, StaffSpec
from masim.units import MINUTE

BOOKS = ("quote", "tender", "tender_status", "cancel_tender", "hand_over")
PLANS = ("availability", "hold", "schedule", "appointment_details", "hand_over")
SENDS = ("dispatch", "track", "declare", "hand_over")


def booker(**changes: Any) -> RoleSpec:
    """Return who owns the orders in the morning."""
    return replace(RoleSpec("booker", 1, 1, BOOKS, ("clerk",)), **changes)


def clerk(**changes: Any) -> RoleSpec:
    """Return who does everything else."""
    return replace(RoleSpec("clerk", 1, 0, tuple(dict.fromkeys(PLANS + SENDS)), ("booker",)), **changes)


def staffed(*roles: RoleSpec, places: int = 2, drops: tuple[str, ...] = (), **changes: Any) -> WorldSpec:
    """Return a calm world with these roles; a booker and a clerk by default."""
    staff = StaffSpec(roles or (booker(), clerk()), places, Constant(2 * MINUTE), drops)
    agents = tuple(agent for role in staff.roles for agent in role.agents)
    return replace(calm(), agents=agents, staff=staff, **changes)


def named(decision: Decision, verb: Verb, **where: int) -> int:
    """Return the first legal action of a verb at a place (``order``, ``leg``, ``vendor``, ``stop``, ``role``)."""
    for index in map(int, decision.legal):
        action = decision.table.actions[index]
        if decision.table.verb[index] is verb and all(getattr(action, k) == v for k, v in where.items()):
            return index
    raise LookupError(f"{decision.agent} may not {verb} {where}")


def may(decision: Decision) -> set[str]:
    """Return the verbs that a decision may choose from."""
    return {decision.table.verb[int(i)].value for i in decision.legal}


def start(spec: WorldSpec, **options: Any) -> Session:
    """Return a session on the first day."""
    return Session(spec, Instance(1, 0, "test"), **options)


def play_by(session: Session, choose: Callable[[Decision], int]) -> Session:
    """Play a session to its end."""
    while asked := session.advance():
        for decision in asked:
            session.submit(decision.agent, choose(decision))
    return session


def until(session: Session, agent: str, choose: Callable[[Decision], int] = lambda decision: 0) -> Decision:
    """Return the next decision of an agent, the others acting by ``choose`` (they wait)."""
    while True:
        asked = session.open_decisions() or session.advance()
        if not asked:
            raise LookupError(f"{agent} is not asked any more")
        mine = [decision for decision in asked if decision.agent == agent]
        for decision in asked:
            if decision.agent != agent:
                session.submit(decision.agent, choose(decision))
        if mine:
            return mine[0]
