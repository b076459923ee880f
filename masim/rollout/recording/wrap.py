"""``record``: a wrapper around any adapter that writes down what is decided in it, and changes nothing else.

Life cycle: ``with record(env, "file.parquet") as env:`` play as many episodes as you like; leaving closes the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import gymnasium
from pettingzoo import AECEnv, ParallelEnv  # type: ignore[import-untyped]
from pettingzoo.utils import BaseParallelWrapper, BaseWrapper  # type: ignore[import-untyped]

from masim.env.ready import EVERYBODY, BookingReadyEnv
from masim.errors import ConfigError
from masim.rollout.recording.columns import describe_spaces
from masim.rollout.recording.log import Log

SOLE_AGENT = "agent_0"
"""What the agent of a Gymnasium environment is called in a recording, unless the environment says it."""


def record(env: Any, path: str | Path) -> Any:
    """Return the environment with a recorder around it, of the same kind as before.

    The file appears when the environment is closed or its ``with`` block is left; after an exception there is none.
    Raises ConfigError for what is no environment and for spaces that have no columns, RunError when ``path`` exists.
    """
    wrappers: tuple[tuple[type, Any], ...] = (
        (ParallelEnv, _Parallel),
        (AECEnv, _Aec),
        (gymnasium.Env, _Gym),
        (BookingReadyEnv, _Ready),
    )
    for kind, wrapper in wrappers:
        if isinstance(env, kind):
            return wrapper(env, Path(path))
    allowed = "pettingzoo.ParallelEnv, pettingzoo.AECEnv, gymnasium.Env, masim.env.ready.BookingReadyEnv"
    raise ConfigError("not an environment", "env", type(env).__name__, allowed)


class _Closing:
    """What all recorders share: the ``with`` block."""

    log: Log
    env: Any

    def close(self) -> None:
        """Finish the file and close the environment."""
        self._last_words()
        self.log.close()
        self.env.close()

    def _last_words(self) -> None:
        """Take in what the environment holds and nobody has asked for."""

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *args: Any) -> Literal[False]:
        if args[0] is None or issubclass(args[0], KeyboardInterrupt):
            self.close()
        else:
            self.log.discard()
        return False


def _log(env: Any, path: Path, kind: str) -> Log:
    agents = {a: describe_spaces(a, env.observation_space(a), env.action_space(a)) for a in env.possible_agents}
    return Log(path, str(env.metadata.get("name", type(env.unwrapped).__name__)), kind, agents)


class _Parallel(_Closing, BaseParallelWrapper):  # type: ignore[misc]
    def __init__(self, env: Any, path: Path) -> None:
        super().__init__(env)
        self.log = _log(env, path, "parallel")
        self._shown: dict[str, tuple[Any, Mapping[str, Any]]] = {}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        observations, infos = self.env.reset(seed=seed, options=options)
        self.log.begin(seed)
        self._shown = {a: (observations[a], infos[a]) for a in observations}
        return observations, infos

    def step(self, actions: Mapping[str, Any]) -> Any:
        deciding = [a for a in self.env.agents if a in self._shown and self._shown[a][1].get("ready", 1)]
        for agent in deciding:
            self.log.open(agent, *self._shown[agent], actions.get(agent, 0))
        answer = self.env.step(actions)
        observations, rewards, terminations, truncations, infos = answer
        for agent, reward in rewards.items():
            self.log.land(agent, reward, infos[agent])
        for agent, observation in observations.items():
            flags = terminations[agent], truncations[agent]
            if any(flags):
                self.log.end(agent, observation, infos[agent], *flags)
            elif infos[agent].get("ready", 1):
                self.log.close_row(agent, infos[agent])
            self._shown[agent] = observation, infos[agent]
        if not self.env.agents:
            self.log.finish()
        return answer


class _Ready(_Closing):
    """Around the adapter of ready agents, which has no base class."""

    def __init__(self, env: BookingReadyEnv, path: Path) -> None:
        self.env = env
        self.log = Log(
            path,
            str(env.metadata["name"]),
            "ready",
            {a: describe_spaces(a, env.observation_space(a), env.action_space(a)) for a in env.possible_agents},
        )
        self._shown: dict[str, tuple[Any, Mapping[str, Any]]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)

    def reset(self, *, seed: int | None = None, options: Mapping[str, object] | None = None) -> Any:
        """Start an episode."""
        observations, infos = self.env.reset(seed=seed, options=options)
        self.log.begin(seed)
        self._shown = {a: (observations[a], infos[a]) for a in observations}
        return observations, infos

    def step(self, actions: Mapping[str, Any]) -> Any:
        """Take the actions of the agents that were shown and go on."""
        for agent, shown in self._shown.items():
            self.log.open(agent, *shown, actions.get(agent, 0))
        answer = self.env.step(actions)
        observations, rewards, terminations, truncations, infos = answer
        self._shown = {}
        for agent, observation in observations.items():
            self.log.land(agent, rewards[agent], infos[agent])
            flags = terminations[agent], truncations[agent]
            if any(flags):
                self.log.end(agent, observation, infos[agent], *flags)
            else:
                self.log.close_row(agent, infos[agent])
                self._shown[agent] = observation, infos[agent]
        if terminations[EVERYBODY] or truncations[EVERYBODY]:
            self.log.finish()
        return answer


class _Aec(_Closing, BaseWrapper):  # type: ignore[misc]
    def __init__(self, env: Any, path: Path) -> None:
        super().__init__(env)
        self.log = _log(env, path, "aec")

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self._last_words()
        self.env.reset(seed=seed, options=options)
        self.log.begin(seed)

    def step(self, action: Any) -> None:
        if self.env.agents:
            agent = self.env.agent_selection
            observation, reward, terminated, truncated, info = self.env.last()
            self.log.land(agent, reward, info)
            if terminated or truncated:
                self.log.end(agent, observation, info, terminated, truncated)
            else:
                self.log.close_row(agent, info)
                self.log.open(agent, observation, info, action)
        self.env.step(action)
        if not self.env.agents:
            self.log.finish()

    def _last_words(self) -> None:
        """An episode may be left at its end, before every agent was stepped once more: it is paid all the same."""
        for agent in self.env.agents if hasattr(self.env, "terminations") else ():
            flags = self.env.terminations[agent], self.env.truncations[agent]
            if any(flags):
                info = self.env.infos[agent]
                self.log.land(agent, self.env._cumulative_rewards[agent], info)
                self.log.end(agent, self.env.observe(agent), info, *flags)


class _Gym(_Closing, gymnasium.Wrapper[Any, Any, Any, Any]):
    def __init__(self, env: gymnasium.Env[Any, Any], path: Path) -> None:
        super().__init__(env)
        own = getattr(env.unwrapped, "agent", SOLE_AGENT)
        self._agent = own if isinstance(own, str) else SOLE_AGENT
        spaces = {self._agent: describe_spaces(self._agent, env.observation_space, env.action_space)}
        stage = getattr(env.unwrapped, "stage", None)
        name = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
        self.log = Log(path, stage.scenario.id.replace("/", ".") if stage is not None else name, "gymnasium", spaces)
        self._shown: tuple[Any, Mapping[str, Any]] | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self._shown = self.env.reset(seed=seed, options=options)
        self.log.begin(seed)
        return self._shown

    def step(self, action: Any) -> Any:
        shown, self._shown = self._shown, None
        if shown is not None:
            self.log.open(self._agent, *shown, action)
        answer = self.env.step(action)
        observation, reward, terminated, truncated, info = answer
        if shown is not None:
            self.log.land(self._agent, float(reward), info)
            if terminated or truncated:
                self.log.end(self._agent, observation, info, terminated, truncated)
                self.log.finish()
            else:
                self.log.close_row(self._agent, info)
                self._shown = observation, info
        return answer
