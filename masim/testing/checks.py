"""What must hold of everything that an agent is given at one moment. Each check yields problems as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any

import numpy as np
from gymnasium import spaces

from masim.testing.drive import Seen, arrays_in

REWARD_PARTS = ("r_out", "r_pen")
WAIT = 0


def check_space(value: Any, space: Any, where: str) -> Iterator[str]:
    """Check membership part by part, so that the problem names the part and the reason."""
    if isinstance(space, spaces.Dict):
        if not isinstance(value, Mapping) or set(value) != set(space.spaces):
            keys = sorted(value) if isinstance(value, Mapping) else type(value).__name__
            yield f"{where}: has {keys}, the space has {sorted(space.spaces)}"
            return
        for key, part in space.spaces.items():
            yield from check_space(value[key], part, f"{where}.{key}")
    elif isinstance(space, spaces.Box | spaces.MultiBinary):
        yield from _check_array(value, space, where)
    elif not space.contains(value):
        yield f"{where}: {value!r} is not in {space}"


def _check_array(value: Any, space: spaces.Box | spaces.MultiBinary, where: str) -> Iterator[str]:
    if not isinstance(value, np.ndarray):
        yield f"{where}: is a {type(value).__name__}, not an array"
    elif value.dtype != space.dtype:
        yield f"{where}: dtype {value.dtype}, the space says {space.dtype}"
    elif value.shape != space.shape:
        yield f"{where}: shape {value.shape}, the space says {space.shape}"
    elif not np.isfinite(value).all():
        yield f"{where}: contains NaN or infinity"
    elif not space.contains(value):
        yield f"{where}: out of bounds, values from {value.min()} to {value.max()}"


def check_flags(seen: Seen) -> Iterator[str]:
    """Flags are plain booleans and never both set."""
    for name, flag in (("terminated", seen.terminated), ("truncated", seen.truncated)):
        if not isinstance(flag, bool):
            yield f"{name} of {seen.agent} is a {type(flag).__name__}, not a bool"
    if seen.terminated and seen.truncated:
        yield f"{seen.agent} is terminated and truncated at once"


def check_reward(seen: Seen) -> Iterator[str]:
    """Rewards are finite numbers, and the sum of their parts where the info names parts."""
    reward = seen.reward
    if not _is_finite(reward):
        yield f"reward of {seen.agent} is {reward!r}, not a finite number"
    elif isinstance(seen.info, Mapping) and all(part in seen.info for part in REWARD_PARTS):
        total = sum(float(seen.info[part]) for part in REWARD_PARTS)
        if abs(total - float(reward)) > 1e-6:
            yield f"reward of {seen.agent} is {float(reward):g}, its parts sum to {total:g}"


def _is_finite(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and bool(np.isfinite(float(value)))


def check_info(seen: Seen, keys: set[str]) -> Iterator[str]:
    """Infos hold finite numbers (or arrays of them) under the keys they had at the reset."""
    if not isinstance(seen.info, Mapping):
        yield f"info of {seen.agent} is a {type(seen.info).__name__}, not a mapping"
        return
    if set(seen.info) != keys:
        yield f"info keys of {seen.agent} change: {sorted(set(seen.info) ^ keys)}"
    for key, value in seen.info.items():
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            yield f"info[{key!r}] of {seen.agent} is a {type(value).__name__}, not a number"
        elif not np.isfinite(array).all():
            yield f"info[{key!r}] of {seen.agent} is not finite"


def check_mask(seen: Seen, n: int) -> Iterator[str]:
    """A mask is (K,) int8 of zeros and ones that allows WAIT, and nothing else to a busy agent."""
    mask = seen.mask()
    if mask is None:
        return
    if not isinstance(mask, np.ndarray) or mask.dtype != np.int8 or mask.shape != (n,):
        shape = (mask.dtype, mask.shape) if isinstance(mask, np.ndarray) else type(mask).__name__
        yield f"mask of {seen.agent} is {shape}, not int8 of shape ({n},)"
        return
    if not np.isin(mask, (0, 1)).all():
        yield f"mask of {seen.agent} holds other values than 0 and 1"
    if mask[WAIT] != 1:
        yield f"mask of {seen.agent} forbids WAIT"
    busy = isinstance(seen.info, Mapping) and seen.info.get("ready") == 0
    if busy and int(mask.sum()) != 1:
        yield f"mask of {seen.agent} allows more than WAIT while it is not ready"


def check_legal_was_taken(seen: Seen) -> Iterator[str]:
    """An action sampled from the mask is never reported illegal."""
    if isinstance(seen.info, Mapping) and seen.info.get("illegal", 0):
        yield f"a legal action of {seen.agent} was reported illegal"


def check_fresh(now: list[Seen], before: list[Seen]) -> Iterator[str]:
    """Arrays are copied: nothing that was given earlier, or to another agent, is handed out again."""
    given = [(s.agent, a) for s in before for a in (*arrays_in(s.observation), *arrays_in(s.info))]
    for seen in now:
        for array in (*arrays_in(seen.observation), *arrays_in(seen.info)):
            if any(np.shares_memory(array, other) for _, other in given):
                yield f"an array given to {seen.agent} was given before"
        given += [(seen.agent, a) for a in (*arrays_in(seen.observation), *arrays_in(seen.info))]
