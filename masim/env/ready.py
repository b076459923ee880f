"""The adapter of ready agents: the keys of the observations decide who acts, as in RLlib's multi-agent form.

A step shows the agents that have a decision to make and nobody else; each finds with its observation everything that
landed for it since it was shown the last time. At the end everybody is shown once more and paid. Nothing here imports
a trainer: a class of RLlib's is a few lines around this one, see ``docs/how-to/use-with-pettingzoo.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from masim.env.multi import MultiAgent
from masim.env.options import EnvOptions, read_options
from masim.env.place import Info
from masim.env.snapshot import Snapshot
from masim.env.stage import Stage
from masim.scenario.load import Scenario

EVERYBODY = "__all__"
"""The key under which the flags say that the episode is over."""

Shown: TypeAlias = tuple[dict[str, Any], dict[str, Info]]
StepResult: TypeAlias = tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Info]]


class BookingReadyEnv(MultiAgent):
    """A scenario in which only ready agents appear. Raises ConfigError for bad options and unknown agents."""

    def __init__(self, scenario: Scenario | str | Path, **options: object) -> None:
        self.show(Stage(scenario, read_options(EnvOptions, options)))

    def reset(self, *, seed: int | None = None, options: Mapping[str, object] | None = None) -> Shown:
        """Start an episode. ``options`` may name ``campaign_seed`` and ``day``; without a seed the draw goes on."""
        self.stage.reset(self.generator(seed), seed is not None, options)
        return self._begin()

    def step(self, actions: Mapping[str, Any]) -> StepResult:
        """Take the actions of the agents that were shown (none is a WAIT) and go on; after the end nothing happens.

        An action of an agent that was not shown changes nothing and is noted as illegal in its next info.
        """
        stage = self.stage
        if not self.agents and stage.over:
            return {}, {}, *self._flags(), {}
        self.refuse_strangers(actions)
        asked = [decision.agent for decision in stage.open_decisions()]
        for agent in (*asked, *(a for a in actions if a not in asked)):
            stage.act(agent, actions.get(agent, 0))
        for agent in asked:
            stage.forget_rewards(agent)
        stage.advance()
        shown = self.agents if stage.over else [d.agent for d in stage.open_decisions()]
        rewards = {agent: stage.collect(agent) for agent in shown}
        observations, infos = self._show(shown)
        self.agents = [] if stage.over else self.agents
        return observations, rewards, *self._flags(shown), infos

    def snapshot(self) -> Snapshot:
        """Return this moment of the episode, for :meth:`restore`."""
        return self.stage.snapshot()

    def restore(self, snapshot: Snapshot) -> Shown:
        """Go to a moment of an episode and return what :meth:`reset` would; see :meth:`Stage.restore`.

        What landed for agents that are not shown there comes with their next observation.
        """
        self.stage.restore(snapshot, collected=False)
        return self._begin()

    def _begin(self) -> Shown:
        stage = self.stage
        shown = [decision.agent for decision in stage.open_decisions()]
        for agent in shown:
            stage.collect(agent)
            stage.forget_rewards(agent)
        self.agents = [] if stage.over else list(self.possible_agents)
        return self._show(shown)

    def _show(self, agents: Iterable[str]) -> Shown:
        return self.stage.shown(agents)

    def _flags(self, agents: Iterable[str] = ()) -> tuple[dict[str, bool], dict[str, bool]]:
        terminated, truncated = self.stage.flags()
        names = (*agents, EVERYBODY)
        return dict.fromkeys(names, terminated), dict.fromkeys(names, truncated)


def ready_env(scenario: Scenario | str | Path, **options: object) -> BookingReadyEnv:
    """Return an environment of ready agents; options are those of :class:`masim.env.options.EnvOptions`."""
    return BookingReadyEnv(scenario, **options)
