"""What the environments cannot go below: steps that show everybody something, and turns in which nothing happens.

Run ``python benchmarks/floor_env.py`` (seconds). Figures are processor microseconds per step or turn, measured in turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from pettingzoo import AECEnv  # type: ignore[import-untyped]

from masim.env.parallel import BookingParallelEnv
from masim.study.bench.env import AGENTS, world_of
from masim.study.bench.measure import in_turn, spread

ROUNDS, REPEATS = 7, 600


class Idle(AECEnv):  # type: ignore[misc]
    """Agents take turns and nothing else happens: no world, no observation."""

    def __init__(self, agents: list[str]) -> None:
        super().__init__()
        self.agents = self.possible_agents = agents
        self.rewards = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self._cumulative_rewards = dict.fromkeys(agents, 0.0)
        self._nth = 0
        self.agent_selection = agents[0]

    def step(self, action: Any) -> None:
        """Go to the next agent, with the accounts that PettingZoo's environments keep."""
        self._cumulative_rewards[self.agent_selection] = 0.0
        self._clear_rewards()
        self._nth = (self._nth + 1) % len(self.agents)
        self.agent_selection = self.agents[self._nth]
        self._accumulate_rewards()


def blank(size: int, agents: list[str]) -> Callable[[], object]:
    """Return what makes everybody's observation, all zero, in one block."""
    return lambda: dict(zip(agents, np.zeros((len(agents), size), np.float32), strict=True))


def smallest(env: BookingParallelEnv, infos: dict[str, dict[str, Any]]) -> Callable[[], object]:
    """Return what makes the smallest legal result of a step: fresh arrays and dictionaries that nobody has filled."""
    agents, layout, mask = env.possible_agents, env.stage.layout, env.stage.mask(env.possible_agents[0])
    info = infos[agents[0]]

    def step() -> object:
        block = np.zeros((len(agents), layout.size), np.float32)
        seen = {a: {"observation": row, "action_mask": mask.copy()} for a, row in zip(agents, block, strict=True)}
        flags = dict.fromkeys(agents, False), dict.fromkeys(agents, False)
        return seen, dict.fromkeys(agents, 0.0), *flags, {a: info.copy() for a in agents}

    return step


def timed(step: Callable[[], object]) -> float:
    """Return the processor microseconds of one call, mean of many."""
    began = time.process_time()
    for _ in range(REPEATS):
        step()
    return (time.process_time() - began) / REPEATS * 1e6


def idle_turns(env: Idle) -> float:
    """Return the microseconds of a turn that reads who is selected and its flags, as a raw turn of ours does."""

    def turn() -> None:
        agent = env.agent_selection
        if not (env.terminations[agent] or env.truncations[agent]):
            env.step(0)

    return timed(turn)


def main() -> None:
    """Measure and print."""
    env = BookingParallelEnv(world_of(AGENTS))
    _, infos = env.reset(seed=0)
    floors = {
        "observations of zeros, a step": partial(timed, blank(env.stage.layout.size, env.possible_agents)),
        "smallest legal result, a step": partial(timed, smallest(env, infos)),
        "PettingZoo AEC, nothing happens, a turn": partial(idle_turns, Idle(env.possible_agents)),
    }
    for name, runs in in_turn(floors, ROUNDS).items():
        us = spread(runs)
        print(f"{name}: {us.mean:.1f} us, median {us.median:.1f} [{us.low:.1f}, {us.high:.1f}]")


if __name__ == "__main__":
    main()
