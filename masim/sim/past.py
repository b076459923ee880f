"""What something used to be: statuses with their times, for reads from an old snapshot."""

from __future__ import annotations

from dataclasses import dataclass

from masim.sim.spec import Status

Past = tuple[tuple[float, Status], ...]
"""Moments, and the status that ended then; oldest first."""


@dataclass(slots=True, kw_only=True)
class Dated:
    """Something made at a moment, whose status changes by :meth:`become`."""

    made_s: float
    status: Status
    past: Past = ()

    @property
    def confirmed(self) -> bool:
        """Whether it is confirmed now."""
        return self.status is Status.CONFIRMED

    def become(self, status: Status, now_s: float) -> None:
        """Take a new status."""
        self.past = (*self.past, (now_s, self.status))
        self.status = status

    def status_at(self, t_s: float) -> Status:
        """Return the status at a moment since it was made."""
        return next((before for when_s, before in self.past if when_s > t_s), self.status)
