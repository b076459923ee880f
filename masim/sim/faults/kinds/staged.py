"""For kinds that act later than the event that sets them off: they keep their stage, and label when they act."""

from __future__ import annotations

from abc import abstractmethod

from masim.errors import ConfigError
from masim.sim.faults.base import Memo, WorldFault
from masim.sim.faults.engine import Stage
from masim.sim.faults.event import Event, Where
from masim.sim.spec import Verb

_STAGE = "stage"
LEAST_TICK_S = 1.0
"""Ticks are put on the clock when a day starts, each for every dock."""


class Staged(WorldFault):
    """Keeps the stage in the memo; nothing is scheduled when the day starts."""

    def on_start(self, stage: Stage, memo: Memo) -> None:
        """Keep the stage."""
        memo[_STAGE] = stage


def stage_of(memo: Memo) -> Stage:
    """Return the stage that a staged kind keeps."""
    stage: Stage = memo[_STAGE]
    return stage


class Ticking(WorldFault):
    """Asks for every dock again and again whether it strikes, from the start of the day to the end of booking.

    Its place is the dock and the endpoint ``schedule``.
    """

    every_s: float

    def __post_init__(self) -> None:
        if self.every_s < LEAST_TICK_S:
            raise ConfigError("ticks too close", "every_s", f"{self.every_s:g} s", f"at least {LEAST_TICK_S:g} s")

    @abstractmethod
    def on_tick(self, stage: Stage, dock: str, n: int, event: Event | None, memo: Memo) -> None:
        """Act at the n-th tick of a dock; the event is None when nothing was drawn."""

    def on_start(self, stage: Stage, memo: Memo) -> None:
        """Put the ticks on the clock."""
        world = stage.world
        span_s = world.spec.booking_end_s - world.spec.day_start_s
        for dock in world.docks:
            if stage.armed.spec.match.place(dock, Verb.SCHEDULE.value):
                for n in range(int(span_s // self.every_s) + 1):
                    world.clock.at(world.clock.now + n * self.every_s, self._tick, stage, dock, n, memo)

    def _tick(self, stage: Stage, dock: str, n: int, memo: Memo) -> None:
        where = Where("", dock, Verb.SCHEDULE.value, "", -1, "", stage.world.clock.now)
        self.on_tick(stage, dock, n, stage.try_strike(where, f"tick\x1f{dock}\x1f{n}"), memo)
