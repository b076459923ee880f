"""Calls a world directly, without agents or views, and collects what it answers."""

from __future__ import annotations

from dataclasses import replace

from masim.sim.plan import Plan, draw_plan
from masim.sim.spec import Instance, Verb, WorldSpec
from masim.sim.wire import Answer, Body, Call, Message, Stop
from masim.sim.world import World

AGENT = "booker_0"
ORDER = "booker_0-order_0"


class Desk:
    """One world; ``outages`` replaces the drawn ones."""

    def __init__(
        self, spec: WorldSpec, seed: int = 1, outages: dict[str, tuple[tuple[float, float], ...]] | None = None
    ) -> None:
        self.spec = spec
        plan: Plan = draw_plan(spec, Instance(seed, 0))
        self.plan = replace(plan, outages=outages) if outages is not None else plan
        self.answers: list[Answer] = []
        self.messages: list[Message] = []
        self.road: list[tuple[str, str]] = []
        self.world = World(spec, self.plan, self.answers.append, self.messages.append, self._on_road)

    def _on_road(self, leg: object, kind: str, problem: str) -> None:
        self.road.append((kind, problem))

    @property
    def now(self) -> float:
        return self.world.clock.now

    def send(self, verb: Verb, vendor: str, stop: Stop = Stop.NONE, slot: int = -1, **more: object) -> Call:
        """Send a call of the first agent for the first leg of its order and return it."""
        agent = str(more.pop("agent", AGENT))
        call = Call(verb, vendor, str(more.pop("order", ORDER)), 0, stop, slot, **more)  # type: ignore[arg-type]
        self.world.send(agent, call, self.spec.client_deadline_s)
        return call

    def ask(self, verb: Verb, vendor: str, stop: Stop = Stop.NONE, slot: int = -1, **more: object) -> Body:
        """Send a call, play until its end, and return the answer."""
        before = len(self.answers)
        self.send(verb, vendor, stop, slot, **more)
        while len(self.answers) == before:
            self.world.clock.step()
        return self.answers[-1].body

    def until(self, t_s: float) -> None:
        """Play everything up to a moment, and let the clock come to it."""
        self.world.clock.at(t_s, lambda: None)
        while self.now < t_s:
            self.world.clock.step()

    def after(self, seconds: float) -> None:
        """Let time pass."""
        self.until(self.now + seconds)
