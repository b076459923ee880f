"""A session on a fixed grid of time: ``sync="tick"``."""

from __future__ import annotations

import math
from typing import ClassVar

from masim.env.core import Session
from masim.env.decision import Decision


class TickSession(Session):
    """Goes on by the same simulated time with every :meth:`advance`, whether anybody is ready then or not.

    Agents that became ready in between are asked at the end of the tick. Ticks count from the start of the booking
    day; the last one ends with it. The length is :attr:`SessionOptions.tick_s`.
    """

    sync: ClassVar[str] = "tick"

    def advance(self) -> tuple[Decision, ...]:
        """Return the decisions at the end of the next tick: the first call starts the day, and there may be none."""
        if self._open or self.over:
            return super().advance()
        self.ticks += 1
        if self.ticks == 1 or self._plays(self.ticks - 1):
            return self._ask()
        self._finish()
        return ()

    def _plays(self, nth: int) -> bool:
        """Play the nth tick and return whether the day goes on."""
        if self._starts_s(nth) < self._end_s and not self._all_retired():
            clock, now = self.world.clock, self.now
            until = now + (min(self._starts_s(nth + 1), self._end_s) - now)
            # An event of its own brings the clock to the end of a tick in which nothing else happens then.
            clock.at(until, _nothing)
            while clock.peek() <= until:
                clock.step()
            return bool(self._ready) or (self._starts_s(nth + 1) < self._end_s and not self._all_retired())
        return False

    def _starts_s(self, nth: int) -> float:
        return self._start_s + (nth - 1) * (self.options.tick_s or math.inf)

    def _all_retired(self) -> bool:
        return all(seat.retired for seat in self._seats.values())


def _nothing() -> None:
    """Happen."""
