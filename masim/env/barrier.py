"""A session that asks everybody together: ``sync="all"``."""

from __future__ import annotations

from typing import ClassVar

from masim.env.core import Session
from masim.env.decision import Decision, Reason, Seat


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
        self._count()
        while len(self._ready) < self._playing:
            instant = clock.peek()
            if instant > self._end_s:
                break
            while clock.peek() == instant:
                clock.step()

    def _count(self) -> None:
        """Count the agents that still have turns; only those that come and go change it."""
        self._playing = sum(not (seat.retired or seat.away) for seat in self._seats.values())

    def _make_ready(self, seat: Seat, reason: Reason) -> None:
        super()._make_ready(seat, reason)
        if seat.retired or reason is Reason.START:
            self._count()

    def _let_go(self, seat: Seat) -> None:
        super()._let_go(seat)
        self._count()
