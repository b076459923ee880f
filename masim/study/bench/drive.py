"""Plays a load in masim's own world: the gateway and the vendors, no agents, no policy."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from masim.sim.plan import draw_plan
from masim.sim.spec import Instance, WorldSpec
from masim.sim.trace import Trace
from masim.sim.wire import Answer, Call
from masim.sim.world import World
from masim.study.bench.load import Load

Calls = Sequence[tuple[float, str, Call]]
NewTrace = Callable[[int], Trace]
"""``new_trace(day)``."""


@dataclass(frozen=True, slots=True)
class Played:
    """What one play did, over all its days."""

    calls: int
    events: int
    """Events on the clock, the load's own wake-up for each call included."""
    rows: int
    seconds: float
    """Processor seconds from the first call to the judged end of each day, the trace's way to the disk included."""
    setup_s: float
    """Processor seconds of drawing plans and loads and of building worlds, which no rate contains."""

    @property
    def calls_per_s(self) -> float:
        """Return API calls per processor second."""
        return self.calls / self.seconds

    @property
    def events_per_s(self) -> float:
        """Return processed events per processor second."""
        return self.events / self.seconds


def unheard(*_: object) -> None:
    """Take an answer and do nothing."""


def traced(_: int) -> Trace:
    """Return a trace that stays in memory."""
    return Trace()


def untraced(_: int) -> Trace:
    """Return no trace."""
    return Trace(enabled=False)


class Feed:
    """Sends a load call by call: one event on the clock each, as an agent's wake-up would be."""

    __slots__ = ("_calls", "_deadline_s", "_send_call", "_world")

    def __init__(self, world: World, calls: Calls, deadline_s: float) -> None:
        self._world = world
        self._send_call = world.gateway.send
        self._calls: Iterator[tuple[float, str, Call]] = iter(calls)
        self._deadline_s = deadline_s

    def start(self) -> None:
        """Put the first call on the clock."""
        for t_s, agent, call in self._calls:
            self._world.clock.at(t_s, self._send, agent, call)
            return

    def _send(self, agent: str, call: Call) -> None:
        self._send_call(agent, call, self._deadline_s)
        self.start()


def play(
    spec: WorldSpec,
    days: int = 1,
    seed: int = 0,
    new_trace: NewTrace = traced,
    hear: Callable[[Answer], None] = unheard,
) -> Played:
    """Play the load of every day, each in a world of its own, and judge every order at the end of its day."""
    calls = events = rows = 0
    seconds = setup = 0.0
    for day in range(days):
        began = time.process_time()
        plan = draw_plan(spec, Instance(seed, day))
        load = list(Load(spec, plan))
        world = World(spec, plan, hear, unheard, unheard, new_trace(day))
        gc.collect()
        ready = time.process_time()
        Feed(world, load, spec.client_deadline_s).start()
        world.settle()
        world.outcomes()
        world.trace.flush()
        seconds += time.process_time() - ready
        setup += ready - began
        calls += world.gateway.calls
        events += world.clock.events
        rows += len(world.trace)
    return Played(calls, events, rows, seconds, setup)
