"""Why a call that the table has is not legal now, in the agent's own terms: what it was told, never what is true.

Each verb's checks come in the order in which an agent would do the steps; they follow the rules of
:mod:`masim.env.legality`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from masim.env.actions import STOPS, Action
from masim.env.desk import DeskView
from masim.env.leg_view import NONE, PENDING, UNKNOWN, YES, LegView, StopView
from masim.env.text.errors import Code, tool_error
from masim.env.text.fence import plain
from masim.env.text.toolbox import Toolbox
from masim.env.view import AgentView
from masim.errors import ToolError
from masim.sim.spec import DockSpec, Verb

Found = Iterator[tuple[Code, bool]]
"""Codes, and whether each applies."""


@dataclass(frozen=True, slots=True)
class _Case:
    """One illegal action and what is known of its leg and its stop."""

    view: AgentView
    action: Action
    docks: dict[str, DockSpec]

    @property
    def leg(self) -> LegView:
        return self.view.legs[self.action.leg]

    @property
    def stop(self) -> StopView:
        return self.leg.stops[self.action.stop]

    @property
    def tender(self) -> int:
        return int(self.leg.tender[self.action.vendor])

    @property
    def dock(self) -> DockSpec:
        return self.docks[self.stop.dock]


def why_not(index: int, view: AgentView, box: Toolbox) -> ToolError:
    """Return why an action is not legal for an agent that is asked."""
    action = box.table.actions[index]
    case = _Case(view, action, {dock.id: dock for dock in box.table.spec.docks})
    reasons = chain(_of_order(case), RULES[box.table.verb[index]](case))
    code = next((code for code, applies in reasons if applies), Code.NOT_NOW)
    return tool_error(code, tool=action.verb, **_fields(case, box))


def _fields(case: _Case, box: Toolbox) -> dict[str, Any]:
    action = case.action
    fields: dict[str, Any] = {"order": action.order, "leg": action.leg % box.table.legs_per_order, "allowed": ""}
    if action.vendor >= 0:
        fields["carrier"] = plain(case.view.carriers[action.vendor])
    if action.leg >= 0:
        open_stops = [STOPS[i].value for i, stop in enumerate(case.leg.stops) if stop.dock and stop.state != YES]
        fields["stops"] = ", ".join(open_stops)
    if action.stop >= 0:
        last = len(case.stop.slots) - 1
        fields |= {"stop": STOPS[action.stop].value, "slot": action.rank}
        fields["allowed"] = "no slot, for the list is empty" if last < 0 else f"0 to {last}"
    return fields


def _of_order(case: _Case) -> Found:
    place, view = case.action.order, case.view
    yield Code.NO_ORDER, place >= 0 and not view.holds(place)
    yield Code.HANDED_OVER, isinstance(view, DeskView) and place in view.leaving


def _closed(case: _Case) -> tuple[Code, bool]:
    return Code.LEG_CLOSED, case.leg.dispatch == YES


def _quote(case: _Case) -> Found:
    yield _closed(case)


def _tender(case: _Case) -> Found:
    yield _closed(case)
    yield Code.NO_QUOTE, not case.leg.price[case.action.vendor] > 0


def _tender_status(case: _Case) -> Found:
    yield Code.NO_TENDER, case.tender == NONE


def _cancel_tender(case: _Case) -> Found:
    yield _closed(case)
    yield Code.NO_TENDER, not UNKNOWN <= case.tender <= YES


def _dispatch(case: _Case) -> Found:
    yield _closed(case)
    yield Code.NOT_ACCEPTED, case.tender != YES
    yield Code.NOT_BOOKED, not case.leg.booked()


def _track(case: _Case) -> Found:
    yield Code.NOT_DISPATCHED, case.leg.dispatch == NONE


def _no_dock(case: _Case) -> tuple[Code, bool]:
    return Code.NO_DOCK, not case.stop.dock


def _no_slot(case: _Case) -> tuple[Code, bool]:
    return Code.NO_SLOT, case.action.rank >= len(case.stop.slots)


def _at_dock(case: _Case) -> Found:
    yield _no_dock(case)


def _hold(case: _Case) -> Found:
    yield _no_dock(case)
    yield Code.NO_HOLDS, case.dock.hold_ttl_s is None
    yield _no_slot(case)


def _schedule(case: _Case) -> Found:
    yield _no_dock(case)
    yield _no_slot(case)


def _reschedule(case: _Case) -> Found:
    yield _no_dock(case)
    yield Code.NO_APPOINTMENT, case.stop.state not in (PENDING, YES)
    yield _no_slot(case)


def _cancel_appointment(case: _Case) -> Found:
    yield _no_dock(case)
    yield Code.NO_APPOINTMENT, case.stop.state not in (PENDING, YES, UNKNOWN)


def _confirm_appointment(case: _Case) -> Found:
    yield _no_dock(case)
    yield Code.NOTHING_TO_CONFIRM, not case.stop.unconfirmed or case.dock.rules.confirm_by_s is None


def _declare(case: _Case) -> Found:
    yield Code.ALREADY_DECLARED, case.view.declared[case.action.order]


def _hand_over(case: _Case) -> Found:
    yield Code.ORDER_DONE, isinstance(case.view, DeskView) and case.view.closed(case.action.order)


def _always(case: _Case) -> Found:
    yield from ()


RULES: dict[Verb, Callable[[_Case], Found]] = {
    Verb.WAIT: _always,
    Verb.DECLARE: _declare,
    Verb.QUOTE: _quote,
    Verb.HEALTH: _quote,
    Verb.HAND_OVER: _hand_over,
    Verb.TENDER: _tender,
    Verb.TENDER_STATUS: _tender_status,
    Verb.CANCEL_TENDER: _cancel_tender,
    Verb.DISPATCH: _dispatch,
    Verb.TRACK: _track,
    Verb.AVAILABILITY: _at_dock,
    Verb.APPOINTMENT_DETAILS: _at_dock,
    Verb.HOLD: _hold,
    Verb.SCHEDULE: _schedule,
    Verb.RESCHEDULE: _reschedule,
    Verb.CANCEL_APPOINTMENT: _cancel_appointment,
    Verb.CONFIRM_APPOINTMENT: _confirm_appointment,
}
