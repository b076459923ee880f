"""Times and durations in words. Every moment names its zone; a scenario's clock has one, without daylight saving."""

from __future__ import annotations

from dataclasses import dataclass

from masim.sim.spec import WorldSpec
from masim.sim.zones import date_on
from masim.units import DAY, HOUR, MINUTE, clock_text


@dataclass(frozen=True, slots=True)
class Times:
    """The words of a scenario's clock: ``d0 06:12:30 local``, or ``d0 06:12:30 UTC+01:00`` with a calendar."""

    zone: str
    date: str

    @classmethod
    def of(cls, spec: WorldSpec) -> Times:
        """Return the words of a scenario."""
        return cls(_offset(spec.utc_offset_s) if spec.date else "local", spec.date)

    def at(self, t_s: float) -> str:
        """Return a moment."""
        return f"{clock_text(t_s)} {self.zone}"

    def of_day(self, t_s: float) -> str:
        """Return a time of any day, in seconds after its midnight."""
        return f"{int(t_s // HOUR):02d}:{int(t_s % HOUR // MINUTE):02d} {self.zone}"

    def dated(self, t_s: float) -> str:
        """Return a moment with its date, where there is a calendar."""
        return f"{self.at(t_s)} ({date_on(self.date, int(t_s // DAY))})" if self.date else self.at(t_s)


def _offset(offset_s: float) -> str:
    sign = "-" if offset_s < 0 else "+"
    hours, minutes = divmod(round(abs(offset_s) / MINUTE), 60)
    return f"UTC{sign}{hours:02d}:{minutes:02d}"


def span(t_s: float) -> str:
    """Return a duration, rounded to what matters: ``0.6 s``, ``45 s``, ``12 min``, ``3.5 h``."""
    if t_s < 2 * MINUTE:
        return f"{t_s:.1f} s" if t_s < 10 else f"{t_s:.0f} s"
    return f"{t_s / MINUTE:.0f} min" if t_s < 2 * HOUR else f"{t_s / HOUR:.1f} h"
