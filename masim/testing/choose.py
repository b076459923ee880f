"""Choosing actions for an environment: one of them, or several at once where the space is a ``MultiDiscrete``.

A mask of several has one part per choice, one after the other, as :mod:`masim.env.choices` lays it out.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from masim.arrays import I64
from masim.testing.drive import Driver, Seen

Choose = Callable[[Seen], Any]


def sizes(driver: Driver, agent: str) -> list[int]:
    """Return how many values each part of an agent's action has; one part of 1 for a space that does not count."""
    space = driver.spaces(agent)[1]
    many = getattr(space, "nvec", None)
    return [int(getattr(space, "n", 1))] if many is None else [int(n) for n in np.ravel(many)]


def packed(driver: Driver, agent: str, values: list[int]) -> Any:
    """Return the action that the values of its parts make."""
    one = not hasattr(driver.spaces(agent)[1], "nvec")
    return values[0] if one else np.array(values, dtype=np.int64)


def nothing(driver: Driver, agent: str) -> Any:
    """Return the action of zeros, which waits."""
    return packed(driver, agent, [0] * len(sizes(driver, agent)))


def parts_of_mask(mask: Any, counts: list[int]) -> list[np.ndarray[Any, Any]]:
    """Return the parts of a mask."""
    bounds = np.cumsum([0, *counts]).tolist()
    return [np.asarray(mask)[start:stop] for start, stop in pairwise(bounds)]


def legal_chooser(driver: Driver, rng: np.random.Generator) -> Choose:
    """Return a choice uniform over the mask, or over all actions of the agent where there is no mask."""

    def one(count: int, part: np.ndarray[Any, Any] | None) -> int:
        legal: I64 = np.arange(count) if part is None else np.flatnonzero(part)
        return int(legal[int(rng.integers(len(legal)))]) if len(legal) else 0

    def choose(seen: Seen) -> Any:
        counts, mask = sizes(driver, seen.agent), seen.mask()
        parts = [None] * len(counts) if mask is None else parts_of_mask(mask, counts)
        return packed(driver, seen.agent, [one(*pair) for pair in zip(counts, parts, strict=True)])

    return choose


def any_choice(driver: Driver, agent: str, rng: np.random.Generator) -> Any:
    """Return an action that is no wait, whatever the mask says; the wait where there is nothing else."""
    values = [int(rng.integers(1, n)) if n > 1 else 0 for n in sizes(driver, agent)]
    return packed(driver, agent, values)


def forbidden_choice(driver: Driver, seen: Seen, rng: np.random.Generator) -> Any:
    """Return an action whose first part the mask forbids; ``None`` where it forbids nothing."""
    counts, mask = sizes(driver, seen.agent), seen.mask()
    if mask is None:
        return None
    forbidden = np.flatnonzero(parts_of_mask(mask, counts)[0] == 0)
    if not len(forbidden):
        return None
    first = int(forbidden[int(rng.integers(len(forbidden)))])
    return packed(driver, seen.agent, [first, *[0] * (len(counts) - 1)])
