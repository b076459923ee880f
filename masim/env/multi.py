"""What the multi-agent adapters have in common: spaces, state, text and pictures of a stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from masim.arrays import F32
from masim.env.options import RENDER_MODES
from masim.env.render import Pixels
from masim.env.stage import Stage
from masim.env.text import adapter
from masim.env.text.several import Said
from masim.errors import ConfigError, ToolError, did_you_mean
from masim.sim.trace import TraceRow


class MultiAgent:
    """Mixed into an adapter, which calls :meth:`show` once with its stage."""

    def show(self, stage: Stage) -> None:
        """Take over a stage: names, spaces and metadata."""
        self.stage = stage
        self.metadata = {
            "name": stage.scenario.id.replace("/", "."),
            "render_modes": list(RENDER_MODES),
            "render_fps": 1,
            "is_parallelizable": True,
        }
        self.render_mode = stage.options.render_mode
        self.possible_agents = list(stage.agents)
        self.agents: list[str] = []
        layout = stage.layout
        self.observation_spaces = {
            a: layout.observation_space(stage.options.mask_in, stage.choices.mask_size()) for a in stage.agents
        }
        self.action_spaces = {a: stage.choices.space() for a in stage.agents}
        self.state_space = layout.state_space(len(stage.agents))
        self._rng: np.random.Generator | None = None

    def generator(self, seed: object) -> np.random.Generator:
        """Return what draws the days: anew from a seed, else the one in use.

        It is made by the first reset: trainers copy an environment by pickling it, and copies play days of their own.
        Raises ConfigError for a seed that is none.
        """
        if seed is not None:
            if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
                raise ConfigError("impossible seed", "reset(seed)", repr(seed), "an integer from 0, or None")
            self._rng = np.random.default_rng(int(seed))
        elif self._rng is None:
            self._rng = np.random.default_rng()
        return self._rng

    def refuse_strangers(self, actions: Mapping[str, Any]) -> None:
        """Raise ConfigError for actions that name no agents, and for one of somebody who is no agent here."""
        if not isinstance(actions, Mapping):
            raise ConfigError("actions are no mapping", "actions", repr(actions), "an action per agent", "")
        for name in actions:
            if name not in self.possible_agents:
                near = did_you_mean(name, self.possible_agents)
                raise ConfigError("no such agent", "actions", str(name), ", ".join(self.possible_agents), near)

    def observation_space(self, agent: str) -> spaces.Space[object]:
        """Return an agent's observation space, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete | spaces.MultiDiscrete:
        """Return an agent's action space, always the same object."""
        return self.action_spaces[agent]

    def state(self) -> F32:
        """Return the global state; see :meth:`masim.env.stage.Stage.state`."""
        return self.stage.state()

    def observe_text(self, agent: str, errors: Sequence[ToolError] = ()) -> str:
        """Return what an agent knows in words, with why its last calls did nothing where that is given."""
        return adapter.observe_text(self.stage, agent, errors)

    def brief(self, agent: str) -> str:
        """Return what an agent is told once: its task and how to answer; the same in every episode."""
        return adapter.brief_of(self.stage, agent)

    def tools(self, agent: str) -> list[dict[str, Any]]:
        """Return an agent's tools as JSON schema in the function form, the same in every episode."""
        return adapter.tools(self.stage, agent)

    def parse_call(self, agent: str, raw: object) -> int | tuple[int, ...] | ToolError:
        """Return the action that an agent's call (JSON text, or what it would be) stands for, or why there is none.

        Several calls are several actions; see :meth:`parse_decision` for what of them stands for nothing.
        """
        said = self.parse_decision(agent, raw)
        return said.errors[0] if said.errors else said.action

    def parse_decision(self, agent: str, raw: object) -> Said:
        """Return the actions of an agent's words, with an error for each call that stands for none."""
        return adapter.parse_for(self.stage, agent, raw)

    @property
    def trace_rows(self) -> list[TraceRow]:
        """Return the trace of the episode; empty unless ``trace=True`` or a render mode."""
        return self.stage.trace_rows

    def render(self) -> str | Pixels | None:
        """Return the picture of ``render_mode``."""
        return self.stage.render()

    def close(self) -> None:
        """Release nothing: there are no windows and no processes."""
