"""Clients before a real world, driven call by call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sim.desk import AGENT, ORDER

from masim.rng import Noise
from masim.sim.plan import draw_plan
from masim.sim.spec import Instance, Verb, WorldSpec
from masim.sim.trace import TraceRow
from masim.sim.wire import Answer, Body, Call, Stop
from masim.sim.world import World
from masim.tools.client import Clients
from masim.tools.retry import RetrySettings
from masim.tools.settings import ClientSettings
from masim.tools.sim_transport import SimTransport

Outages = dict[str, tuple[tuple[float, float], ...]]


class Wire:
    """Remembers the calls that reach the vendors."""

    def __init__(self, world: World) -> None:
        self._inner = SimTransport(world)
        self.sent: list[tuple[float, str, Call]] = []
        self._world = world

    def send(self, agent: str, call: Call, deadline_s: float) -> int:
        self.sent.append((self._world.clock.now, agent, call))
        return self._inner.send(agent, call, deadline_s)


class Rig:
    """One world, its clients, and what they tell the agents."""

    def __init__(self, spec: WorldSpec, settings: dict[str, ClientSettings], outages: Outages | None = None) -> None:
        plan = draw_plan(spec, Instance(1, 0))
        if outages is not None:
            plan = replace(plan, outages=outages)
        self.answers: list[Answer] = []
        self.world = World(spec, plan, self._hear, lambda m: self.clients.told(m), lambda *a: None)
        self.wire = Wire(self.world)
        clock, trace = self.world.clock, self.world.trace
        self.clients = Clients(settings, self.wire, clock, trace, Noise(3, "client/test"), self.answers.append)
        self.start = clock.now
        self._deadline_s = spec.client_deadline_s

    def _hear(self, answer: Answer) -> None:
        self.clients.hear(answer)

    @property
    def now(self) -> float:
        return self.world.clock.now

    def start_call(self, verb: Verb, vendor: str, stop: Stop = Stop.NONE, slot: int = -1, agent: str = AGENT) -> None:
        order = ORDER.replace(AGENT, agent)
        self.clients.send(agent, Call(verb, vendor, order, 0, stop, slot), self._deadline_s)

    def ask(self, verb: Verb, vendor: str, stop: Stop = Stop.NONE, slot: int = -1, agent: str = AGENT) -> Body:
        """Make a call and play until the agent is told its end."""
        before = len(self.answers)
        self.start_call(verb, vendor, stop, slot, agent)
        while len(self.answers) == before:
            self.world.clock.step()
        return self.answers[-1].body

    def after(self, seconds: float) -> None:
        until = self.now + seconds
        self.world.clock.at(until, lambda: None)
        while self.now < until:
            self.world.clock.step()

    def rows(self, event: str, agent: str = AGENT) -> list[TraceRow]:
        return [row for row in self.world.trace.rows if row.event == event and row.agent == agent]


def retrying(policy: str = "fixed", deadline_s: float | None = None, **more: Any) -> ClientSettings:
    """Return settings that retry."""
    return ClientSettings(deadline_s, RetrySettings(policy, **more))
