"""Playing a scenario episode after episode, as the adapters do it: resets, actions, snapshots and rewards.

What agents are shown of it is in :mod:`masim.env.stage`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import numpy as np

from masim.env.actions import ActionTable
from masim.env.calendar import Calendar
from masim.env.choices import Choices
from masim.env.client_option import clients_of, deadlines_s
from masim.env.core import Session
from masim.env.decision import Chosen, Decision
from masim.env.features import FeatureBuilder
from masim.env.options import EnvOptions
from masim.env.place import Place
from masim.env.session_options import SessionOptions
from masim.env.sessions import SESSIONS
from masim.env.snapshot import Snapshot, check, same_scenario, take
from masim.env.spaces import Layout
from masim.errors import ConfigError
from masim.memory.memory import Memory
from masim.scenario.load import Scenario, load_scenario
from masim.sim.spec import Instance
from masim.sim.trace import TraceRow
from masim.units import HOUR


class Playing:
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
        self._features = FeatureBuilder(self.table)
        self.layout = Layout(self.table, options.memory)
        self.choices = Choices(self.table, options.calls_per_decision)
        self._session_class = SESSIONS[sync]
        self._gamma = options.gamma_per_hour
        self._how = SessionOptions(options.traced, options.settle, landings=self._gamma is not None, tick_s=tick_s)
        self._clients = clients_of(options.clients, self.agents)
        self._deadlines_s = deadlines_s(self._clients, self.agents, self.spec.client_deadline_s)
        self._calendar = Calendar(self.spec, options.campaign)
        self._session: Session | None = None
        self.memories: dict[str, Memory] = {}
        self.places: dict[str, Place] = {}

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
        self.memories = memories
        self._session = self._session_class(
            self.spec,
            instance,
            memories,
            self._how,
            table=self.table,
            features=self._features,
            clients=self._clients,
        )
        self.places = {seat.name: Place(seat, since_s=self._session.now) for seat in self._session.seats()}
        self.advance()

    def advance(self) -> tuple[Decision, ...]:
        """Go on to the next decisions; nothing at the end of the episode, which is then settled."""
        session = self.session
        if session.over:
            return ()
        decisions = session.advance()
        for decision in decisions:
            self.places[decision.agent].ask(decision)
        if session.over:
            self._calendar.close(self.memories, session.sample_outcomes(), session.now)
        return decisions

    def open_decisions(self) -> list[Decision]:
        """Return the decisions that are open now, in the order of the agents."""
        return [place.last for place in self.places.values() if place.asked and place.last is not None]

    def asked(self, agent: str) -> bool:
        """Return whether an agent has a decision to make now."""
        return self.places[agent].asked

    def left(self, agent: str) -> bool:
        """Return whether an agent has no more turns in this episode."""
        return self.session.over or self.places[agent].seat.retired

    def act(self, agent: str, action: object) -> None:
        """Take an action. Whatever is illegal is a wait and noted; a busy agent can only go on waiting."""
        self.choose(agent, self.choices.read(action))

    def choose(self, agent: str, chosen: Chosen) -> None:
        """As :meth:`act`, with an action that was read already."""
        place = self.places[agent]
        if not place.asked:
            place.illegal = chosen != 0 and (chosen == -1 or self.choices.listed(chosen) != (0,))
            return
        if agent in self.observed:
            place.keep(self.layout)
        now = self.session.now
        place.illegal = not self.session.submit(agent, chosen)
        several = isinstance(chosen, tuple)
        place.actions = self.choices.listed(chosen) if several or not place.illegal else (0,)
        place.asked = False
        wait_s = self.choices.deadline_s(place.actions, self._deadlines_s[agent])
        place.busy_since_s, place.deadline_s = now, now + wait_s

    def act_together(self, agents: Iterable[str], actions: Mapping[str, object]) -> None:
        """Begin a step of some agents with their actions; none is a wait."""
        now, acting = self.session.now, []
        for agent in agents:
            place = self.places[agent]
            place.begin(now)
            if place.asked or agent in actions:
                acting.append(agent)
            else:
                place.illegal = False
        for agent in acting:
            self.act(agent, actions.get(agent, 0))

    def snapshot(self) -> Snapshot:
        """Return this moment of the episode, for :meth:`restore`."""
        return take(self.scenario, self.session)

    def restore(self, snapshot: Snapshot, collected: bool = True, removes: bool = False) -> None:
        """Go back (or on) to a moment by playing its actions again; rewards up to there count as collected.

        Without ``collected`` those since each agent's last action do not: for adapters that pay with the next turn.
        With ``removes`` what lands for an agent that had left counts from the step in which it did.

        Raises ConfigError for what is no snapshot, for one of an environment that asks at other times and when its
        memories are gone, RunError for another scenario and when the replay comes out elsewhere.
        """
        if not isinstance(snapshot, Snapshot):
            raise ConfigError("this is no snapshot", "restore", repr(snapshot)[:60], "what snapshot() returned")
        same_scenario(self.scenario, snapshot)
        self._same_pace(snapshot)
        self._start(snapshot.instance, self._calendar.again(snapshot.instance))
        watched = list(self.agents) if removes else []
        for agent, action in snapshot.actions:
            while not self.asked(agent) and not self.over:
                self._go_on(watched)
            self._drop_rewards(agent)
            self.choose(agent, action)
        while self.session.ticks < snapshot.ticks:
            self._go_on(watched)
        while snapshot.asked and not self.open_decisions() and not self.over:
            self._go_on(watched)
        staying = watched if removes else self.agents
        for agent in staying if collected else ():
            self._drop_rewards(agent)
        check(self.session, snapshot)

    def _same_pace(self, snapshot: Snapshot) -> None:
        """Raise ConfigError unless agents are asked here when they were asked in the snapshot's episode."""
        ours, theirs = (self._session_class.sync, self._how.tick_s), (snapshot.sync, snapshot.tick_s)
        if ours != theirs:
            here, there = (f"sync={sync!r}, tick_s={tick_s}" for sync, tick_s in (ours, theirs))
            fix = "restore it in an environment with the options that it was taken in"
            raise ConfigError("the snapshot is of an environment that asks at other times", "restore", there, here, fix)

    def _go_on(self, watched: list[str]) -> None:
        """Advance; of those that are watched, let the ones that leave in this step collect for the last time."""
        self.advance()
        for agent in [agent for agent in watched if self.left(agent)]:
            self._drop_rewards(agent)
            watched.remove(agent)

    def _drop_rewards(self, agent: str) -> None:
        self.collect(agent)
        self.forget_rewards(agent)

    def collect(self, agent: str) -> float:
        """Return the reward that landed for an agent since the last call; its parts are added to the info's."""
        place = self.places[agent]
        if not place.unpaid:
            return 0.0
        r_out, r_pen = self._landed(agent, place)
        place.r_out += r_out
        place.r_pen += r_pen
        return r_out + r_pen

    def _landed(self, agent: str, place: Place) -> tuple[float, float]:
        if self._gamma is None:
            return self.session.take_rewards(agent)
        parts = [(self.discount(t_s - place.since_s), o, p) for t_s, o, p in self.session.take_landings(agent)]
        return sum((w * out for w, out, _ in parts), 0.0), sum((w * pen for w, _, pen in parts), 0.0)

    def discount(self, dt_s: float) -> float:
        """Return how much less a reward counts after ``dt_s`` simulated seconds."""
        return 1.0 if self._gamma is None else float(self._gamma ** (dt_s / HOUR))

    def paid(self) -> list[str]:
        """Return the agents for which a reward has landed that nobody collected yet."""
        seats = [place.seat for place in self.places.values()]
        return [seat.name for seat in seats if seat.reward_out or seat.reward_pen or seat.landed]

    def collect_from(self, agents: Iterable[str]) -> dict[str, float]:
        """Return what :meth:`collect` returns for some agents."""
        rewards = dict.fromkeys(agents, 0.0)
        for agent in self.paid():
            if agent in rewards:
                rewards[agent] = self.collect(agent)
        return rewards

    def forget_rewards(self, agent: str) -> None:
        """Begin an agent's step: the sums of reward parts in its info start anew, and discounts count from now."""
        self.places[agent].begin(self.session.now)

    def flags(self) -> tuple[bool, bool]:
        """Return (terminated, truncated): a day that was cut off is truncated, any other end terminates."""
        cut = self.options.settle == "cut"
        return self.over and not cut, self.over and cut
