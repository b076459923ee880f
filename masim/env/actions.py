"""The fixed action table of a scenario: what each of the K discrete actions means.

Action 0 waits until the agent's next message (at most the first of the scenario's waits); the other waits follow, then
every call that an agent could ever make for its own orders, sorted by (verb, vendor, order, leg, stop, slot). A slot
is named by its rank in the last availability answer, because slot ids change from day to day while the table must not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from masim.arrays import I64
from masim.sim.spec import CARRIER_VERBS, DOCK_VERBS, EXTRA_VERBS, Verb, WorldSpec
from masim.sim.wire import Stop

STOPS = (Stop.PICKUP, Stop.DELIVERY)
_VERBS = tuple(Verb)


def verb_bits(verbs: Iterable[Verb]) -> int:
    """Return a set of verbs as bits, in the order of :class:`~masim.sim.spec.Verb`."""
    return sum(1 << _VERBS.index(verb) for verb in verbs)


@dataclass(frozen=True, slots=True, order=True)
class Action:
    """One row of the table. ``leg`` counts over all legs of the agent; ``rank`` is a slot's rank, -1 without slot.

    A hand-over names its order's first leg.
    """

    verb: str
    vendor: int
    """Index into the scenario's carriers; -1 for a dock (the stop's own), a wait or a claim."""
    order: int
    leg: int
    stop: int
    """0 pickup, 1 delivery, -1 neither."""
    rank: int
    wait_s: float = 0.0
    role: int = -1
    """Role that an order is handed over to: index into the scenario's roles."""


class ActionTable:
    """All actions of one scenario, with index arrays that legality and features are gathered by."""

    def __init__(self, spec: WorldSpec) -> None:
        self.spec = spec
        self.legs_per_order = len(spec.orders.legs)
        self.n_orders = spec.orders.per_agent if spec.staff is None else spec.staff.places
        """Orders that one agent can have."""
        self.n_legs = self.n_orders * self.legs_per_order
        self.n_carriers = len(spec.carriers)
        self.n_ranks = max((dock.slots_per_answer for dock in spec.docks), default=0)
        waits = [Action(Verb.WAIT.value, -1, -1, -1, -1, -1, wait_s) for wait_s in spec.turn.waits_s]
        self.n_waits = len(waits)
        self.actions: tuple[Action, ...] = (*waits, *sorted(self._calls()))
        self.verb = tuple(Verb(a.verb) for a in self.actions)
        self.verb_bits = np.array([verb_bits([verb]) for verb in self.verb], np.int64)
        """(K,) a bit per verb: what kinds of calls a set of actions offers is their union."""
        self._index = {(a.verb, a.order, a.leg, a.vendor, a.stop, a.rank): i for i, a in enumerate(self.actions)}
        self.hand_overs = {(a.order, a.role): i for i, a in enumerate(self.actions) if a.role >= 0}
        """(order, role) -> index."""
        self.order = self._column("order")
        self.leg = self._column("leg")
        self.vendor = self._column("vendor")
        self.stop = self._column("stop")
        self.rank = self._column("rank")
        self.at_carriers = {v: self._carrier_places(v) for v in (*CARRIER_VERBS, *EXTRA_VERBS) if v in self.verb}
        self.at_stops = self._stop_places()
        self.declares = np.flatnonzero([v is Verb.DECLARE for v in self.verb]).astype(np.int64)

    def __len__(self) -> int:
        return len(self.actions)

    def _column(self, name: str) -> I64:
        return np.array([getattr(a, name) for a in self.actions], dtype=np.int64)

    def _calls(self) -> list[Action]:
        verbs = {api.verb for api in self.spec.apis}
        calls = [Action(Verb.DECLARE.value, -1, k, -1, -1, -1) for k in range(self.n_orders)]
        roles = () if self.spec.staff is None else range(len(self.spec.staff.roles))
        for k in range(self.n_orders):
            leg = k * self.legs_per_order
            calls += [Action(Verb.HAND_OVER.value, -1, k, leg, -1, -1, role=role) for role in roles]
        for leg in range(self.n_legs):
            order, within = divmod(leg, self.legs_per_order)
            for verb in sorted(verbs):
                calls += self._calls_of(verb, order, leg, within)
        return calls

    def _calls_of(self, verb: Verb, order: int, leg: int, within: int) -> list[Action]:
        v = verb.value
        if verb is Verb.TRACK:
            return [Action(v, -1, order, leg, -1, -1)]
        if verb in (*CARRIER_VERBS, *EXTRA_VERBS):
            return [Action(v, c, order, leg, -1, -1) for c in range(self.n_carriers)]
        template = self.spec.orders.legs[within]
        stops = [i for i, docks in enumerate((template.pickup_docks, template.delivery_docks)) if docks]
        if verb in (Verb.HOLD, Verb.SCHEDULE, Verb.RESCHEDULE):
            return [Action(v, -1, order, leg, s, r) for s in stops for r in range(self.n_ranks)]
        return [Action(v, -1, order, leg, s, -1) for s in stops]

    def _carrier_places(self, verb: Verb) -> I64:
        """Return the (legs, carriers) indices of a carrier verb ((legs, 1) for one that has no carrier of its own)."""
        vendors = (-1,) if verb is Verb.TRACK else range(self.n_carriers)
        found = [[self.find(verb, leg, vendor) for vendor in vendors] for leg in range(self.n_legs)]
        return np.array(found, dtype=np.int64)

    def _stop_places(self) -> list[list[tuple[I64, I64, I64]]]:
        """Return by leg and stop the indices of all calls there, their place in ``DOCK_VERBS`` and their slot rank."""
        found: list[list[list[tuple[int, int, int]]]] = [[[], []] for _ in range(self.n_legs)]
        for i, a in enumerate(self.actions):
            if a.stop >= 0:
                found[a.leg][a.stop].append((i, DOCK_VERBS.index(self.verb[i]), a.rank))
        return [[_columns(places) for places in stops] for stops in found]

    def find(self, verb: Verb, leg: int, vendor: int = -1, stop: int = -1, rank: int = -1) -> int:
        """Return the index of a leg's action, -1 when the scenario has no such call."""
        return self._index.get((verb.value, leg // self.legs_per_order, leg, vendor, stop, rank), -1)

    def wait(self, nth: int) -> int:
        """Return the index of the nth wait, of the last one where the scenario has fewer."""
        return min(nth, self.n_waits - 1)

    def declare(self, order: int) -> int:
        """Return the index of the claim that an order is booked."""
        return self._index[Verb.DECLARE.value, order, -1, -1, -1, -1]

    def describe(self, index: int) -> str:
        """Return a short text of an action, for people."""
        a = self.actions[index]
        if a.verb == Verb.WAIT.value:
            return "wait(until message)" if index == 0 else f"wait({a.wait_s:g} s)"
        parts = [f"order {a.order}"] if a.order >= 0 else []
        parts += [f"leg {a.leg % self.legs_per_order}"] if a.leg >= 0 else []
        parts += [self.spec.carriers[a.vendor].id] if a.vendor >= 0 else []
        parts += [STOPS[a.stop].value] if a.stop >= 0 else []
        parts += [f"slot {a.rank}"] if a.rank >= 0 else []
        if a.role >= 0 and self.spec.staff is not None:
            parts = [f"order {a.order}", f"to {self.spec.staff.roles[a.role].name}"]
        return f"{a.verb}({', '.join(parts)})"


def _columns(rows: list[tuple[int, int, int]]) -> tuple[I64, I64, I64]:
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return columns[0], columns[1], columns[2]
