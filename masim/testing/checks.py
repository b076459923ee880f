"""What must hold of everything that agents are given at one moment. Each check yields :class:`Problem` values.

They can be used one by one in a loop of one's own: build a :class:`Moment` after each step and call a check with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from gymnasium import spaces

from masim.testing.choose import parts_of_mask, sizes
from masim.testing.drive import Driver, Seen, arrays_in
from masim.testing.problems import Problem

WAIT = 0
PART = "r_"
"""Keys of an info that begin so are parts of the reward."""
AGENT_NAME = re.compile(r"[a-z]+_[0-9]+")


@dataclass(frozen=True, slots=True)
class Moment:
    """What was given after one step (number 0: the reset), to be checked."""

    step: int
    seen: list[Seen]
    before: list[Seen]
    """What each agent was given the time before."""
    acted: Mapping[str, Any]
    """The actions in between, none at the reset."""
    first: Mapping[str, Seen]
    """What each agent was given when it was seen first."""
    driver: Driver


Check = Callable[[Moment], Iterator[Problem]]


def check_spaces(moment: Moment) -> Iterator[Problem]:
    """Observations lie in their space: keys, dtype, shape, bounds, no NaN, part by part."""
    for seen in moment.seen:
        space = moment.driver.spaces(seen.agent)[0]
        for part, text in _outside(seen.observation, space, "observation"):
            yield Problem("spaces", text, seen.agent, moment.step, part)


Fault = tuple[str, str]
"""(part, what is wrong with it)."""


def _outside(value: Any, space: Any, part: str) -> Iterator[Fault]:
    if isinstance(space, spaces.Dict):
        if not isinstance(value, Mapping) or set(value) != set(space.spaces):
            keys = sorted(value) if isinstance(value, Mapping) else type(value).__name__
            yield part, f"has {keys}, the space has {sorted(space.spaces)}"
            return
        for key, inner in space.spaces.items():
            yield from _outside(value[key], inner, f"{part}.{key}")
    elif isinstance(space, spaces.Box | spaces.MultiBinary):
        yield from _outside_array(value, space, part)
    elif not space.contains(value):
        yield part, f"{value!r} is not in {space}"


def _outside_array(value: Any, space: spaces.Box | spaces.MultiBinary, part: str) -> Iterator[Fault]:
    if not isinstance(value, np.ndarray):
        yield part, f"is a {type(value).__name__}, not an array"
    elif value.dtype != space.dtype:
        yield part, f"dtype {value.dtype}, the space says {space.dtype}"
    elif value.shape != space.shape:
        yield part, f"shape {value.shape}, the space says {space.shape}"
    elif not np.isfinite(value).all():
        yield part, "contains NaN or infinity"
    elif not space.contains(value):
        yield part, f"out of bounds, values from {value.min()} to {value.max()}"


def check_flags(moment: Moment) -> Iterator[Problem]:
    """Flags are plain booleans and never both set."""
    for seen in moment.seen:
        for part, flag in (("terminated", seen.terminated), ("truncated", seen.truncated)):
            if not isinstance(flag, bool):
                yield Problem("flags", f"is a {type(flag).__name__}, not a bool", seen.agent, moment.step, part)
        if seen.terminated and seen.truncated:
            yield Problem("flags", "terminated and truncated at once", seen.agent, moment.step, "flags")


def check_rewards(moment: Moment) -> Iterator[Problem]:
    """Rewards are finite numbers."""
    for seen in moment.seen:
        if not _is_finite(seen.reward):
            yield Problem("rewards", f"is {seen.reward!r}, not a finite number", seen.agent, moment.step, "reward")


def _is_finite(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and bool(np.isfinite(float(value)))


def check_reward_parts(moment: Moment) -> Iterator[Problem]:
    """A reward is the sum of its parts, the numbers of the info whose keys begin with ``r_``, where there are any."""
    for seen in moment.seen:
        info = seen.info if isinstance(seen.info, Mapping) else {}
        parts = [float(value) for key, value in info.items() if str(key).startswith(PART) and _is_finite(value)]
        if parts and _is_finite(seen.reward) and abs(sum(parts) - float(seen.reward)) > 1e-6:
            text = f"is {float(seen.reward):g}, its parts sum to {sum(parts):g}"
            yield Problem("reward_parts", text, seen.agent, moment.step, "reward")


def check_infos(moment: Moment) -> Iterator[Problem]:
    """Infos hold finite numbers, or arrays of them."""
    for seen in moment.seen:
        if not isinstance(seen.info, Mapping):
            text = f"is a {type(seen.info).__name__}, not a mapping"
            yield Problem("infos", text, seen.agent, moment.step, "info")
            continue
        for key, value in seen.info.items():
            array = np.asarray(value)
            wrong = "" if array.dtype.kind in "biuf" else f"is a {type(value).__name__}, not a number"
            if not wrong and not np.isfinite(array).all():
                wrong = "is not finite"
            if wrong:
                yield Problem("infos", wrong, seen.agent, moment.step, f"info[{key!r}]")


def check_info_keys(moment: Moment) -> Iterator[Problem]:
    """The keys of an agent's info are those it had at first."""
    for seen in moment.seen:
        now, first = seen.info, moment.first[seen.agent].info
        if isinstance(now, Mapping) and isinstance(first, Mapping) and set(now) != set(first):
            text = f"keys change: {sorted(map(str, set(now) ^ set(first)))}"
            yield Problem("info_keys", text, seen.agent, moment.step, "info")


def check_masks(moment: Moment) -> Iterator[Problem]:
    """A mask is int8 of zeros and ones, a part per choice, that allows WAIT (action 0), and a busy agent no more."""
    for seen in moment.seen:
        for text in _mask_faults(seen, sizes(moment.driver, seen.agent)):
            yield Problem("masks", text, seen.agent, moment.step, "action_mask")


def _mask_faults(seen: Seen, counts: list[int]) -> Iterator[str]:
    mask, n = seen.mask(), sum(counts)
    if mask is None:
        return
    if not isinstance(mask, np.ndarray) or mask.dtype != np.int8 or mask.shape != (n,):
        shape = (mask.dtype, mask.shape) if isinstance(mask, np.ndarray) else type(mask).__name__
        yield f"is {shape}, not int8 of shape ({n},)"
    elif not np.isin(mask, (0, 1)).all():
        yield "holds other values than 0 and 1"
    elif any(part[WAIT] != 1 for part in parts_of_mask(mask, counts)):
        yield "forbids WAIT"
    elif not seen.ready() and int(mask.sum()) != len(counts):
        yield "allows more than WAIT while the agent is not ready"


def check_legal(moment: Moment) -> Iterator[Problem]:
    """An action sampled from the mask is never reported illegal."""
    for seen in moment.seen if moment.acted else ():
        if isinstance(seen.info, Mapping) and seen.info.get("illegal", 0):
            text = "a legal action was reported illegal"
            yield Problem("legal", text, seen.agent, moment.step, "info['illegal']")


def check_fresh(moment: Moment) -> Iterator[Problem]:
    """Arrays are copied: nothing that was given before, or to another agent, is handed out again."""
    given = [(s.agent, a) for s in moment.before for a in _arrays(s)]
    for seen in moment.seen:
        for array in _arrays(seen):
            other = next((agent for agent, earlier in given if np.shares_memory(array, earlier)), "")
            if other:
                text = f"an array was given before, to {other}"
                yield Problem("fresh", text, seen.agent, moment.step, "arrays")
        given += [(seen.agent, a) for a in _arrays(seen)]


def _arrays(seen: Seen) -> list[np.ndarray[Any, Any]]:
    return [*arrays_in(seen.observation), *arrays_in(seen.info)]


def check_names(moment: Moment) -> Iterator[Problem]:
    """Agents are named ``[a-z]+_[0-9]+`` and belong to the agents that were announced."""
    announced = moment.driver.agents()
    for seen in moment.seen:
        if not AGENT_NAME.fullmatch(seen.agent):
            yield Problem("names", "the name is not of the form [a-z]+_[0-9]+", seen.agent, moment.step)
        if seen.agent not in announced:
            yield Problem("names", f"not among possible_agents {announced}", seen.agent, moment.step)


def check_state(moment: Moment) -> Iterator[Problem]:
    """The global state, where there is one, lies in ``state_space`` and is a copy of its own."""
    env = moment.driver.env
    space = getattr(env, "state_space", None)
    if space is None:
        return
    state = env.state()
    for part, text in _outside(state, space, "state"):
        yield Problem("state", text, "", moment.step, part)
    if isinstance(state, np.ndarray) and np.shares_memory(state, env.state()):
        yield Problem("state", "the same array is given twice", "", moment.step, "state")


AT_EACH_STEP: dict[str, Check] = {
    "spaces": check_spaces,
    "flags": check_flags,
    "rewards": check_rewards,
    "reward_parts": check_reward_parts,
    "infos": check_infos,
    "info_keys": check_info_keys,
    "masks": check_masks,
    "legal": check_legal,
    "fresh": check_fresh,
    "names": check_names,
    "state": check_state,
}
"""The checks that look at every moment of an episode, in the order in which their problems are told."""
