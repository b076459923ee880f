"""The peers of `masim bench env`: the same world behind the two adapters that one would write or take first.

* :class:`Lockstep`: a fixed tick. Every step moves the clock by ``tick_s``, then observes everybody: features, mask,
  info, whether or not the agent is asked, busy or gone. An agent that is ready between two ticks waits for the next.
* :func:`converted`: PettingZoo's own `parallel_to_aec` around masim's Parallel environment.

Nothing in them is slow on purpose: rules, features and legality are masim's own functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from pettingzoo.utils.conversions import parallel_to_aec

from masim.env.actions import ActionTable
from masim.env.calendar import Calendar
from masim.env.core import Session
from masim.env.decision import Decision, Seat
from masim.env.legality import Legality
from masim.env.parallel import BookingParallelEnv
from masim.env.session_options import SessionOptions
from masim.env.spaces import Layout
from masim.scenario.load import Scenario
from masim.units import HOUR

TICK_S = 1.0


class Lockstep:
    """The world one tick after the other. Steps as a PettingZoo Parallel environment does."""

    def __init__(self, scenario: Scenario, tick_s: float = TICK_S) -> None:
        self.spec = scenario.spec
        self.tick_s = tick_s
        self.table = ActionTable(self.spec)
        self.layout = Layout(self.table, memory=False)
        self.possible_agents = list(self.spec.agents)
        self.agents: list[str] = []

    @property
    def unwrapped(self) -> Lockstep:
        return self

    @property
    def stage(self) -> Lockstep:
        """Return what the benchmark reads the session and the open decisions off."""
        return self

    def open_decisions(self) -> list[Decision]:
        return list(self.decisions.values())

    def reset(self, options: Mapping[str, int]) -> tuple[dict[str, Any], dict[str, Any]]:
        instance, memories = Calendar(self.spec, campaign=False).draw(np.random.default_rng(), True, options)
        self.session = Session(self.spec, instance, memories, SessionOptions(trace=False), table=self.table)
        self.legality = Legality(self.table)
        self.agents = list(self.possible_agents)
        self.tick_at_s = self.session.now
        self.end_s = self.session.now + self.spec.booking_end_s - self.spec.day_start_s
        self.decisions: dict[str, Decision] = {}
        self._ask()
        return self._observe()

    def step(self, actions: Mapping[str, int]) -> tuple[dict[str, Any], ...]:
        session, clock = self.session, self.session.world.clock
        for agent in list(self.decisions):
            session.submit(agent, actions.get(agent, 0))
            del self.decisions[agent]
        self.tick_at_s += self.tick_s
        while clock.peek() <= self.tick_at_s:
            clock.step()
        self._ask()
        observations, infos = self._observe()
        rewards = {agent: sum(session.take_rewards(agent)) for agent in self.agents}
        terminations = dict.fromkeys(self.agents, session.over)
        truncations = dict.fromkeys(self.agents, False)
        if session.over:
            self.agents = []
        return observations, rewards, terminations, truncations, infos

    def _ask(self) -> None:
        """Open the decisions of those who are ready; a day without agents that have turns is played to its end."""
        busy, retired = zip(*(self.session.status(agent) for agent in self.possible_agents), strict=True)
        ready = any(not b and not r for b, r in zip(busy, retired, strict=True))
        if ready or all(retired) or self.tick_at_s > self.end_s:
            self.decisions = {decision.agent: decision for decision in self.session.advance()}

    def _observe(self) -> tuple[dict[str, Any], dict[str, Any]]:
        observations, infos = {}, {}
        for seat in self.session.seats():
            observations[seat.name], infos[seat.name] = self._observation(seat), self._info(seat)
        return observations, infos

    def _observation(self, seat: Seat) -> dict[str, Any]:
        layout, ready = self.layout, seat.name in self.decisions
        mask = self.legality.mask(seat.view).astype(np.int8)
        legal = np.flatnonzero(mask)
        rows, context = self.session.arrays(seat, legal)
        out = layout.empty()
        out[layout.context] = context
        out[layout.status] = [ready, seat.retired, (self.session.now - seat.last_s) / HOUR, 0.0, 0.0]
        layout.rows_of(out)[legal] = rows
        if not ready:
            mask[1:] = 0
        return {"observation": out, "action_mask": mask}

    def _info(self, seat: Seat) -> dict[str, Any]:
        return {
            "t_s": self.session.now,
            "ready": int(seat.name in self.decisions),
            "left": int(seat.retired),
            "decision_index": seat.decisions,
            "reason": int(seat.reason),
        }


def converted(scenario: Scenario) -> Any:
    """Return masim's Parallel environment behind PettingZoo's converter."""
    return parallel_to_aec(BookingParallelEnv(scenario))
