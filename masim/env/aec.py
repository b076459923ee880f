"""The PettingZoo AEC adapter: one decision after the other, in order of (time, agent).

``last()`` gives the reward that landed since the agent's previous decision. All agents stay until the end, when each
is stepped once more with ``None`` and is paid its outcome.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv  # type: ignore[import-untyped]

from masim.arrays import F32
from masim.env.options import RENDER_MODES, EnvOptions, read_options
from masim.env.render import Pixels, render
from masim.env.stage import Info, Stage
from masim.scenario.load import Scenario
from masim.sim.trace import TraceRow


class BookingAECEnv(AECEnv):  # type: ignore[misc]
    """A scenario as a PettingZoo AEC environment. Raises ConfigError for bad options."""

    def __init__(self, scenario: Scenario | str | Path, **options: object) -> None:
        super().__init__()
        self._options = read_options(EnvOptions, options)
        self.stage = Stage(scenario, self._options)
        self.metadata = {
            "name": self.stage.scenario.id.replace("/", "."),
            "render_modes": list(RENDER_MODES),
            "render_fps": 1,
            "is_parallelizable": False,
        }
        self.render_mode = self._options.render_mode
        self.possible_agents = list(self.stage.agents)
        self.agents: list[str] = []
        layout = self.stage.layout
        self.observation_spaces = {a: layout.observation_space(self._options.mask_in) for a in self.possible_agents}
        self.action_spaces = {a: layout.action_space() for a in self.possible_agents}
        self.state_space = layout.state_space(len(self.possible_agents))
        self._rng = np.random.default_rng()
        self._queue: list[str] = []

    def observation_space(self, agent: str) -> spaces.Space[object]:
        """Return an agent's observation space, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return an agent's action space, always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode. ``options`` may name ``campaign_seed`` and ``day``; without a seed the draw goes on."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self.stage.reset(self._rng, seed is not None, options)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._skip_agent_selection = None
        self._refresh()
        self._queue = [a for a in self.agents if self.stage.asked(a)]
        self.agent_selection = self._queue[0]

    def step(self, action: Any) -> None:
        """Take the selected agent's action, ``None`` once it has ended; when all are gone nothing happens."""
        if not self.agents:
            return
        agent = self.agent_selection
        if self.terminations.get(agent) or self.truncations.get(agent):
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self.stage.act(agent, action)
        self.stage.forget_rewards(agent)
        self._queue.remove(agent)
        if not self._queue:
            self._queue = [decision.agent for decision in self.stage.advance()]
        self.rewards = {a: self.stage.collect(a) for a in self.agents}
        self._accumulate_rewards()
        self._refresh()
        self.agent_selection = self._queue[0] if self._queue else self.agents[0]

    def _refresh(self) -> None:
        terminated, truncated = self.stage.flags()
        self.terminations = dict.fromkeys(self.agents, terminated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self.infos: dict[str, Info] = {a: self.stage.info(a) for a in self.agents}

    def observe(self, agent: str) -> Any:
        """Return an agent's observation, a fresh copy."""
        return self.stage.observation(agent)

    def state(self) -> F32:
        """Return the global state; see :meth:`masim.env.stage.Stage.state`."""
        return self.stage.state()

    def text(self, agent: str) -> str:
        """Return an agent's situation in words."""
        return self.stage.text(agent)

    @property
    def trace_rows(self) -> list[TraceRow]:
        """Return the trace of the episode; empty unless ``trace=True`` or a render mode."""
        return self.stage.trace_rows

    def render(self) -> str | Pixels | None:
        """Return the picture of ``render_mode``."""
        return render(self.render_mode, self.stage.trace_rows, self.possible_agents)

    def close(self) -> None:
        """Release nothing: there are no windows and no processes."""
