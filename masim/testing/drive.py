"""One way to play all three kinds of environments, so that every check is written once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium
import numpy as np
from pettingzoo import AECEnv, ParallelEnv  # type: ignore[import-untyped]

from masim.arrays import I64
from masim.errors import ConfigError

SOLE_AGENT = "agent_0"
"""What the agent of a Gymnasium environment is called here."""


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


class Driver(Protocol):
    """An environment in uniform form."""

    env: Any
    problems: list[str]
    """What was wrong with the shape of the answers themselves."""

    def reset(self, seed: int | None) -> list[Seen]:
        """Start an episode."""

    def live(self) -> list[str]:
        """Return the agents that an action is due from."""

    def step(self, actions: Mapping[str, int]) -> list[Seen]:
        """Take one action per live agent."""

    def spaces(self, agent: str) -> tuple[Any, Any]:
        """Return (observation space, action space)."""


class _ParallelDriver:
    def __init__(self, env: Any) -> None:
        self.env = env
        self.problems: list[str] = []

    def reset(self, seed: int | None) -> list[Seen]:
        observations, infos = self.env.reset(seed=seed)
        return [Seen(a, observations[a], 0.0, False, False, infos[a]) for a in self.env.agents]

    def live(self) -> list[str]:
        return list(self.env.agents)

    def step(self, actions: Mapping[str, int]) -> list[Seen]:
        before = list(self.env.agents)
        given = self.env.step(dict(actions))
        observations, rewards, terminations, truncations, infos = given
        parts = {"observations": given[0], "terminations": given[2], "truncations": given[3]}
        for name, part in parts.items():
            if set(part) != set(before):
                self.problems.append(f"{name} are for {sorted(part)}, the agents were {before}")
        missing = [a for a in before if not all(a in part for part in given)]
        if missing:
            self.problems.append(f"no complete answer for {missing}")
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
        self.problems: list[str] = []

    def reset(self, seed: int | None) -> list[Seen]:
        self.env.reset(seed=seed)
        return [self._seen()]

    def _seen(self) -> Seen:
        return Seen(self.env.agent_selection, *self.env.last())

    def live(self) -> list[str]:
        return [self.env.agent_selection] if self.env.agents else []

    def step(self, actions: Mapping[str, int]) -> list[Seen]:
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
        self.problems: list[str] = []
        self._over = True

    def reset(self, seed: int | None) -> list[Seen]:
        observation, info = self.env.reset(seed=seed)
        self._over = False
        return [Seen(SOLE_AGENT, observation, 0.0, False, False, info)]

    def live(self) -> list[str]:
        return [] if self._over else [SOLE_AGENT]

    def step(self, actions: Mapping[str, int]) -> list[Seen]:
        seen = Seen(SOLE_AGENT, *self.env.step(actions[SOLE_AGENT]))
        self._over = seen.ended()
        return [seen]

    def spaces(self, agent: str) -> tuple[Any, Any]:
        return self.env.observation_space, self.env.action_space


def drive(env: object) -> Driver:
    """Return the driver of an environment. Raises ConfigError for anything that is none."""
    if isinstance(env, ParallelEnv):
        return _ParallelDriver(env)
    if isinstance(env, AECEnv):
        return _AecDriver(env)
    if isinstance(env, gymnasium.Env):
        return _GymDriver(env)
    allowed = "pettingzoo.ParallelEnv, pettingzoo.AECEnv, gymnasium.Env"
    raise ConfigError("not an environment", "env", type(env).__name__, allowed)


Choose = Callable[[Seen], int]


def legal_chooser(rng: np.random.Generator, n: int) -> Choose:
    """Return a choice uniform over the mask, or over all ``n`` actions where there is no mask."""

    def choose(seen: Seen) -> int:
        mask = seen.mask()
        legal: I64 = np.arange(n) if mask is None else np.flatnonzero(mask)
        return int(legal[int(rng.integers(len(legal)))]) if len(legal) else 0

    return choose


Round = tuple[list[Seen], dict[str, int]]
"""What was seen, and the actions that led to it (none after the reset)."""


def play(driver: Driver, seed: int, limit: int, choose: Choose) -> Iterator[Round]:
    """Play an episode, at most ``limit`` steps; agents are asked in the order in which they are live."""
    first = driver.reset(seed)
    latest = {seen.agent: seen for seen in first}
    yield first, {}
    for _ in range(limit):
        live = driver.live()
        if not live:
            return
        actions = {agent: choose(latest[agent]) for agent in live}
        seen = driver.step(actions)
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
