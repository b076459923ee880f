"""All injected faults of one world: which strike an event, what they change together, and their cause ids.

A cause id reads ``kind:vendor:endpoint:fault#n``. It is written to the trace and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from masim.rng import Noise
from masim.sim.faults.armed import Armed, Probe
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
from masim.sim.wire import Body, Call

if TYPE_CHECKING:
    from masim.sim.world import World

Note = Callable[[Event, str], None]
"""``note(event, cause id)`` writes a fault to the trace."""
CALLBACK = "callback"


class FaultEngine:
    """Built once per world from its scenario's faults, in the order in which they stand there."""

    __slots__ = ("_armed", "_note", "_number", "_places", "_world")

    def __init__(
        self, specs: Sequence[FaultSpec], noise: Noise, day0_s: float, day: int, probe: Probe, note: Note
    ) -> None:
        self._armed = tuple(Armed(spec, noise, day0_s, day, probe) for spec in specs)
        self._note = note
        self._places: dict[tuple[type, str, str], tuple[Armed, ...]] = {}
        self._number = 0
        self._world: World | None = None

    def _at(self, base: type, vendor: str, endpoint: str) -> tuple[Armed, ...]:
        key = (base, vendor, endpoint)
        found = self._places.get(key)
        if found is None:
            found = self._places[key] = tuple(
                armed
                for armed in self._armed
                if isinstance(armed.spec.fault, base)
                and armed.spec.match.place(vendor, endpoint)
                and not (endpoint == Verb.HEALTH.value and armed.spec.fault.family == "outage")
            )
        return found

    def _hits(self, base: type, where: Where, key: tuple[str | int, ...]) -> list[tuple[Armed, Any, Event]]:
        hits = []
        for armed in self._at(base, where.vendor, where.endpoint):
            draw = armed.ask(where.agent, where.vendor, where.order, where.leg, where.t_s, key)
            if draw is not None and (draw.drawn or armed.spec.fault.always):
                hits.append((armed, armed.spec.fault, where.event(draw.us, draw.drawn)))
        return hits

    def label(self, armed: Armed, event: Event, until_s: float) -> str:
        """Count a strike, write it to the trace and return its cause id."""
        self._number += 1
        armed.count(until_s)
        cause = f"{armed.spec.fault.kind}:{event.vendor}:{event.endpoint}:{armed.spec.id}#{self._number}"
        self._note(event, cause)
        return cause

    def on_call(self, where: Where, key: tuple[str | int, ...]) -> tuple[CallChange, str] | None:
        """Return what becomes of a call and the cause id of the first fault that struck it; None: nothing did."""
        change = CallChange()
        cause = ""
        for armed, fault, event in self._hits(CallFault, where, key):
            if fault.on_call(event, change, armed.memo):
                label = self.label(armed, event, where.t_s + _held_s(where, change))
                cause = cause or label
        return (change, cause) if cause else None

    def on_message(self, where: Where, key: tuple[str | int, ...]) -> MessageChange | None:
        """Return what becomes of a callback; None: nothing strikes it."""
        change = MessageChange()
        struck = False
        for armed, fault, event in self._hits(MessageFault, where, key):
            if fault.on_message(event, change, armed.memo):
                self.label(armed, event, where.t_s)
                struck = True
        return change if struck else None

    def on_decision(self, where: Where, key: tuple[str | int, ...]) -> DecisionChange | None:
        """Return what becomes of a pending decision; None: nothing strikes it."""
        change = DecisionChange()
        struck = False
        for armed, fault, event in self._hits(DecisionFault, where, key):
            if fault.on_decision(event, change, armed.memo):
                self.label(armed, event, where.t_s)
                struck = True
        return change if struck else None

    def on_submit(self, where: Where, key: tuple[str | int, ...]) -> SubmitChange | None:
        """Return what becomes of a submitted action; None: nothing strikes it."""
        change = SubmitChange()
        struck = False
        for armed, fault, event in self._hits(SubmitFault, where, key):
            if fault.on_submit(event, change, armed.memo):
                self.label(armed, event, where.t_s + change.delay_s)
                struck = True
        return change if struck else None

    def start(self, world: World) -> None:
        """Let every fault that acts by itself put its callbacks on the world's clock."""
        self._world = world
        for armed in self._armed:
            fault = armed.spec.fault
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
        return {armed.spec.id: (armed.asked, armed.struck) for armed in self._armed}


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

    def try_strike(self, where: Where, key: tuple[str | int, ...]) -> Event | None:
        """Return the event when the fault's place and conditions hold for it and its rate has drawn it."""
        if not self.armed.spec.match.place(where.vendor, where.endpoint):
            return None
        draw = self.armed.ask(where.agent, where.vendor, where.order, where.leg, where.t_s, key)
        return where.event(draw.us) if draw is not None and draw.drawn else None

    def label(self, event: Event, until_s: float = 0.0) -> str:
        """Count the strike, write it to the trace and return its cause id."""
        return self.engine.label(self.armed, event, until_s)
