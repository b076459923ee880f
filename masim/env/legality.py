"""What an agent may call: every call whose ids it knows, wise or not.

The mask hides only what the protocol forbids: a tender needs a quote, a booking needs a listed slot, a dispatch needs
an accepted tender and the numbers of confirmed appointments. It depends on what the agent was told, never on time, so
it changes only with answers and messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from masim.arrays import I64, Bool
from masim.env.actions import ActionTable
from masim.env.leg_view import NONE, PENDING, UNKNOWN, YES, StopView
from masim.env.view import AgentView
from masim.sim.spec import DockSpec, Verb

CarrierRule = Callable[[AgentView, Bool], Bool]
"""``rule(view, open_legs)``: at which carriers a verb may be called; (legs, carriers), or (legs, 1) for all alike."""

CARRIER_RULES: dict[Verb, CarrierRule] = {
    Verb.QUOTE: lambda view, open_legs: open_legs,
    Verb.TENDER: lambda view, open_legs: (view.price > 0) & open_legs,
    Verb.TENDER_STATUS: lambda view, open_legs: view.tender != NONE,
    Verb.CANCEL_TENDER: lambda view, open_legs: (view.tender >= UNKNOWN) & (view.tender <= YES) & open_legs,
    Verb.DISPATCH: lambda view, open_legs: (
        (view.tender == YES) & open_legs & _column(leg.booked() for leg in view.legs)
    ),
    Verb.HEALTH: lambda view, open_legs: open_legs,
    Verb.TRACK: lambda view, open_legs: _column(leg.dispatch != NONE for leg in view.legs),
}


def _column(flags: Iterable[bool]) -> Bool:
    """Return one flag per leg as a column that broadcasts over the carriers."""
    return np.array([[flag] for flag in flags], dtype=np.bool_)


def legal_mask(view: AgentView, table: ActionTable, docks: Mapping[str, DockSpec]) -> Bool:
    """Return the (K,) mask of legal actions."""
    mask = np.zeros(len(table), dtype=np.bool_)
    mask[: table.n_waits] = True
    mask[table.declares] = np.logical_not(view.declared)
    open_legs = _column(leg.dispatch != YES for leg in view.legs)
    for verb, where in table.at_carriers.items():
        mask[where] = CARRIER_RULES[verb](view, open_legs)
    for leg, places in zip(view.legs, table.at_stops, strict=True):
        for stop, (where, verbs, ranks) in zip(leg.stops, places, strict=True):
            if stop.dock:
                mask[where] = ranks < _limits(stop, docks[stop.dock])[verbs]
    return mask


def _limits(stop: StopView, dock: DockSpec) -> I64:
    """Return, in the order of ``DOCK_VERBS``, below which slot rank a call is legal; one without a slot has rank -1."""
    slots = len(stop.slots)
    known = stop.state in (PENDING, YES)
    holds = slots if dock.hold_ttl_s is not None else 0
    cancel = 0 if known or stop.state == UNKNOWN else -1
    confirm = 0 if stop.unconfirmed and dock.rules.confirm_by_s is not None else -1
    return np.array([0, holds, slots, slots if known else 0, cancel, 0, confirm], dtype=np.int64)
