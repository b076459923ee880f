"""Environments with one planted bug each, for all adapters, to show that the checks find it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from masim.env.aec import BookingAECEnv
from masim.env.parallel import BookingParallelEnv
from masim.env.ready import EVERYBODY, BookingReadyEnv
from masim.env.single import BookingEnv
from masim.policy.company import scripted
from masim.scenario.load import Scenario, load_scenario
from masim.sim.trace import TraceRow


@cache
def scenario(name: str = "freight/short-chain-v0") -> Scenario:
    return load_scenario(name)


@dataclass
class Given:
    """What one agent is about to be given, to be changed."""

    env: Any
    agent: str
    observation: Any
    reward: Any
    terminated: Any
    truncated: Any
    info: Any


Change = Callable[[Given], None]


@dataclass
class Plant:
    """Spoils what ``booker_0`` is given from the ``after``-th step on, or what all are, and remembers when first."""

    change: Change
    after: int = 3
    everybody: bool = False
    first: int = field(default=-1)

    def spoil(self, env: Any, agent: str, answer: Any) -> Any:
        if env.steps <= self.after or not (self.everybody or agent == "booker_0"):
            return answer
        given = Given(env, agent, *answer)
        self.change(given)
        spoilt = (given.observation, given.reward, given.terminated, given.truncated, given.info)
        if self.first < 0:
            self.first = env.steps
        return spoilt


def spoilt(env: Any, result: Any) -> Any:
    env.steps += 1
    for agent in list(result[0]):
        answer = env.plant.spoil(env, agent, tuple(part[agent] for part in result))
        for part, value in zip(result, answer, strict=True):
            part[agent] = value
    return result


class PlantedParallel(BookingParallelEnv):
    def __init__(self, plant: Plant) -> None:
        super().__init__(scenario(), trace=True)
        self.plant, self.steps = plant, 0

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.steps = 0
        return super().reset(seed, options)

    def step(self, actions: Any) -> Any:
        return spoilt(self, super().step(actions))


class PlantedAec(BookingAECEnv):
    def __init__(self, plant: Plant) -> None:
        self.steps = 0
        super().__init__(scenario(), trace=True)
        self.plant = plant

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.steps = 0
        return super().reset(seed, options)

    def step(self, action: Any) -> None:
        self.steps += 1
        super().step(action)

    def last(self, observe: bool = True) -> Any:
        return self.plant.spoil(self, self.agent_selection, super().last(observe))


class PlantedGym(BookingEnv):
    def __init__(self, plant: Plant) -> None:
        super().__init__(scenario(), scripted(), trace=True)
        self.plant, self.steps = plant, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.steps = 0
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> Any:
        answer = super().step(action)
        self.steps += 1
        return self.plant.spoil(self, self.agent, answer)


class PlantedReady(BookingReadyEnv):
    def __init__(self, plant: Plant) -> None:
        super().__init__(scenario(), trace=True)
        self.plant, self.steps = plant, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.steps = 0
        return super().reset(seed=seed, options=options)

    def step(self, actions: Any) -> Any:
        return spoilt(self, super().step(actions))


# -- what one agent is given ------------------------------------------------------------------------------------------


def wrong_dtype(given: Given) -> None:
    given.observation["observation"] = given.observation["observation"].astype(np.float64)


def wrong_shape(given: Given) -> None:
    given.observation["observation"] = given.observation["observation"][:-1].copy()


def nan(given: Given) -> None:
    given.observation["observation"][0] = np.nan


def out_of_space(given: Given) -> None:
    given.observation["observation"][0] = 1e6


def missing_key(given: Given) -> None:
    del given.observation["observation"]


def list_for_array(given: Given) -> None:
    given.observation["observation"] = given.observation["observation"].tolist()


def both_flags(given: Given) -> None:
    given.terminated = given.truncated = True


def flag_of_numpy(given: Given) -> None:
    given.terminated = np.bool_(given.terminated)


def infinite_reward(given: Given) -> None:
    given.reward = float("inf")


def nan_reward(given: Given) -> None:
    given.reward = float("nan")


def reward_of_nowhere(given: Given) -> None:
    given.reward += 0.25


def text_in_info(given: Given) -> None:
    given.info["reason"] = "timer"


def nan_in_info(given: Given) -> None:
    given.info["dt_s"] = float("nan")


def new_info_key(given: Given) -> None:
    given.info["extra"] = 1


def lost_info_key(given: Given) -> None:
    del given.info["day"]


def mask_allows_nothing(given: Given) -> None:
    given.observation["action_mask"][0] = 0


def mask_of_bool(given: Given) -> None:
    given.observation["action_mask"] = given.observation["action_mask"].astype(bool)


def mask_too_open(given: Given) -> None:
    if given.info["ready"]:
        given.observation["action_mask"][:] = 1


def reused_array(given: Given) -> None:
    kept = given.env.__dict__.setdefault("kept", given.observation["observation"])
    kept[:] = given.observation["observation"]
    given.observation["observation"] = kept


def memory_of_the_last_episode(given: Given) -> None:
    age = given.env.__dict__["age"] = given.env.__dict__.get("age", 0) + 1
    given.observation["observation"][0] = age / 1e4


def unseeded(given: Given) -> None:
    given.observation["observation"][0] = np.random.default_rng().random()


def hash_of_text(given: Given) -> None:
    given.observation["observation"][0] = (hash("vendor") % 1000) / 1000


def process_id(given: Given) -> None:
    given.env.stage.trace_rows.append(TraceRow(0.0, "state", note=str(os.getpid())))


# -- what a whole environment does ------------------------------------------------------------------------------------


class MaskOfBusyAgent(BookingParallelEnv):
    """A busy agent is offered more than the wait."""

    def step(self, actions: Any) -> Any:
        result = super().step(actions)
        for name, info in result[4].items():
            if not info["ready"] and not info["left"]:
                result[0][name]["action_mask"][1] = 1
        return result


class SecondCallCannotWait(BookingParallelEnv):
    """The mask of the second call of a decision has no padding."""

    def step(self, actions: Any) -> Any:
        result = super().step(actions)
        for observation in result[0].values():
            observation["action_mask"][len(self.stage.table)] = 0
        return result


class SharedArray(BookingParallelEnv):
    """Two agents are given the same array."""

    def step(self, actions: Any) -> Any:
        result = super().step(actions)
        if len(result[0]) > 1:
            result[0]["booker_1"]["observation"] = result[0]["booker_0"]["observation"]
        return result


class BusyActs(BookingParallelEnv):
    """A busy agent's action is booked as a penalty."""

    def step(self, actions: Any) -> Any:
        busy = [a for a in actions if actions[a] != 0 and self.agents and not self.stage.asked(a)]
        result = super().step(actions)
        for agent in busy:
            result[1][agent] -= 0.5
            result[4][agent]["r_pen"] -= 0.5
        return result


class BusyActsTogether(BookingParallelEnv):
    """The second call of a busy agent is booked as a penalty."""

    def step(self, actions: Any) -> Any:
        busy = [a for a in actions if actions[a][1] != 0 and self.agents and not self.stage.asked(a)]
        result = super().step(actions)
        for agent in busy:
            result[1][agent] -= 0.5
            result[4][agent]["r_pen"] -= 0.5
        return result


class MissingAgent(BookingParallelEnv):
    """Leaves ``booker_2`` out of the rewards."""

    def step(self, actions: Any) -> Any:
        result = super().step(actions)
        result[1].pop("booker_2", None)
        return result


class UnknownAgent(BookingParallelEnv):
    """Observes somebody who is not there."""

    def step(self, actions: Any) -> Any:
        result = super().step(actions)
        if result[0]:
            result[0]["booker_9"] = result[0]["booker_0"]
        return result


class UnreadyShown(BookingReadyEnv):
    """Shows everybody all the time."""

    def step(self, actions: Any) -> Any:
        result = super().step(actions)
        if not self.stage.over:
            for agent in set(self.agents) - set(result[0]):
                observations, infos = self._show([agent])
                spare = (observations[agent], 0.0, False, False, infos[agent])
                for part, value in zip(result, spare, strict=True):
                    part[agent] = value
        return result


class NobodySaysItIsOver(BookingReadyEnv):
    """Leaves out the flag of everybody."""

    def step(self, actions: Any) -> Any:
        result = super().step(actions)
        del result[2][EVERYBODY]
        return result


class AbsentActs(BookingReadyEnv):
    """An action of an agent that was not shown costs another one something."""

    def step(self, actions: Any) -> Any:
        strangers = [a for a in actions if self.agents and not self.stage.asked(a)]
        result = super().step(actions)
        for agent in list(result[1])[: len(strangers)]:
            result[1][agent] -= 0.5
            result[4][agent]["r_pen"] -= 0.5
        return result


class ShowsAfterTheEnd(BookingReadyEnv):
    """Pays once more after the end."""

    def step(self, actions: Any) -> Any:
        over = bool(self._places_over())
        result = super().step(actions)
        if over:
            result[1]["booker_0"] = 1.0
        return result

    def _places_over(self) -> bool:
        return not self.agents


class ShoutingNames(BookingParallelEnv):
    """Agents whose names trainers cannot use."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.possible_agents = [name.upper() for name in self.possible_agents]
        self.observation_spaces = {a.upper(): s for a, s in self.observation_spaces.items()}
        self.action_spaces = {a.upper(): s for a, s in self.action_spaces.items()}

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        kept, self.possible_agents = self.possible_agents, [name.lower() for name in self.possible_agents]
        observations, infos = super().reset(seed, options)
        self.possible_agents = self.agents = kept
        return {a.upper(): o for a, o in observations.items()}, {a.upper(): i for a, i in infos.items()}

    def step(self, actions: Any) -> Any:
        self.possible_agents = self.agents = [name.lower() for name in self.possible_agents]
        result = super().step({a.lower(): x for a, x in actions.items()})
        self.possible_agents = [name.upper() for name in self.possible_agents]
        self.agents = [name.upper() for name in self.agents]
        return tuple({a.upper(): x for a, x in part.items()} for part in result)


class StateOfNan(BookingParallelEnv):
    """The state has a hole."""

    def state(self) -> Any:
        state = super().state()
        state[3] = np.nan
        return state


class StateInAecOfNan(BookingAECEnv):
    """The state has a hole."""

    def state(self) -> Any:
        state = super().state()
        state[3] = np.nan
        return state


class StateKept(BookingParallelEnv):
    """The state is the same array every time."""

    def state(self) -> Any:
        kept = self.__dict__.setdefault("kept", super().state())
        kept[:] = super().state()
        return kept


class Endless(BookingParallelEnv):
    """Starts again instead of ending."""

    def step(self, actions: Any) -> Any:
        result = super().step(actions)
        if not self.agents:
            observations, infos = self.reset()
            flags = dict.fromkeys(self.agents, False)
            return observations, dict.fromkeys(self.agents, 0.0), flags, dict(flags), infos
        return result


class EndlessGym(BookingEnv):
    """Never sets a flag."""

    def step(self, action: Any) -> Any:
        observation, reward, _, _, info = super().step(action)
        return observation, reward, False, False, info


class AnswersAfterTheEnd(BookingParallelEnv):
    """Answers a step after the end."""

    def step(self, actions: Any) -> Any:
        if not self.agents:
            return {"booker_0": 0}, {}, {}, {}, {}
        return super().step(actions)


class RaisesAfterTheEnd(BookingParallelEnv):
    """Does not tolerate a step after the end."""

    def step(self, actions: Any) -> Any:
        if not self.agents:
            raise KeyError("booker_0")
        return super().step(actions)


class RaisesAfterTheEndInAec(BookingAECEnv):
    """Does not tolerate a step after the end."""

    def step(self, action: Any) -> None:
        if not self.agents:
            raise KeyError("booker_0")
        super().step(action)


class PaysAfterTheEnd(BookingEnv):
    """Pays once more for every step after the end."""

    def step(self, action: Any) -> Any:
        over = self.stage.over
        observation, reward, *rest = super().step(action)
        return observation, 1.0 if over else reward, *rest


class RaisesWhenIllegal(BookingParallelEnv):
    """An illegal action is an exception."""

    def step(self, actions: Any) -> Any:
        for agent, action in actions.items():
            if self.agents and not self.stage.mask(agent)[action]:
                raise ValueError(f"{agent} cannot do {action}")
        return super().step(actions)


class SilentWhenIllegal(BookingEnv):
    """An illegal action is not told."""

    def step(self, action: Any) -> Any:
        *answer, info = super().step(action)
        return *answer, info | {"illegal": 0}


class SilentWhenIllegalInAec(BookingAECEnv):
    """An illegal action is not told."""

    def last(self, observe: bool = True) -> Any:
        *answer, info = super().last(observe)
        return *answer, info | {"illegal": 0}


class NoPicture(BookingParallelEnv):
    """Draws grey pictures."""

    def render(self) -> Any:
        return super().render()[..., 0]


class TextOfBytes(BookingEnv):
    """Writes bytes for text."""

    def render(self) -> Any:
        return str(super().render()).encode()


class WrongAecReward(BookingAECEnv):
    """``last()`` forgets what landed while others acted."""

    def last(self, observe: bool = True) -> Any:
        observation, reward, *rest = super().last(observe)
        return observation, reward * 0.5, *rest


class Crash(BookingEnv):
    """Dies in its third step."""

    def step(self, action: Any) -> Any:
        if self.stage.session.decisions(self.agent) == 2:
            raise ZeroDivisionError("planted")
        return super().step(action)


def late_nondeterminism() -> PlantedParallel:
    return PlantedParallel(Plant(unseeded, after=40))


def hash_seed_matters() -> PlantedParallel:
    return PlantedParallel(Plant(hash_of_text, after=40))


def process_matters() -> PlantedParallel:
    return PlantedParallel(Plant(process_id, after=40))
