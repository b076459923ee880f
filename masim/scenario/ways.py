"""Which ways an order can take from role to role, and how far it comes on them.

An order is at a role, with a set of steps done. A role does all that its verbs allow; a hand-over leads to a role that
is there at the same time, and may lose steps on the way. Few roles and five steps: the states are searched whole.
"""

from __future__ import annotations

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


def meet(one: RoleSpec, other: RoleSpec, start_s: float, end_s: float) -> bool:
    """Return whether an order can go from one role to the other: the second is there after the first has come."""
    return present(one, start_s, end_s)[0] < present(other, start_s, end_s)[1] and (
        present(other, start_s, end_s)[0] < present(one, start_s, end_s)[1]
    )


def missing(staff: StaffSpec, origin: RoleSpec, needs: Needs, start_s: float, end_s: float) -> str:
    """Return the first step that no way of an order from ``origin`` ever comes to, empty when there is a whole way."""
    roles = {role.name: role for role in staff.roles}
    lost = {step for name in staff.drops for step in LOSES[name]}
    first = (origin.name, needs.reach(frozenset(), origin.verbs))
    seen, open_ = {first}, [first]
    best: frozenset[str] = first[1]
    while open_:
        name, done = open_.pop()
        best = max(best, done, key=len)
        if len(done) == len(needs.steps):
            return ""
        for to in roles[name].hands_to:
            if meet(roles[name], roles[to], start_s, end_s):
                state = (to, needs.reach(done - lost, roles[to].verbs))
                if state not in seen:
                    seen.add(state)
                    open_.append(state)
    return next(step for step in needs.steps if step not in best)


def reached(staff: StaffSpec, start_s: float, end_s: float) -> set[str]:
    """Return the roles that an order can come to."""
    roles = {role.name: role for role in staff.roles}
    found = {role.name for role in staff.roles if role.orders}
    open_ = list(found)
    while open_:
        here = roles[open_.pop()]
        for to in here.hands_to:
            if to not in found and meet(here, roles[to], start_s, end_s):
                found.add(to)
                open_.append(to)
    return found
