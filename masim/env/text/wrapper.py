"""Text in, text out: any of the adapters with words as observations and JSON calls as actions.

A call that stands for no legal action is a wait with ``info["illegal"] == 1``, and the next observation of that agent
says why. Rewards, flags and infos are the adapter's own: numbers under constant keys.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeAlias, overload

import gymnasium
from gymnasium import spaces
from pettingzoo.utils import BaseParallelWrapper, BaseWrapper  # type: ignore[import-untyped]

from masim.env.aec import BookingAECEnv
from masim.env.parallel import BookingParallelEnv, StepResult
from masim.env.place import Info
from masim.env.ready import BookingReadyEnv
from masim.env.single import BookingEnv
from masim.env.snapshot import Snapshot
from masim.env.stage import Stage
from masim.env.text import adapter
from masim.env.text.bounds import MAX_TEXT
from masim.env.text.version import CHARSET, MAX_CALL_CHARS
from masim.errors import ConfigError, ToolError


def observation_space() -> spaces.Text:
    """Return the space of all texts; the default charset of a Text space has letters and digits only."""
    return spaces.Text(MAX_TEXT, min_length=0, charset=CHARSET)


def action_space() -> spaces.Text:
    """Return the space of all calls as text. Few of its members are calls: a sample is nearly always illegal."""
    return spaces.Text(MAX_CALL_CHARS, min_length=0, charset=CHARSET)


Chosen: TypeAlias = int | tuple[int, ...]


class Ears:
    """The calls of all agents of one stage, and what was wrong with the last of each."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._errors: dict[str, tuple[ToolError, ...]] = {}

    def forget(self) -> None:
        """Begin anew."""
        self._errors.clear()

    def action(self, agent: str, raw: object) -> Chosen:
        """Return what an adapter takes for an agent's words; what stands for nothing in them is remembered."""
        said = adapter.parse_for(self._stage, agent, raw)
        self._errors[agent] = said.errors
        return said.action

    def actions(self, calls: Mapping[str, object], live: Collection[str]) -> dict[str, Chosen]:
        """Return the actions of several agents; the adapter refuses those that are none, and what names no agents.

        One that is asked and says nothing waits.
        """
        if not isinstance(calls, Mapping):
            raise ConfigError("actions are no mapping", "actions", repr(calls), "a call per agent", "")
        for agent in live:
            if agent not in calls and self._stage.asked(agent):
                self._errors.pop(agent, None)
        return {agent: self.action(agent, raw) if agent in live else 0 for agent, raw in calls.items()}

    def text(self, agent: str) -> str:
        """Return what an agent reads."""
        return adapter.observe_text(self._stage, agent, self._errors.get(agent, ()))

    def texts(self, agents: Iterable[str]) -> dict[str, str]:
        """Return what several agents read."""
        return {agent: self.text(agent) for agent in agents}


class TextParallelEnv(BaseParallelWrapper):  # type: ignore[misc]
    """Parallel: a call per agent that is asked; one that says nothing waits."""

    def __init__(self, env: BookingParallelEnv) -> None:
        super().__init__(env)
        self._ears = Ears(env.unwrapped.stage)
        self.observation_spaces = {agent: observation_space() for agent in env.possible_agents}
        self.action_spaces = {agent: action_space() for agent in env.possible_agents}

    def observation_space(self, agent: str) -> spaces.Text:
        """Return the space of an agent's texts, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Text:
        """Return the space of an agent's calls, always the same object."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, Info]]:
        """Start an episode; see :meth:`BookingParallelEnv.reset`."""
        self._ears.forget()
        observations, infos = self.env.reset(seed=seed, options=options)
        return self._ears.texts(observations), infos

    def step(self, actions: Mapping[str, object]) -> StepResult:
        """Take one call per agent and go on; after the end nothing happens."""
        observations, *rest = self.env.step(self._ears.actions(actions, self.env.agents))
        return self._ears.texts(observations), *rest

    def restore(self, snapshot: Snapshot) -> tuple[dict[str, str], dict[str, Info]]:
        """Go to a moment of an episode; why a call did nothing is forgotten."""
        self._ears.forget()
        observations, infos = self.env.restore(snapshot)
        return self._ears.texts(observations), infos


class TextAECEnv(BaseWrapper):  # type: ignore[misc]
    """AEC: the selected agent's call, ``None`` once it has ended."""

    def __init__(self, env: BookingAECEnv) -> None:
        super().__init__(env)
        self._ears = Ears(env.unwrapped.stage)
        self.observation_spaces = {agent: observation_space() for agent in env.possible_agents}
        self.action_spaces = {agent: action_space() for agent in env.possible_agents}

    def observation_space(self, agent: str) -> spaces.Text:
        """Return the space of an agent's texts, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Text:
        """Return the space of an agent's calls, always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode; see :meth:`BookingAECEnv.reset`."""
        self._ears.forget()
        self.env.reset(seed=seed, options=options)

    def step(self, action: object) -> None:
        """Take the selected agent's call."""
        agent = self.env.agent_selection
        ended = self.env.terminations.get(agent) or self.env.truncations.get(agent)
        self.env.step(action if ended or not self.env.agents else self._ears.action(agent, action))

    def restore(self, snapshot: Snapshot) -> None:
        """Go to a moment of an episode; why a call did nothing is forgotten."""
        self._ears.forget()
        self.env.restore(snapshot)

    def observe(self, agent: str) -> str:
        """Return what an agent reads."""
        return self._ears.text(agent)


class TextReadyEnv:
    """Ready agents only: a call per agent that was shown. Everything else is the adapter's."""

    def __init__(self, env: BookingReadyEnv) -> None:
        self.env = env
        self.unwrapped = env
        self._ears = Ears(env.stage)
        self.observation_spaces = {agent: observation_space() for agent in env.possible_agents}
        self.action_spaces = {agent: action_space() for agent in env.possible_agents}

    def __getattr__(self, name: str) -> Any:
        """Return what the adapter has by that name."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.env, name)

    def observation_space(self, agent: str) -> spaces.Text:
        """Return the space of an agent's texts, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Text:
        """Return the space of an agent's calls, always the same object."""
        return self.action_spaces[agent]

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, object] | None = None
    ) -> tuple[dict[str, str], dict[str, Info]]:
        """Start an episode; see :meth:`BookingReadyEnv.reset`."""
        self._ears.forget()
        observations, infos = self.env.reset(seed=seed, options=options)
        return self._ears.texts(observations), infos

    def step(self, actions: Mapping[str, object]) -> StepResult:
        """Take one call per agent that was shown and go on; after the end nothing happens."""
        observations, *rest = self.env.step(self._ears.actions(actions, self.env.agents))
        return self._ears.texts(observations), *rest  # type: ignore[return-value]

    def restore(self, snapshot: Snapshot) -> tuple[dict[str, str], dict[str, Info]]:
        """Go to a moment of an episode; why a call did nothing is forgotten."""
        self._ears.forget()
        observations, infos = self.env.restore(snapshot)
        return self._ears.texts(observations), infos


class TextEnv(gymnasium.Wrapper[str, Any, Any, Any]):
    """Gymnasium: the agent's call."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        if not isinstance(env.unwrapped, BookingEnv):
            raise _foreign(env)
        self._booking = env.unwrapped
        self._ears = Ears(self._booking.stage)
        self.observation_space = observation_space()
        self.action_space = action_space()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, Info]:
        """Start an episode; see :meth:`BookingEnv.reset`."""
        self._ears.forget()
        _, info = self.env.reset(seed=seed, options=options)
        return self._ears.text(self._booking.agent), info

    def step(self, action: object) -> tuple[str, Any, bool, bool, Info]:
        """Take the agent's call; after the end nothing happens."""
        agent = self._booking.agent
        index = 0 if self._booking.stage.over else self._ears.action(agent, action)
        _, *rest = self.env.step(index)
        return self._ears.text(agent), *rest  # type: ignore[return-value]

    def snapshot(self) -> Snapshot:
        """Return this moment of the episode, for :meth:`restore`."""
        return self._booking.snapshot()

    def restore(self, snapshot: Snapshot) -> tuple[str, Info]:
        """Go to a moment of an episode; why a call did nothing is forgotten."""
        self._ears.forget()
        _, info = self._booking.restore(snapshot)
        return self._ears.text(self._booking.agent), info

    def brief(self) -> str:
        """Return what the agent is told once."""
        return self._booking.brief()

    def tools(self) -> list[dict[str, Any]]:
        """Return the agent's tools as JSON schema."""
        return self._booking.tools()


_Wrapped: TypeAlias = TextParallelEnv | TextAECEnv | TextReadyEnv | TextEnv


def _foreign(env: object) -> ConfigError:
    allowed = "an environment of masim: Parallel, AEC, ready agents or Gymnasium"
    return ConfigError("this environment has no text", "TextWrapper", type(env).__name__, allowed)


@overload
def TextWrapper(env: BookingParallelEnv) -> TextParallelEnv: ...


@overload
def TextWrapper(env: BookingAECEnv) -> TextAECEnv: ...


@overload
def TextWrapper(env: BookingReadyEnv) -> TextReadyEnv: ...


@overload
def TextWrapper(env: gymnasium.Env[Any, Any]) -> TextEnv: ...


def TextWrapper(env: object) -> _Wrapped:
    """Return an adapter with text in and text out; it is named like the class that it stands for.

    Raises ConfigError for an environment that is none of masim's.
    """
    inner = getattr(env, "unwrapped", env)
    for kind, wrapper in _WRAPPERS.items():
        if isinstance(inner, kind):
            return wrapper(env)
    raise _foreign(env)


_WRAPPERS: dict[type, Callable[[Any], _Wrapped]] = {
    BookingReadyEnv: TextReadyEnv,
    BookingParallelEnv: TextParallelEnv,
    BookingAECEnv: TextAECEnv,
    BookingEnv: TextEnv,
}
