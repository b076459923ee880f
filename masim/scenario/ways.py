"""Which ways an order can take from role to role, and how far it comes on them.

An order is at a role, since a moment, with a set of steps done. A role does all that its verbs allow; a hand-over leads
to a role that is there while the giver is, takes no time, and may lose steps on the way. Few roles and five steps: the
states are searched whole, each with the earliest moment of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from masim.sim.spec import Verb
from masim.sim.staff import RoleSpec, StaffSpec

AFTER: Mapping[str, tuple[str, ...]] = {
    Verb.QUOTE: (),
    Verb.TENDER: (Verb.QUOTE,),
    Verb.AVAILABILITY: (),
    Verb.SCHEDULE: (Verb.AVAILABILITY,),
    Verb.CONFIRM_APPOINTMENT: (Verb.SCHEDULE,),
    Verb.DISPATCH: (Verb.TENDER, Verb.SCHEDULE, Verb.CONFIRM_APPOINTMENT),
}
"""What must have been done before each step, of the steps that an order needs."""
LOSES: Mapping[str, tuple[str, ...]] = {
    "quotes": (Verb.QUOTE,),
    "trucks": (Verb.TENDER, Verb.DISPATCH),
    "appointments": (Verb.AVAILABILITY, Verb.SCHEDULE, Verb.CONFIRM_APPOINTMENT),
}
"""Which steps are forgotten with each thing that a hand-over drops."""


@dataclass(frozen=True, slots=True)
class Needs:
    """The steps that an order needs, in their order."""

    steps: tuple[str, ...]

    @classmethod
    def of(cls, verbs: Iterable[Verb]) -> Needs:
        """Return the needs of a scenario whose orders take these verbs."""
        wanted = set(verbs)
        return cls(tuple(step for step in AFTER if step in wanted))

    def reach(self, done: frozenset[str], verbs: Iterable[str]) -> frozenset[str]:
        """Return what is done when a role has done all that it may."""
        allowed = set(verbs)
        for step in self.steps:
            before = [one for one in AFTER[step] if one in self.steps]
            if step in allowed and done.issuperset(before):
                done |= {step}
        return done


def present(role: RoleSpec, start_s: float, end_s: float) -> tuple[float, float]:
    """Return from when to when the agents of a role are there."""
    return (
        start_s if role.joins_s is None else role.joins_s,
        end_s if role.leaves_s is None else role.leaves_s,
    )


def handed_s(staff: StaffSpec, one: str, other: str, since_s: float, day: tuple[float, float]) -> float | None:
    """Return when an order that is at a role since a moment can be at another one at the earliest, if ever."""
    roles = {role.name: role for role in staff.roles}
    (_, goes), (comes, gone) = present(roles[one], *day), present(roles[other], *day)
    at = max(since_s, comes)
    return at if at < min(goes, gone) else None


def missing(staff: StaffSpec, origin: RoleSpec, needs: Needs, start_s: float, end_s: float) -> str:
    """Return a step that no way of an order from ``origin`` ever comes to, empty when there is a whole way."""
    roles = {role.name: role for role in staff.roles}
    lost = {step for name in staff.drops for step in LOSES[name]}
    begins = present(origin, start_s, end_s)[0]
    best = needs.reach(frozenset(), origin.verbs)
    earliest = {(origin.name, best): begins}
    open_ = [(origin.name, best)]
    while open_:
        name, done = here = open_.pop()
        best = max(best, done, key=len)
        if len(done) == len(needs.steps):
            return ""
        for to in roles[name].hands_to:
            at = handed_s(staff, name, to, earliest[here], (start_s, end_s))
            there = (to, needs.reach(done - lost, roles[to].verbs))
            if at is not None and at < earliest.get(there, math.inf):
                earliest[there] = at
                open_.append(there)
    return next(step for step in needs.steps if step not in best)


def reached(staff: StaffSpec, start_s: float, end_s: float) -> set[str]:
    """Return the roles that an order can come to."""
    earliest = {role.name: present(role, start_s, end_s)[0] for role in staff.roles if role.orders}
    open_ = list(earliest)
    while open_:
        here = open_.pop()
        for to in next(role for role in staff.roles if role.name == here).hands_to:
            at = handed_s(staff, here, to, earliest[here], (start_s, end_s))
            if at is not None and at < earliest.get(to, math.inf):
                earliest[to] = at
                open_.append(to)
    return set(earliest)
