"""A session that asks everybody together: ``sync="all"``."""

from __future__ import annotations

from typing import ClassVar

from masim.env.core import Session
from masim.env.decision import Decision


class BarrierSession(Session):
    """Holds ready agents back until every agent that still has turns is ready too, or the booking day ends."""

    sync: ClassVar[str] = "all"

    def advance(self) -> tuple[Decision, ...]:
        """Return one decision per agent that still has turns; at the end of the day those that are ready."""
        if not self._open and not self.over:
            self._gather()
        return super().advance()

    def _gather(self) -> None:
        clock = self.world.clock
        while len(self._ready) < sum(not (seat.retired or seat.away) for seat in self._seats.values()):
            instant = clock.peek()
            if instant > self._end_s:
                break
            while clock.peek() == instant:
                clock.step()
