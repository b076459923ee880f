"""The PettingZoo Parallel adapter: everybody steps together, busy agents wait.

By default the step goes to the next instant at which at least one agent is ready (``sync="event"``); the others have
only WAIT unmasked and ``info["ready"] == 0``. With ``sync="tick"`` that may be everybody. Penalties are paid per
decision, the outcome when it has landed: at the end, also for agents that were removed (``death="remove"``), which
then appear in the last rewards and infos again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from pettingzoo import ParallelEnv  # type: ignore[import-untyped]

from masim.env.multi import MultiAgent
from masim.env.options import ParallelOptions, read_options
from masim.env.place import Info
from masim.env.snapshot import Snapshot
from masim.env.stage import Stage
from masim.scenario.load import Scenario

StepResult: TypeAlias = tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Info]]


class BookingParallelEnv(MultiAgent, ParallelEnv):  # type: ignore[misc]
    """A scenario as a PettingZoo Parallel environment. Raises ConfigError for bad options and unknown agents."""

    def __init__(self, scenario: Scenario | str | Path, **options: object) -> None:
        self._options = read_options(ParallelOptions, options)
        self.show(Stage(scenario, self._options, self._options.sync, self._options.tick_s))

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Info]]:
        """Start an episode. ``options`` may name ``campaign_seed`` and ``day``; without a seed the draw goes on."""
        self.stage.reset(self.generator(seed), seed is not None, options)
        self.agents = list(self.possible_agents)
        return self.stage.shown(self.agents)

    def step(self, actions: Mapping[str, Any]) -> StepResult:
        """Take one action per agent (none is a WAIT) and go on; after the end nothing happens."""
        if not self.agents and self.stage.over:
            return {}, {}, {}, {}, {}
        self.refuse_strangers(actions)
        self.stage.act_together(self.agents, actions)
        self.stage.advance()
        return self._results()

    def _results(self) -> StepResult:
        stage = self.stage
        terminated, truncated = stage.flags()
        removes = self._options.death == "remove" and not stage.over
        leaving = [a for a in self.agents if stage.left(a)] if removes else []
        rewards = stage.collect_from(self.agents)
        observations, infos = stage.shown(self.agents)
        terminations = dict.fromkeys(self.agents, terminated)
        terminations.update(dict.fromkeys(leaving, True))
        truncations = dict.fromkeys(self.agents, truncated)
        for agent in leaving:
            # What lands for it later is discounted from here on: this is the last that it sees before.
            stage.forget_rewards(agent)
        if stage.over:
            self._pay_late(rewards, infos)
        self.agents = [] if stage.over else [a for a in self.agents if a not in leaving]
        return observations, rewards, terminations, truncations, infos

    def _pay_late(self, rewards: dict[str, float], infos: dict[str, Info]) -> None:
        for agent in self.possible_agents:
            if agent not in rewards:
                late = self.stage.collect(agent)
                if late:
                    rewards[agent], infos[agent] = late, self.stage.info(agent)

    def snapshot(self) -> Snapshot:
        """Return this moment of the episode, for :meth:`restore`."""
        return self.stage.snapshot()

    def restore(self, snapshot: Snapshot) -> tuple[dict[str, Any], dict[str, Info]]:
        """Go to a moment of an episode and return what :meth:`reset` would; see :meth:`Stage.restore`."""
        stage = self.stage
        removes = self._options.death == "remove"
        stage.restore(snapshot, removes=removes)
        self.agents = [] if stage.over else [a for a in self.possible_agents if not (removes and stage.left(a))]
        return stage.shown(self.agents)
