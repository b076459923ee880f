"""What an agent may call: every call whose ids it knows, wise or not.

The mask hides only what the protocol forbids: a tender needs a quote, a booking needs a listed slot, a dispatch needs
an accepted tender and the numbers of confirmed appointments. It depends on what the agent was told, never on time, so
it changes only with answers and messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from masim.arrays import Bool
from masim.env.actions import WAITS_S, ActionTable
from masim.env.view import NONE, PENDING, UNKNOWN, YES, AgentView, LegView, StopView
from masim.sim.spec import DockSpec, Verb

CarrierRule = Callable[[LegView], Bool]
"""Which carriers a verb may be called at, shape (carriers,)."""

CARRIER_RULES: dict[Verb, CarrierRule] = {
    Verb.QUOTE: lambda leg: np.full(len(leg.price), leg.dispatch != YES),
    Verb.TENDER: lambda leg: (leg.price > 0) & (leg.dispatch != YES),
    Verb.TENDER_STATUS: lambda leg: leg.tender != NONE,
    Verb.CANCEL_TENDER: lambda leg: (leg.tender >= UNKNOWN) & (leg.tender <= YES) & (leg.dispatch != YES),
    Verb.DISPATCH: lambda leg: (leg.tender == YES) & (leg.dispatch != YES) & leg.booked(),
    Verb.TRACK: lambda leg: np.array([leg.dispatch != NONE]),
}


def legal_mask(view: AgentView, table: ActionTable, docks: Mapping[str, DockSpec]) -> Bool:
    """Return the (K,) mask of legal actions."""
    mask = np.zeros(len(table), dtype=np.bool_)
    mask[: len(WAITS_S)] = True
    mask[table.declares] = np.logical_not(view.declared)
    for leg, carriers, stops in zip(view.legs, table.at_carriers, table.at_stops, strict=True):
        for verb, where in carriers.items():
            mask[where] = CARRIER_RULES[verb](leg)
        for stop, verbs in zip(leg.stops, stops, strict=True):
            if stop.dock:
                for verb, where in verbs.items():
                    mask[where[: _allowed(verb, stop, docks[stop.dock])]] = True
    return mask


def _allowed(verb: Verb, stop: StopView, dock: DockSpec) -> int:
    """Return how many of a verb's calls at a stop are legal: the first slot ranks, or its single call (1) or none."""
    if verb is Verb.HOLD:
        return len(stop.slots) if dock.hold_ttl_s is not None else 0
    if verb is Verb.SCHEDULE:
        return len(stop.slots)
    if verb is Verb.RESCHEDULE:
        return len(stop.slots) if stop.state in (PENDING, YES) else 0
    if verb is Verb.CANCEL_APPOINTMENT:
        return int(stop.state in (UNKNOWN, PENDING, YES))
    return 1
