"""The PettingZoo AEC adapter: one decision after the other, in order of (time, agent).

``last()`` gives the reward that landed since the agent's previous decision. All agents stay until the end, when each
is stepped once more with ``None`` and is paid its outcome.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pettingzoo import AECEnv  # type: ignore[import-untyped]

from masim.env.multi import MultiAgent
from masim.env.options import EnvOptions, read_options
from masim.env.place import Info
from masim.env.snapshot import Snapshot
from masim.env.stage import Stage
from masim.scenario.load import Scenario


class BookingAECEnv(MultiAgent, AECEnv):  # type: ignore[misc]
    """A scenario as a PettingZoo AEC environment. Raises ConfigError for bad options."""

    def __init__(self, scenario: Scenario | str | Path, **options: object) -> None:
        super().__init__()
        self.show(Stage(scenario, read_options(EnvOptions, options)))
        self._queue: list[str] = []
        self._infos: dict[str, Info] = {}
        self._cumulative_rewards: dict[str, float] = {}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode. ``options`` may name ``campaign_seed`` and ``day``; without a seed the draw goes on."""
        self.stage.reset(self.generator(seed), seed is not None, options)
        self._begin()
        self._refresh()
        self._select(a for a in self.agents if self.stage.asked(a))

    def step(self, action: Any) -> None:
        """Take the selected agent's action, ``None`` once it has ended; when all are gone nothing happens."""
        if not self.agents and self.stage.over:
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
        self._pay()
        if self.stage.over:
            self._refresh()
        self._infos = {}
        self._select(self._queue)

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, Info]:
        """Return what the selected agent sees, its reward since its previous decision, its flags and its info."""
        agent = self.agent_selection
        seen = self.observe(agent) if observe else None
        flags = self.terminations[agent], self.truncations[agent]
        return seen, self._cumulative_rewards[agent], *flags, self._info(agent)

    @property
    def infos(self) -> dict[str, Info]:
        """Return everybody's info, made when somebody asks: a turn is too short to write one for each agent."""
        if len(self._infos) < len(self.agents):
            self._infos = {agent: self._info(agent) for agent in self.agents}
        return self._infos

    def _info(self, agent: str) -> Info:
        if agent not in self._infos:
            self._infos[agent] = self.stage.info(agent)
        return self._infos[agent]

    def _pay(self) -> None:
        self.rewards = dict.fromkeys(self.agents, 0.0)
        for agent in self.stage.paid():
            self.rewards[agent] = self.stage.collect(agent)
            self._cumulative_rewards[agent] += self.rewards[agent]

    def snapshot(self) -> Snapshot:
        """Return this moment of the episode, for :meth:`restore`."""
        return self.stage.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Go to a moment of an episode, with the rewards that each agent's ``last()`` has still to show there.

        Where the episode has ended nobody has been stepped out yet. See :meth:`Stage.restore`.
        """
        self.stage.restore(snapshot, collected=False)
        self._begin()
        self._pay()
        self._refresh()
        self._select(a for a in self.agents if self.stage.asked(a))

    def _begin(self) -> None:
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._skip_agent_selection = None

    def _select(self, asked: Iterable[str]) -> None:
        self._queue = list(asked)
        self.agent_selection = self._queue[0] if self._queue else self.agents[0]

    def _refresh(self) -> None:
        terminated, truncated = self.stage.flags()
        self.terminations = dict.fromkeys(self.agents, terminated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self._infos = {}

    def observe(self, agent: str) -> Any:
        """Return an agent's observation, a fresh copy."""
        return self.stage.observation(agent)
