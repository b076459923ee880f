"""Which day of which campaign an environment plays next, and with which memories."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from masim.errors import ConfigError, did_you_mean
from masim.memory.book import MemoryBook
from masim.memory.config import MemoryConfig
from masim.memory.memory import Memory
from masim.sim.spec import Instance, WorldSpec
from masim.units import DAY

SEEDS = (1_000_000, 2**31)
"""Drawn campaign seeds lie here; those below are kept for evaluation."""
RESET_OPTIONS = ("day", "campaign_seed")


class Calendar:
    """Draws episodes. Without ``campaign`` each is a day on its own; with it, days follow each other.

    In a campaign the memories of a finished day are credited with its outcome, swept and committed before the next
    one; a day that was left before its end is played again. After the last day, or on a new seed, a new campaign
    starts with empty memories.
    """

    def __init__(self, spec: WorldSpec, campaign: bool) -> None:
        self._spec = spec
        self._campaign = campaign
        self._book = self._empty()
        self._seed = -1
        self._day = 0

    def _empty(self) -> MemoryBook:
        return MemoryBook(self._spec.agents, MemoryConfig())

    def draw(
        self, rng: np.random.Generator, reseeded: bool, options: Mapping[str, object]
    ) -> tuple[Instance, dict[str, Memory]]:
        """Return the next instance and the agents' memories. Raises ConfigError for a day that cannot be."""
        if not isinstance(options, Mapping):
            raise ConfigError("reset options are no mapping", "reset(options)", repr(options), ", ".join(RESET_OPTIONS))
        _refuse_misspelt(options)
        seed = _integer(options, "campaign_seed", 2**63)
        day = _integer(options, "day", self._spec.campaign_days)
        if self._campaign and day is not None:
            raise ConfigError("the campaign decides the day", "options['day']", str(day), "", "use campaign=False")
        over = self._day >= self._spec.campaign_days
        if not self._campaign or self._seed < 0 or over or reseeded or seed is not None:
            self._seed = int(rng.integers(*SEEDS)) if seed is None else seed
            self._day = day or 0
            self._book = self._empty()
        start_s = self._day * DAY + self._spec.day_start_s
        return Instance(self._seed, self._day, "train"), self._book.overlays(start_s)

    def again(self, instance: Instance) -> dict[str, Memory]:
        """Return the memories that an earlier draw started with.

        Raises ConfigError when a campaign has gone on since, so that they are no longer there.
        """
        if self._campaign and (instance.campaign_seed, instance.day) != (self._seed, self._day):
            raise ConfigError("the campaign has left that day", "snapshot", f"day {instance.day}", f"day {self._day}")
        book = self._book if self._campaign else self._empty()
        return book.overlays(instance.day * DAY + self._spec.day_start_s)

    def close(self, memories: Mapping[str, Memory], outcomes: Mapping[str, float], end_s: float) -> None:
        """Take in a day that was played to its end."""
        if not self._campaign:
            return
        for agent, memory in memories.items():
            memory.feedback(outcomes[agent], end_s)
            memory.end_episode(end_s)
        self._book.commit(memories)
        self._day += 1


def _refuse_misspelt(options: Mapping[str, object]) -> None:
    """Foreign keys are let through, because conformance tests send them; one that is nearly ours is a mistake."""
    for name in options:
        near = did_you_mean(str(name), RESET_OPTIONS) if name not in RESET_OPTIONS else ""
        if near:
            raise ConfigError("no such reset option", f"options[{name!r}]", "", ", ".join(RESET_OPTIONS), near)


def _integer(options: Mapping[str, object], name: str, below: int) -> int | None:
    value = options.get(name)
    if value is None:
        return None
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not 0 <= int(value) < below:  # type: ignore[call-overload]
        raise ConfigError("impossible reset option", f"options[{name!r}]", repr(value), f"an integer in [0, {below})")
    return int(value)  # type: ignore[call-overload,no-any-return]
