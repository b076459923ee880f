"""One way to play all four kinds of environments, so that every check is written once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium
import numpy as np
from pettingzoo import AECEnv, ParallelEnv  # type: ignore[import-untyped]

from masim.errors import ConfigError
from masim.testing.problems import Problem

SOLE_AGENT = "agent_0"
"""What the agent of a Gymnasium environment is called here, unless the environment says it."""
EVERYBODY = "__all__"
"""The key of an environment of ready agents under which the flags say that the episode is over."""
ANSWERS = ("observations", "rewards", "terminations", "truncations", "infos")
ONLY_THE_LIVE = ("observations", "terminations", "truncations")
"""Answers of a parallel step that must be for the agents that were there; a late reward may come after a leave."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one agent was given at one moment; after a reset the reward is 0 and the flags are false."""

    agent: str
    observation: Any
    reward: Any
    terminated: Any
    truncated: Any
    info: Any

    def mask(self) -> Any:
        """Return the action mask from the observation or the info, ``None`` when there is none."""
        for place in (self.observation, self.info):
            if isinstance(place, Mapping) and "action_mask" in place:
                return place["action_mask"]
        return None

    def ended(self) -> bool:
        """Return whether a flag is set."""
        return bool(self.terminated) or bool(self.truncated)

    def ready(self) -> bool:
        """Return whether the agent has a decision to make; without ``info["ready"]`` it always has."""
        return not isinstance(self.info, Mapping) or bool(self.info.get("ready", 1))


class Driver(Protocol):
    """An environment in uniform form."""

    env: Any
    problems: list[Problem]
    """What was wrong with the shape of the answers themselves."""

    def agents(self) -> list[str]:
        """Return every agent that the environment announces."""

    def reset(self, seed: int | None) -> list[Seen]:
        """Start an episode."""

    def live(self) -> list[str]:
        """Return the agents that an action is due from."""

    def step(self, actions: Mapping[str, Any]) -> list[Seen]:
        """Take one action per live agent."""

    def spaces(self, agent: str) -> tuple[Any, Any]:
        """Return (observation space, action space)."""


class _ParallelDriver:
    def __init__(self, env: Any) -> None:
        self.env = env
        self.problems: list[Problem] = []
        self._steps = 0

    def agents(self) -> list[str]:
        return list(self.env.possible_agents)

    def reset(self, seed: int | None) -> list[Seen]:
        self._steps = 0
        observations, infos = self.env.reset(seed=seed)
        return [Seen(a, observations[a], 0.0, False, False, infos[a]) for a in self.env.agents]

    def live(self) -> list[str]:
        return list(self.env.agents)

    def step(self, actions: Mapping[str, Any]) -> list[Seen]:
        before = list(self.env.agents)
        given = self.env.step(dict(actions))
        self._steps += 1
        observations, rewards, terminations, truncations, infos = given
        for name, part in zip(ANSWERS, given, strict=True):
            gone = [a for a in before if a not in part]
            more = [a for a in part if a not in before] if name in ONLY_THE_LIVE else []
            self.problems += [Problem("answers", "missing", a, self._steps, name) for a in gone]
            self.problems += [Problem("answers", "the agent had left before", a, self._steps, name) for a in more]
        missing = [a for a in before if not all(a in part for part in given)]
        return [
            Seen(a, observations[a], rewards[a], terminations[a], truncations[a], infos[a])
            for a in before
            if a not in missing
        ]

    def spaces(self, agent: str) -> tuple[Any, Any]:
        return self.env.observation_space(agent), self.env.action_space(agent)


class _AecDriver:
    def __init__(self, env: Any) -> None:
        self.env = env
        self.problems: list[Problem] = []

    def agents(self) -> list[str]:
        return list(self.env.possible_agents)

    def reset(self, seed: int | None) -> list[Seen]:
        self.env.reset(seed=seed)
        return [self._seen()]

    def _seen(self) -> Seen:
        return Seen(self.env.agent_selection, *self.env.last())

    def live(self) -> list[str]:
        return [self.env.agent_selection] if self.env.agents else []

    def step(self, actions: Mapping[str, Any]) -> list[Seen]:
        self.env.step(actions[self.env.agent_selection])
        seen = [self._seen()]
        while self.env.agents and seen[-1].ended():
            self.env.step(None)
            if self.env.agents:
                seen.append(self._seen())
        return seen

    def spaces(self, agent: str) -> tuple[Any, Any]:
        return self.env.observation_space(agent), self.env.action_space(agent)


class _GymDriver:
    def __init__(self, env: Any) -> None:
        self.env = env
        self.problems: list[Problem] = []
        self._over = True
        own = getattr(env.unwrapped, "agent", SOLE_AGENT)
        self._agent = own if isinstance(own, str) else SOLE_AGENT

    def agents(self) -> list[str]:
        return [self._agent]

    def reset(self, seed: int | None) -> list[Seen]:
        observation, info = self.env.reset(seed=seed)
        self._over = False
        return [Seen(self._agent, observation, 0.0, False, False, info)]

    def live(self) -> list[str]:
        return [] if self._over else [self._agent]

    def step(self, actions: Mapping[str, Any]) -> list[Seen]:
        seen = Seen(self._agent, *self.env.step(actions[self._agent]))
        self._over = seen.ended()
        return [seen]

    def spaces(self, agent: str) -> tuple[Any, Any]:
        return self.env.observation_space, self.env.action_space


class _ReadyDriver:
    """Of an environment whose observations decide who acts; it has no base class to know it by."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.problems: list[Problem] = []
        self._steps = 0
        self._live: list[str] = []

    def agents(self) -> list[str]:
        return list(self.env.possible_agents)

    def reset(self, seed: int | None) -> list[Seen]:
        self._steps = 0
        observations, infos = self.env.reset(seed=seed)
        self._live = list(observations)
        return [Seen(a, observations[a], 0.0, False, False, infos[a]) for a in observations]

    def live(self) -> list[str]:
        return list(self._live)

    def step(self, actions: Mapping[str, Any]) -> list[Seen]:
        given = self.env.step(dict(actions))
        self._steps += 1
        terminations, truncations = given[2:4]
        shown = list(given[0])
        over = bool(terminations.get(EVERYBODY)) or bool(truncations.get(EVERYBODY))
        self._live = [] if over else shown
        for name, part in zip(ANSWERS, given, strict=True):
            gone = [a for a in shown if a not in part]
            gone += [EVERYBODY] if part in (terminations, truncations) and EVERYBODY not in part else []
            self.problems += [Problem("answers", "missing", a, self._steps, name) for a in gone]
        shown = [a for a in shown if all(a in part for part in given)]
        seen = [Seen(a, *(part[a] for part in given)) for a in shown]
        idle = [s.agent for s in seen if not s.ready() and not over]
        self.problems += [Problem("answers", "shown, but not ready", a, self._steps, "infos") for a in idle]
        return seen

    def spaces(self, agent: str) -> tuple[Any, Any]:
        return self.env.observation_space(agent), self.env.action_space(agent)


def is_of_ready_agents(env: object) -> bool:
    """Return whether an environment is of the form of :class:`masim.env.ready.BookingReadyEnv`."""
    known = isinstance(env, ParallelEnv | AECEnv | gymnasium.Env)
    methods = ("reset", "step", "observation_space", "action_space")
    return not known and hasattr(env, "possible_agents") and all(callable(getattr(env, m, None)) for m in methods)


def drive(env: object) -> Driver:
    """Return the driver of an environment. Raises ConfigError for anything that is none."""
    if isinstance(env, ParallelEnv):
        return _ParallelDriver(env)
    if isinstance(env, AECEnv):
        return _AecDriver(env)
    if isinstance(env, gymnasium.Env):
        return _GymDriver(env)
    if is_of_ready_agents(env):
        return _ReadyDriver(env)
    allowed = "pettingzoo.ParallelEnv, pettingzoo.AECEnv, gymnasium.Env, or one of ready agents"
    raise ConfigError("not an environment", "env", type(env).__name__, allowed)


Round = tuple[list[Seen], dict[str, Any]]
"""What was seen, and the actions that led to it (none after the reset)."""


def play(driver: Driver, seed: int, limit: int, choose: Callable[[Seen], Any]) -> Iterator[Round]:
    """Play an episode, at most ``limit`` steps; agents are asked in the order in which they are live.

    Whatever the environment raises gets a note with the step and the actions.
    """
    first = driver.reset(seed)
    latest = {seen.agent: seen for seen in first}
    yield first, {}
    for step in range(1, limit + 1):
        live = driver.live()
        if not live:
            return
        actions = {agent: choose(latest[agent]) for agent in live}
        try:
            seen = driver.step(actions)
        except Exception as error:
            error.add_note(f"raised by step {step} after reset(seed={seed}), with the actions {actions}")
            raise
        latest.update({s.agent: s for s in seen})
        yield seen, actions


def arrays_in(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    """Yield every array of a nested observation or info."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from arrays_in(part)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for part in value:
            yield from arrays_in(part)
