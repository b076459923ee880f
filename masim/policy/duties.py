"""The scripted workflow shared out among roles: do what is mine, pass on what is not.

An agent does everything on its orders that its role allows, over all legs and stops, before it hands an order over: to
a role that may do what comes next, or to one that can pass it on there. While a decision is open that would be its own
to mend (a tender that may be refused) it keeps the order, unless it goes soon.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from masim.env.desk import DeskView
from masim.env.leg_view import PENDING, UNKNOWN, YES, LegView
from masim.sim.spec import Verb
from masim.sim.staff import StaffSpec
from masim.units import MINUTE

if TYPE_CHECKING:
    from masim.policy.workflow import Step

GOES_S = 30 * MINUTE
"""How long before it goes an agent parts with what is still open."""
AGAIN_S = 30 * MINUTE
"""How long an order is kept after it was handed over in vain."""
PATIENT = 3
"""The wait that is taken meanwhile: 30 minutes, unless the scenario has others, or until a message."""


def shared(step: Step, view: DeskView) -> list[int]:
    """Return the next actions of an agent with a role, in order of preference."""
    for place in view.held():
        if place not in view.leaving:
            wish = _order(step, view, place)
            if wish:
                return wish
    return [0]


def _order(step: Step, view: DeskView, place: int) -> list[int]:
    """Return what to do about one order, nothing where there is only to wait."""
    needed: list[Verb] = []
    pause: list[int] = []
    for wish in _wishes(step, view, place):
        mine = [action for action in wish if action >= 0 and view.permits[action]]
        verbs = [step.table.verb[action] for action in wish if action >= 0]
        if mine and step.table.verb[mine[0]] is not Verb.WAIT:
            return mine
        if mine:
            pause = pause or mine
        else:
            needed += verbs[:1]
    goes = step.now >= view.leaves_s - GOES_S
    if goes or (needed and not _undecided(view, place)):
        return _hand_over(step, view, place, needed[0] if needed else Verb.DISPATCH)
    return pause


def _wishes(step: Step, view: DeskView, place: int) -> Iterator[list[int]]:
    size = view.table.legs_per_order
    legs = [(i, view.legs[i]) for i in range(place * size, (place + 1) * size)]
    for index, leg in legs:
        if leg.dispatch != YES:
            yield from _confirmations(step, index, leg)
            yield from step.work(index, leg)
    if not view.declared[place] and all(leg.dispatch == YES for _, leg in legs):
        yield [view.table.declare(place)]


def _confirmations(step: Step, index: int, leg: LegView) -> Iterator[list[int]]:
    """Yield the confirmations that a leg's docks wait for, whoever may give them."""
    rules = {dock.id: dock.rules for dock in step.table.spec.docks}
    for stop, view in enumerate(leg.stops):
        if view.unconfirmed and view.state == PENDING and rules[view.dock].confirm_by_s is not None:
            yield [step.table.find(Verb.CONFIRM_APPOINTMENT, index, stop=stop)]


def _undecided(view: DeskView, place: int) -> bool:
    """Return whether a tender is under decision that would be this agent's to replace."""
    size = view.table.legs_per_order
    legs = view.legs[place * size : (place + 1) * size]
    return Verb.TENDER in view.role.verbs and any(leg.best_tender() in (PENDING, UNKNOWN) for leg in legs)


def _hand_over(step: Step, view: DeskView, place: int, verb: Verb) -> list[int]:
    since_s = step.now - view.turned_down_s.get(view.orders[place].id, -AGAIN_S)
    staff = step.table.spec.staff
    if since_s < AGAIN_S or staff is None:
        return [step.table.wait(PATIENT)]
    names = [role.name for role in staff.roles]
    return [view.targets[place, names.index(name)] for name in way_to(staff, view.role.hands_to, verb)]


def way_to(staff: StaffSpec, targets: Sequence[str], verb: Verb) -> list[str]:
    """Return the targets from which a verb is the fewest hand-overs away, nearest first."""
    roles = {role.name: role for role in staff.roles}
    steps: dict[str, int] = {}
    for target in targets:
        reached, distance = {target}, 0
        while not any(verb.value in roles[name].verbs for name in reached):
            further = reached | {name for role in reached for name in roles[role].hands_to}
            if further == reached:
                break
            reached, distance = further, distance + 1
        else:
            steps[target] = distance
    return sorted(steps, key=lambda name: (steps[name], targets.index(name)))
