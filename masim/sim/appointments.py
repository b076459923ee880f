"""Appointments of a dock by stop: what was made, what is open, and what is told of them.

The statuses are those of the Scheduling Standards Consortium.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from masim.sim.past import Dated
from masim.sim.spec import Status
from masim.sim.wire import Body, Call, Result, Slot

OPEN_STATES = (Status.PENDING, Status.CONFIRMED, Status.UNCONFIRMED)


@dataclass(slots=True)
class Appointment(Dated):
    """One appointment: born PENDING or CONFIRMED, ends CONFIRMED, REJECTED or CANCELED."""

    id: int
    dock: str
    order: str
    leg: int
    stop: str
    slot: int
    agent: str

    @property
    def key(self) -> tuple[str, int, str]:
        """The stop that it is for: order, leg and stop."""
        return self.order, self.leg, self.stop


class Book:
    """Every appointment that one dock has ever made, oldest first."""

    __slots__ = ("_by_stop", "made")

    def __init__(self) -> None:
        self.made: list[Appointment] = []
        self._by_stop: dict[tuple[str, int, str], list[Appointment]] = {}

    def enter(self, made: Appointment) -> None:
        """Write a new appointment down."""
        self.made.append(made)
        self._by_stop.setdefault(made.key, []).append(made)

    def of_stop(self, order: str, leg: int, stop: str) -> Sequence[Appointment]:
        """Return every appointment that was ever made for a stop, oldest first."""
        return self._by_stop.get((order, leg, stop), ())

    def find(self, call: Call) -> list[Appointment]:
        """Return the open appointments of a stop, oldest first."""
        return [a for a in self.of_stop(call.order, call.leg, call.stop) if a.status in OPEN_STATES]

    def details(self, call: Call, snapshot_s: float, start_s: Callable[[int], float]) -> Body:
        """Say what is booked for a stop as of a snapshot: the newest open appointment, or how the last one ended."""
        made = [a for a in self.of_stop(call.order, call.leg, call.stop) if a.made_s <= snapshot_s]
        said = [a.status_at(snapshot_s) for a in made]
        for appointment, status in zip(reversed(made), reversed(said), strict=True):
            if status in OPEN_STATES:
                slot = Slot(appointment.slot, start_s(appointment.slot))
                return Body(Result.SUCCESS, 200, status, slot=slot)
        return Body(Result.SUCCESS, 200, said[-1] if said else Status.NOT_SCHEDULED)
