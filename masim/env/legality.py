"""What an agent may call: every call whose ids it knows, wise or not.

The mask hides only what the protocol forbids: a tender needs a quote, a booking needs a listed slot, a dispatch needs
an accepted tender and the numbers of confirmed appointments. It depends on what the agent was told, never on time, so
it changes only with answers and messages.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from masim.arrays import I64, Bool
from masim.env.actions import ActionTable
from masim.env.leg_view import NONE, PENDING, UNKNOWN, YES, LegView, StopView
from masim.env.view import AgentView
from masim.sim.spec import DockSpec, Verb

CarrierRule = Callable[[LegView, bool], Bool | bool]
"""``rule(leg, is_open)``: at which carriers a verb may be called for a leg; one flag for all alike."""

CARRIER_RULES: dict[Verb, CarrierRule] = {
    Verb.QUOTE: lambda leg, is_open: is_open,
    Verb.TENDER: lambda leg, is_open: (leg.price > 0) & is_open,
    Verb.TENDER_STATUS: lambda leg, is_open: leg.tender != NONE,
    Verb.CANCEL_TENDER: lambda leg, is_open: (leg.tender >= UNKNOWN) & (leg.tender <= YES) & is_open,
    Verb.DISPATCH: lambda leg, is_open: (leg.tender == YES) & (is_open and leg.booked()),
    Verb.HEALTH: lambda leg, is_open: is_open,
    Verb.TRACK: lambda leg, is_open: leg.dispatch != NONE,
}
MOST_PATTERNS = 10_000
"""Patterns of one scenario that are kept."""


class Known:
    """One agent's mask, and what it was made of: only the legs and stops that changed since are looked at again."""

    __slots__ = ("carriers", "mask", "stops")

    def __init__(self, table: ActionTable) -> None:
        self.mask = np.zeros(len(table), dtype=np.bool_)
        self.mask[: table.n_waits] = True
        self.carriers: list[object] = [None] * table.n_legs
        self.stops: list[object] = [None] * (2 * table.n_legs)


class Legality:
    """Legality in one scenario, for all its agents and sessions.

    A leg's calls depend on little: which carriers quoted, the tenders' states, what is booked. The same few hundred
    situations come again and again, so the flags that follow from one are kept.
    """

    def __init__(self, table: ActionTable) -> None:
        self._table = table
        self._docks = {dock.id: dock for dock in table.spec.docks}
        verbs = table.at_carriers
        self._of_leg = [
            np.concatenate([where[i] for where in verbs.values()]) if verbs else np.zeros(0, dtype=np.int64)
            for i in range(table.n_legs)
        ]
        """Actions at carriers by leg, in the order of :meth:`_carrier_flags`."""
        self._patterns: dict[tuple[object, ...], Bool] = {}

    def mask(self, view: AgentView, known: Known | None = None) -> Bool:
        """Return the (K,) mask of legal actions; it is the caller's. ``known`` is the agent's own, kept from before."""
        own = known or Known(self._table)
        mask = own.mask
        for i, leg in enumerate(view.legs):
            a, b = leg.stops
            told = (leg.price.tobytes(), leg.tender.tobytes(), leg.dispatch, leg.booked())
            if told != own.carriers[i]:
                own.carriers[i] = told
                mask[self._of_leg[i]] = self._at_carriers(leg, told)
            for s, stop in ((0, a), (1, b)):
                state = (stop.dock, stop.state, len(stop.slots), stop.unconfirmed)
                if state != own.stops[2 * i + s]:
                    own.stops[2 * i + s] = state
                    mask[self._table.at_stops[i][s][0]] = self._at_stop(i, s, stop) if stop.dock else False
        mask[self._table.declares] = np.logical_not(view.declared)
        return mask.copy()

    def _at_carriers(self, leg: LegView, told: tuple[object, ...]) -> Bool:
        key = ((leg.price > 0).tobytes(), *told[1:])
        found = self._patterns.get(key)
        return self._keep(key, self._carrier_flags(leg)) if found is None else found

    def _carrier_flags(self, leg: LegView) -> Bool:
        is_open = leg.dispatch != YES
        flags = [
            np.broadcast_to(CARRIER_RULES[verb](leg, is_open), where.shape[1:])
            for verb, where in self._table.at_carriers.items()
        ]
        return np.concatenate(flags) if flags else np.zeros(0, dtype=np.bool_)

    def _at_stop(self, i: int, s: int, stop: StopView) -> Bool:
        key = (i, s, stop.dock, stop.state, len(stop.slots), stop.unconfirmed)
        found = self._patterns.get(key)
        if found is None:
            _, verbs, ranks = self._table.at_stops[i][s]
            found = self._keep(key, ranks < _limits(stop, self._docks[stop.dock])[verbs])
        return found

    def _keep(self, key: tuple[object, ...], flags: Bool) -> Bool:
        if len(self._patterns) >= MOST_PATTERNS:
            self._patterns.clear()
        self._patterns[key] = flags
        return flags


def legal_mask(view: AgentView, table: ActionTable) -> Bool:
    """Return the (K,) mask of legal actions, worked out anew."""
    return Legality(table).mask(view)


def _limits(stop: StopView, dock: DockSpec) -> I64:
    """Return, in the order of ``DOCK_VERBS``, below which slot rank a call is legal; one without a slot has rank -1."""
    slots = len(stop.slots)
    known = stop.state in (PENDING, YES)
    holds = slots if dock.hold_ttl_s is not None else 0
    cancel = 0 if known or stop.state == UNKNOWN else -1
    confirm = 0 if stop.unconfirmed and dock.rules.confirm_by_s is not None else -1
    return np.array([0, holds, slots, slots if known else 0, cancel, 0, confirm], dtype=np.int64)
