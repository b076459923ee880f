"""Environments with one planted bug each, to show that the checks find it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from masim.env.aec import BookingAECEnv
from masim.env.parallel import BookingParallelEnv
from masim.sim.trace import TraceRow

SCENARIO = "freight/short-chain-v0"
Result = tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]


class Planted(BookingParallelEnv):
    """Changes every answer after the ``after``-th step."""

    def __init__(self, change: Callable[[Planted, str, Result], None], after: int = 3) -> None:
        super().__init__(SCENARIO, trace=True)
        self.change = change
        self.after = after
        self.steps = 0

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.steps = 0
        return super().reset(seed, options)

    def step(self, actions: Any) -> Any:
        result = super().step(actions)
        self.steps += 1
        if self.steps > self.after and result[0]:
            self.change(self, next(iter(result[0])), result)
        return result


def wrong_dtype(env: Planted, agent: str, result: Result) -> None:
    result[0][agent]["observation"] = result[0][agent]["observation"].astype(np.float64)


def wrong_shape(env: Planted, agent: str, result: Result) -> None:
    result[0][agent]["observation"] = result[0][agent]["observation"][:-1].copy()


def nan(env: Planted, agent: str, result: Result) -> None:
    result[0][agent]["observation"][0] = np.nan


def out_of_space(env: Planted, agent: str, result: Result) -> None:
    result[0][agent]["observation"][0] = 1e6


def missing_key(env: Planted, agent: str, result: Result) -> None:
    del result[0][agent]["observation"]


def missing_agent(env: Planted, agent: str, result: Result) -> None:
    del result[0][agent]


def both_flags(env: Planted, agent: str, result: Result) -> None:
    if result[2][agent]:
        result[3][agent] = True


def flag_of_numpy(env: Planted, agent: str, result: Result) -> None:
    result[2][agent] = np.bool_(result[2][agent])


def infinite_reward(env: Planted, agent: str, result: Result) -> None:
    result[1][agent] = float("inf")


def reward_of_nowhere(env: Planted, agent: str, result: Result) -> None:
    result[1][agent] += 0.25


def text_in_info(env: Planted, agent: str, result: Result) -> None:
    result[4][agent]["reason"] = "timer"


def nan_in_info(env: Planted, agent: str, result: Result) -> None:
    result[4][agent]["dt_s"] = float("nan")


def new_info_key(env: Planted, agent: str, result: Result) -> None:
    result[4][agent]["extra"] = 1


def mask_allows_nothing(env: Planted, agent: str, result: Result) -> None:
    result[0][agent]["action_mask"][0] = 0


def mask_of_bool(env: Planted, agent: str, result: Result) -> None:
    result[0][agent]["action_mask"] = result[0][agent]["action_mask"].astype(bool)


def mask_of_busy_agent(env: Planted, agent: str, result: Result) -> None:
    for name, info in result[4].items():
        if not info["ready"]:
            result[0][name]["action_mask"][1] = 1


def illegal_mask(env: Planted, agent: str, result: Result) -> None:
    for name, info in result[4].items():
        if info["ready"]:
            result[0][name]["action_mask"][:] = 1


def reused_array(env: Planted, agent: str, result: Result) -> None:
    kept = env.__dict__.setdefault("kept", result[0][agent]["observation"])
    kept[:] = result[0][agent]["observation"]
    result[0][agent]["observation"] = kept


def shared_array(env: Planted, agent: str, result: Result) -> None:
    last = list(result[0])[-1]
    result[0][agent]["observation"] = result[0][last]["observation"]


def memory_of_the_last_episode(env: Planted, agent: str, result: Result) -> None:
    age = env.__dict__["age"] = env.__dict__.get("age", 0) + 1
    result[0][agent]["observation"][0] = age / 1e4


def unseeded(env: Planted, agent: str, result: Result) -> None:
    result[0][agent]["observation"][0] = np.random.default_rng().random()


def hash_of_text(env: Planted, agent: str, result: Result) -> None:
    result[0][agent]["observation"][0] = (hash("vendor") % 1000) / 1000


def process_id(env: Planted, agent: str, result: Result) -> None:
    env.stage.trace_rows.append(TraceRow(0.0, "state", note=str(os.getpid())))


class BusyActs(BookingParallelEnv):
    """A busy agent's action is booked as a penalty."""

    def __init__(self) -> None:
        super().__init__(SCENARIO)

    def step(self, actions: Any) -> Any:
        busy = [a for a in actions if actions[a] != 0 and self.agents and not self.stage.asked(a)]
        result = super().step(actions)
        for agent in busy:
            result[1][agent] -= 0.5
            result[4][agent]["r_pen"] -= 0.5
        return result


class Endless(BookingParallelEnv):
    """Starts again instead of ending."""

    def __init__(self) -> None:
        super().__init__("freight/first-steps-v0")

    def step(self, actions: Any) -> Any:
        result = super().step(actions)
        if not self.agents:
            observations, infos = self.reset()
            flags = dict.fromkeys(self.agents, False)
            return observations, dict.fromkeys(self.agents, 0.0), flags, dict(flags), infos
        return result


class BreaksAfterTheEnd(BookingParallelEnv):
    """Does not tolerate a step after the end."""

    def __init__(self) -> None:
        super().__init__("freight/first-steps-v0")

    def step(self, actions: Any) -> Any:
        if not self.agents:
            return {"booker_0": 0}, {}, {}, {}, {}
        return super().step(actions)


class WrongAecReward(BookingAECEnv):
    """``last()`` forgets what landed while others acted."""

    def __init__(self) -> None:
        super().__init__(SCENARIO)

    def last(self, observe: bool = True) -> Any:
        observation, reward, *rest = super().last(observe)
        return observation, reward * 0.5, *rest


def late_nondeterminism() -> Planted:
    return Planted(unseeded, after=40)


def hash_seed_matters() -> Planted:
    return Planted(hash_of_text, after=40)


def process_matters() -> Planted:
    return Planted(process_id, after=40)
