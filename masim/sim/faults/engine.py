"""All injected faults of one world: which strike an event, what they change together, and their cause ids.

A cause id reads ``kind:vendor:endpoint:fault#n``. It is written to the trace and nowhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from masim.rng import Noise
from masim.sim.faults.armed import MASK, Armed, Probe
from masim.sim.faults.base import (
    CallChange,
    CallFault,
    DecisionChange,
    DecisionFault,
    MessageChange,
    MessageFault,
    SubmitChange,
    SubmitFault,
    WorldFault,
    base_latency_s,
)
from masim.sim.faults.event import Event, Where
from masim.sim.faults.rules import FaultSpec
from masim.sim.spec import Verb
from masim.sim.spells import is_bad
from masim.sim.wire import Body, Call

if TYPE_CHECKING:
    from masim.sim.world import World

Note = Callable[[Event, str, float], None]
"""``note(event, cause id, lasts_s)`` writes a fault to the trace; ``lasts_s`` is how much longer an outage lasts."""
CALLBACK = "callback"
_BASES: tuple[type, ...] = (CallFault, MessageFault, DecisionFault, SubmitFault)


class FaultEngine:
    """Built once per world from its scenario's faults, in the order in which they stand there."""

    __slots__ = ("_armed", "_by_base", "_note", "_number", "_places", "_world", "noise")

    def __init__(
        self, specs: Sequence[FaultSpec], noise: Noise, day0_s: float, day: int, probe: Probe, note: Note
    ) -> None:
        self._armed = tuple(Armed(spec, noise, day0_s, day, probe) for spec in specs)
        self._by_base = {base: tuple(a for a in self._armed if isinstance(a.fault, base)) for base in _BASES}
        self.noise = noise
        self._note = note
        self._places: dict[tuple[type, str, str], _Place] = {}
        self._number = 0
        self._world: World | None = None

    def _at(self, base: type, vendor: str, endpoint: str) -> _Place:
        key = (base, vendor, endpoint)
        found = self._places.get(key)
        if found is None:
            found = self._places[key] = _Place(
                (armed, armed.spells(vendor))
                for armed in self._by_base[base]
                if armed.spec.match.place(vendor, endpoint)
                and (not armed.verbs or endpoint in armed.verbs)
                and not (endpoint == Verb.HEALTH.value and armed.fault.family == "outage")
            )
        return found

    def _hits(self, base: type, where: Where, key: str) -> list[tuple[Armed, Any, Event]]:
        """Return the faults that an event's place, conditions and rate leave, in the order of the scenario."""
        place = self._at(base, where.vendor, where.endpoint)
        hits: list[tuple[Armed, Any, Event]] = []
        if not place.faults:
            return hits
        place.events += 1
        noise, seed = self.noise, self.seed(key)
        t_s = where.t_s
        for free, bad, always, salt, cut, armed in place.faults:
            if free:
                if bad is not None:
                    if not is_bad(bad, t_s):
                        continue
                    armed.asked += 1
                drawn = seed * salt & MASK < cut
            else:
                asked = armed.ask(where, seed)
                if asked is None:
                    continue
                drawn = asked
            if drawn or always:
                hits.append((armed, armed.fault, Event(where, noise, armed.id, key, drawn)))
        return hits

    def label(self, armed: Armed, event: Event, until_s: float) -> str:
        """Count a strike, write it to the trace and return its cause id."""
        self._number += 1
        armed.count(until_s)
        where = event.where
        cause = f"{armed.fault.kind}:{where.vendor}:{where.endpoint}:{armed.id}#{self._number}"
        self._note(event, cause, armed.lasts_s(where.vendor, where.t_s) if armed.outage else 0.0)
        return cause

    def on_call(self, where: Where, key: str) -> tuple[CallChange, str] | None:
        """Return what becomes of a call and the cause id of the first fault that struck it; None: nothing did.

        ``key`` names the event among all of its world, its parts divided by ``\\x1f``; so for all that follow.
        """
        hits = self._hits(CallFault, where, key)
        if not hits:
            return None
        change = CallChange()
        cause = ""
        for armed, fault, event in hits:
            if fault.on_call(event, change, armed.memo):
                label = self.label(armed, event, where.t_s + (_held_s(where, change) if armed.spec.max_active else 0.0))
                cause = cause or label
        return (change, cause) if cause else None

    def on_message(self, where: Where, key: str) -> MessageChange | None:
        """Return what becomes of a callback; None: nothing strikes it."""
        change = MessageChange()
        struck = False
        for armed, fault, event in self._hits(MessageFault, where, key):
            if fault.on_message(event, change, armed.memo):
                self.label(armed, event, where.t_s)
                struck = True
        return change if struck else None

    def on_decision(self, where: Where, key: str) -> DecisionChange | None:
        """Return what becomes of a pending decision; None: nothing strikes it."""
        change = DecisionChange()
        struck = False
        for armed, fault, event in self._hits(DecisionFault, where, key):
            if fault.on_decision(event, change, armed.memo):
                self.label(armed, event, where.t_s)
                struck = True
        return change if struck else None

    def on_submit(self, where: Where, key: str) -> SubmitChange | None:
        """Return what becomes of a submitted action; None: nothing strikes it."""
        change = SubmitChange()
        struck = False
        for armed, fault, event in self._hits(SubmitFault, where, key):
            if fault.on_submit(event, change, armed.memo):
                self.label(armed, event, where.t_s + change.delay_s)
                struck = True
        return change if struck else None

    def seed(self, key: str) -> int:
        """Return the 64 random bits of an event."""
        return self.noise.seed64_at("fault\x1f" + key)

    def start(self, world: World) -> None:
        """Let every fault that acts by itself put its callbacks on the world's clock."""
        self._world = world
        for armed in self._armed:
            fault = armed.fault
            if isinstance(fault, WorldFault):
                fault.on_start(Stage(self, armed, world), armed.memo)

    def work(self, change: CallChange, call: Call, work: Callable[[], Body]) -> Body:
        """Let a vendor do its work the way that faults make it."""
        if self._world is not None:
            for act in change.acts:
                work = partial(act, self._world, call, work)
        return work()

    def down(self, vendor: str, t_s: float) -> bool:
        """Return whether a fault has the whole of a vendor down."""
        return any(armed.takes_down(vendor, t_s) for armed in self._armed)

    def counts(self) -> dict[str, tuple[int, int]]:
        """Return per fault (events that met every condition but the rate, strikes)."""
        counted: Counter[str] = Counter()
        for place in self._places.values():
            for free, bad, _, _, _, armed in place.faults:
                counted[armed.id] += place.events * (free and bad is None)
        return {armed.id: (armed.asked + counted[armed.id], armed.struck) for armed in self._armed}


class _Place:
    """A vendor's endpoint: the faults that may strike there, and how many events there were."""

    __slots__ = ("events", "faults")

    def __init__(self, faults: Iterable[tuple[Armed, tuple[float, ...] | None]]) -> None:
        self.events = 0
        self.faults = tuple((one.free, bad, one.fault.always, one.salt, one.cut, one) for one, bad in faults)


def _held_s(where: Where, change: CallChange) -> float:
    """Return how long a struck call keeps its caller."""
    if change.lost:
        return where.deadline_s
    return min(base_latency_s(change, where.latency_s) * change.scale + change.add_s, where.deadline_s)


@dataclass(frozen=True, slots=True)
class Stage:
    """What a fault that acts by itself may use."""

    engine: FaultEngine
    armed: Armed
    world: World

    def try_strike(self, where: Where, key: str) -> Event | None:
        """Return the event when the fault's place and conditions hold for it and its rate has drawn it."""
        if not self.armed.spec.match.place(where.vendor, where.endpoint):
            return None
        drawn = self.armed.ask(where, self.engine.seed(key))
        return Event(where, self.engine.noise, self.armed.id, key) if drawn else None

    def label(self, event: Event, until_s: float = 0.0) -> str:
        """Count the strike, write it to the trace and return its cause id."""
        return self.engine.label(self.armed, event, until_s)
