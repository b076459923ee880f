"""What the adapters share: an episode of a scenario, and per agent what a trainer reads of it.

Life cycle: :meth:`Stage.reset`, then alternate :meth:`Stage.act` for agents that are asked and :meth:`Stage.advance`,
until :attr:`Stage.over`. Observations, infos and rewards may be read at any time; every array is a fresh copy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from masim.arrays import F32, I8
from masim.env.actions import ActionTable
from masim.env.calendar import Calendar
from masim.env.client_option import clients_of, deadlines_s
from masim.env.core import Session, SessionOptions
from masim.env.decision import Decision
from masim.env.options import EnvOptions
from masim.env.render import Pixels, render
from masim.env.sessions import SESSIONS
from masim.env.snapshot import Snapshot, check, take
from masim.env.spaces import BOUND, Layout
from masim.env.text import describe
from masim.errors import ConfigError
from masim.memory.memory import Memory
from masim.scenario.load import Scenario, load_scenario
from masim.sim.spec import Instance, Verb
from masim.sim.trace import TraceRow
from masim.units import HOUR

Info = dict[str, Any]


@dataclass(slots=True)
class _Place:
    """What an adapter remembers of one agent between its decisions."""

    last: Decision | None = None
    asked: bool = False
    illegal: bool = False
    action: int = 0
    busy_since_s: float = -1.0
    deadline_s: float = -1.0
    r_out: float = 0.0
    r_pen: float = 0.0


class Stage:
    """One scenario, episode after episode."""

    def __init__(
        self, scenario: Scenario | str | Path, options: EnvOptions, sync: str = "event", tick_s: float | None = None
    ) -> None:
        self.scenario = scenario if isinstance(scenario, Scenario) else load_scenario(scenario)
        self.spec = self.scenario.spec
        self.options = options
        self.agents = self.spec.agents
        self.observed: Collection[str] = self.agents
        """Whose observations may be read; an adapter that shows one agent only saves the work for the others."""
        self.table = ActionTable(self.spec)
        self.layout = Layout(self.table, options.memory)
        self._session_class = SESSIONS[sync]
        self._how = SessionOptions(trace=options.traced, settle=options.settle, tick_s=tick_s)
        self._clients = clients_of(options.clients, self.agents)
        self._deadlines_s = deadlines_s(self._clients, self.agents, self.spec.client_deadline_s)
        self._calendar = Calendar(self.spec, options.campaign)
        self._session: Session | None = None
        self._memories: dict[str, Memory] = {}
        self._places: dict[str, _Place] = {}

    @property
    def session(self) -> Session:
        """Return the episode in progress. Raises ConfigError before the first reset."""
        if self._session is None:
            raise ConfigError("the environment was not reset yet", "reset", "", "", "call reset() first")
        return self._session

    @property
    def over(self) -> bool:
        """Return whether the episode has ended."""
        return self.session.over

    @property
    def trace_rows(self) -> list[TraceRow]:
        """Return the trace of the episode; empty when it is not kept."""
        return self.session.trace_rows

    # -- playing --------------------------------------------------------------------------------------------------

    def reset(self, rng: np.random.Generator, reseeded: bool, options: Mapping[str, object] | None) -> None:
        """Start an episode and stop at its first decisions."""
        self._start(*self._calendar.draw(rng, reseeded, options or {}))

    def _start(self, instance: Instance, memories: dict[str, Memory]) -> None:
        self._memories = memories
        self._session = self._session_class(
            self.spec, instance, memories, self._how, table=self.table, clients=self._clients
        )
        self._places = {name: _Place() for name in self.agents}
        self.advance()

    def advance(self) -> tuple[Decision, ...]:
        """Go on to the next decisions; nothing at the end of the episode, which is then settled."""
        session = self.session
        if session.over:
            return ()
        decisions = session.advance()
        for decision in decisions:
            place = self._places[decision.agent]
            place.last, place.asked = decision, True
            place.busy_since_s = place.deadline_s = -1.0
        if session.over:
            self._calendar.close(self._memories, session.sample_outcomes(), session.now)
        return decisions

    def open_decisions(self) -> list[Decision]:
        """Return the decisions that are open now, in the order of the agents."""
        return [place.last for place in self._places.values() if place.asked and place.last is not None]

    def asked(self, agent: str) -> bool:
        """Return whether an agent has a decision to make now."""
        return self._places[agent].asked

    def left(self, agent: str) -> bool:
        """Return whether an agent has no more turns in this episode."""
        return self.session.over or self.session.status(agent)[1]

    def act(self, agent: str, action: object) -> None:
        """Take an action. Whatever is illegal is a wait and noted; a busy agent can only go on waiting."""
        place = self._places[agent]
        index = _index(action, len(self.table))
        if not place.asked:
            place.illegal = index != 0
            return
        if agent in self.observed and place.last is not None:
            # A decision builds its arrays when asked for; later they would show what the agent did not know yet.
            _ = place.last.context
        now = self.session.now
        place.illegal = not self.session.submit(agent, index)
        place.action = 0 if place.illegal else index
        place.asked = False
        verb = self.table.verb[place.action]
        wait = self.table.actions[place.action].wait_s if verb is Verb.WAIT else self._deadlines_s[agent]
        place.busy_since_s, place.deadline_s = now, now + (0.0 if verb is Verb.DECLARE else wait)

    def snapshot(self) -> Snapshot:
        """Return this moment of the episode, for :meth:`restore`."""
        return take(self.scenario, self.session)

    def restore(self, snapshot: Snapshot, collected: bool = True) -> None:
        """Go back (or on) to a moment by playing its actions again; rewards up to there count as collected.

        Without ``collected`` those since each agent's last action do not: for adapters that pay with the next turn.

        Raises ConfigError when its memories are gone, RunError when the replay comes out elsewhere.
        """
        self._start(snapshot.instance, self._calendar.again(snapshot.instance))
        for agent, action in snapshot.actions:
            while not self.asked(agent) and not self.over:
                self.advance()
            self._drop_rewards(agent)
            self.act(agent, action)
        while self.session.ticks < snapshot.ticks:
            self.advance()
        while snapshot.asked and not self.open_decisions() and not self.over:
            self.advance()
        for agent in self.agents if collected else ():
            self._drop_rewards(agent)
        check(self.session, snapshot)

    def _drop_rewards(self, agent: str) -> None:
        self.collect(agent)
        self.forget_rewards(agent)

    def collect(self, agent: str) -> float:
        """Return the reward that landed for an agent since the last call; its parts are added to the info's."""
        place = self._places[agent]
        r_out, r_pen = self.session.take_rewards(agent)
        place.r_out += r_out
        place.r_pen += r_pen
        return r_out + r_pen

    def forget_rewards(self, agent: str) -> None:
        """Start the sums of reward parts in an agent's info anew."""
        place = self._places[agent]
        place.r_out = place.r_pen = 0.0

    def flags(self) -> tuple[bool, bool]:
        """Return (terminated, truncated): a day that was cut off is truncated, any other end terminates."""
        cut = self.options.settle == "cut"
        return self.over and not cut, self.over and cut

    # -- what an agent is shown -----------------------------------------------------------------------------------

    def mask(self, agent: str) -> I8:
        """Return the (K,) mask; only the wait for an agent that is not asked."""
        place = self._places[agent]
        if place.asked and place.last is not None:
            return place.last.mask()
        mask = np.zeros(len(self.table), dtype=np.int8)
        mask[0] = 1
        return mask

    def observation(self, agent: str) -> Any:
        """Return the observation, with the mask beside it unless the mask is in the info."""
        features = self.features(agent)
        if self.options.mask_in == "info":
            return features
        return {"observation": features, "action_mask": self.mask(agent)}

    def features(self, agent: str) -> F32:
        """Return the flat observation; see :mod:`masim.env.spaces`."""
        place, layout = self._places[agent], self.layout
        out = layout.empty()
        out[layout.status] = self._status(agent, place)
        if place.last is not None:
            out[layout.context] = place.last.context
            rows = layout.rows_of(out)
            if place.asked:
                rows[place.last.legal] = place.last.rows
            else:
                rows[0] = place.last.rows[0]
        if self.options.memory:
            out[layout.memory] = self._memories[agent].features(self.session.now)
        return np.clip(out, -BOUND, BOUND, out=out)

    def _busy(self, agent: str, place: _Place) -> bool:
        """Return whether an agent is in between two turns; one that has not joined yet is not."""
        return place.last is not None and not place.asked and not self.left(agent)

    def _status(self, agent: str, place: _Place) -> list[float]:
        now = self.session.now
        busy = self._busy(agent, place)
        start_s, end_s = self.spec.day_start_s, self.spec.booking_end_s
        day = (now - self.session.plan.day0_s - start_s) / (end_s - start_s)
        return [
            float(place.asked),
            float(self.left(agent)),
            (now - place.busy_since_s) / HOUR if busy else 0.0,
            max(place.deadline_s - now, 0.0) / HOUR if busy else 0.0,
            min(day, 1.0),
        ]

    def info(self, agent: str) -> Info:
        """Return the info: numbers under constant keys, and texts besides at ``info_level="full"``."""
        place = self._places[agent]
        last, busy = place.last, self._busy(agent, place)
        info: Info = {
            "t_s": self.session.now,
            "dt_s": last.dt_s if last is not None else 0.0,
            "ready": int(place.asked),
            "left": int(self.left(agent)),
            "decision_index": self.session.decisions(agent),
            "reason": int(last.reason) if last is not None else 0,
            "illegal": int(place.illegal),
            "busy_since_s": place.busy_since_s if busy else -1.0,
            "deadline_s": place.deadline_s if busy else -1.0,
            "r_out": place.r_out,
            "r_pen": place.r_pen,
            "day": self.session.instance.day,
        }
        if self.options.mask_in != "obs":
            info["action_mask"] = self.mask(agent)
        if self.options.info_level == "full":
            info["action_text"] = self.table.describe(place.action)
            info["text"] = self.text(agent)
        return info

    def text(self, agent: str) -> str:
        """Return an agent's situation in words; empty before its first decision."""
        place = self._places[agent]
        return describe(place.last, place.asked) if place.last is not None else ""

    def render(self) -> str | Pixels | None:
        """Return the picture of the episode so far, ``None`` when rendering is off."""
        mode = self.options.render_mode
        return render(mode, self.trace_rows, self.agents) if mode is not None else None

    def state(self) -> F32:
        """Return every agent's context and status, one after the other."""
        stop = self.layout.status.stop
        parts = []
        for agent in self.agents:
            place = self._places[agent]
            part = np.zeros(stop, dtype=np.float32)
            part[self.layout.status] = self._status(agent, place)
            if place.last is not None:
                part[self.layout.context] = place.last.context
            parts.append(part)
        state = np.concatenate(parts)
        return np.clip(state, -BOUND, BOUND, out=state)


def _index(action: object, k: int) -> int:
    """Return an action as an index, -1 for anything that is none."""
    array = np.asarray(action)
    if array.size != 1 or array.dtype.kind not in "iu":
        return -1
    index = int(array.reshape(()))
    return index if 0 <= index < k else -1
