"""The Gymnasium adapter: one agent learns, the others act as they are told to.

A step takes the agent's action and plays the others until the agent is asked again or the episode ends; when the
agent has no more turns the rest of the day is played and its outcome is paid in the same step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium

from masim.arrays import I8
from masim.env.decision import Chosen, Decision
from masim.env.options import RENDER_MODES, EnvOptions, read_options
from masim.env.place import Info
from masim.env.render import Pixels
from masim.env.snapshot import Snapshot
from masim.env.stage import Stage
from masim.env.text import adapter
from masim.env.text.several import Said
from masim.errors import ConfigError, ToolError, did_you_mean
from masim.rng import Noise
from masim.scenario.load import Scenario
from masim.sim.trace import TraceRow

Company: TypeAlias = Callable[[Sequence[Decision], Noise], Sequence[Chosen]]
"""Plays the other agents: one choice per decision, random only through the noise it is given."""


class BookingEnv(gymnasium.Env[Any, Any]):
    """A scenario as a Gymnasium environment of ``agent`` (the first by default) among ``company``."""

    def __init__(
        self, scenario: Scenario | str | Path, company: Company, agent: str | None = None, **options: object
    ) -> None:
        self._options = read_options(EnvOptions, options)
        self.stage = Stage(scenario, self._options)
        self.agent = self._known(agent)
        self.stage.observed = (self.agent,)
        self.metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}
        self.render_mode = self._options.render_mode
        self.observation_space = self.stage.layout.observation_space(
            self._options.mask_in, self.stage.choices.mask_size()
        )
        self.action_space = self.stage.choices.space()
        self._company = company
        self._noise = Noise(0, "company")

    def _known(self, agent: str | None) -> str:
        agents = self.stage.agents
        if agent is not None and agent not in agents:
            raise ConfigError("no such agent", "agent", str(agent), ", ".join(agents), did_you_mean(agent, agents))
        return agents[0] if agent is None else agent

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Start an episode. ``options`` may name ``campaign_seed`` and ``day``; without a seed the draw goes on."""
        super().reset(seed=seed)
        self.stage.reset(self.np_random, seed is not None, options)
        instance = self.stage.session.instance
        self._noise = Noise(instance.campaign_seed, f"company/{instance.namespace}/{instance.day}")
        self._play_others()
        return self.stage.observation(self.agent), self.stage.info(self.agent)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Info]:
        """Take the agent's action; after the end nothing happens."""
        stage = self.stage
        over = stage.over
        stage.forget_rewards(self.agent)
        if not over:
            stage.act(self.agent, action)
            self._play_others()
        reward = stage.collect(self.agent)
        return stage.observation(self.agent), reward, *stage.flags(), stage.info(self.agent)

    def _play_others(self) -> None:
        """Answer the others until the agent is asked; at one instant it answers after them."""
        stage = self.stage
        while True:
            others = [d for d in stage.open_decisions() if d.agent != self.agent]
            for decision, choice in zip(others, self._company(others, self._noise) if others else (), strict=True):
                stage.act(decision.agent, choice)
            if stage.over or stage.asked(self.agent):
                return
            stage.advance()

    def snapshot(self) -> Snapshot:
        """Return this moment of the episode, for :meth:`restore`."""
        return self.stage.snapshot()

    def restore(self, snapshot: Snapshot) -> tuple[Any, Info]:
        """Go to a moment of an episode and return what :meth:`reset` would; see :meth:`Stage.restore`."""
        self.stage.restore(snapshot)
        return self.stage.observation(self.agent), self.stage.info(self.agent)

    def action_masks(self) -> I8:
        """Return the agent's mask, under the name that maskable trainers call."""
        return self.stage.mask(self.agent)

    def observe_text(self, agent: str | None = None, errors: Sequence[ToolError] = ()) -> str:
        """Return what the agent knows in words, with why its last calls did nothing where that is given."""
        return adapter.observe_text(self.stage, self._own(agent), errors)

    def brief(self, agent: str | None = None) -> str:
        """Return what the agent is told once: its task and how to answer; the same in every episode."""
        return adapter.brief_of(self.stage, self._own(agent))

    def tools(self, agent: str | None = None) -> list[dict[str, Any]]:
        """Return the agent's tools as JSON schema in the function form, the same in every episode."""
        return adapter.tools(self.stage, self._own(agent))

    def parse_call(self, raw: object, agent: str | None = None) -> int | tuple[int, ...] | ToolError:
        """Return the action that an agent's call (JSON text, or what it would be) stands for, or why there is none.

        Several calls are several actions; see :meth:`parse_decision` for what of them stands for nothing.
        """
        said = self.parse_decision(raw, agent)
        return said.errors[0] if said.errors else said.action

    def parse_decision(self, raw: object, agent: str | None = None) -> Said:
        """Return the actions of an agent's words, with an error for each call that stands for none."""
        return adapter.parse_for(self.stage, self._own(agent), raw)

    def _own(self, agent: str | None) -> str:
        if agent not in (None, self.agent):
            raise ConfigError("this environment shows one agent only", "agent", str(agent), self.agent)
        return self.agent

    @property
    def trace_rows(self) -> list[TraceRow]:
        """Return the trace of the episode; empty unless ``trace=True`` or a render mode."""
        return self.stage.trace_rows

    def render(self) -> str | Pixels | None:
        """Return the picture of ``render_mode``."""
        return self.stage.render()
