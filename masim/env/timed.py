"""Features that move with the clock, all at once: ``clip(sign * (at_s - now_s) / unit_s, low, high) * on``.

A dozen columns change with every second, the others only when the agent is told something. What they count from changes
with what is told, too; so an agent keeps one vector of times and one of switches, and every decision takes a handful of
operations on them, however many columns and rows there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from masim.arrays import F32, F64, I64, Bool

INF = float("inf")


@dataclass(frozen=True, slots=True)
class Segment:
    """One kind of time: ``size`` entries in a row, and the columns of the candidate rows that show them."""

    name: str
    size: int
    unit_s: float
    sign: float = 1.0
    """1 counts down to the time, -1 up from it."""
    low: float = -INF
    high: float = INF
    stride: int = 1
    """Distance between the places of two entries."""
    value: int = -1
    """Place of the first entry's value in the flat blocks; -1 where nothing shows it."""
    flag: int = -1
    """Place of the first entry's flag, which is 1 while the value is above 0. Segments with flags come last."""


class TimedPlan:
    """Where the segments lie in the vectors, and where their values go in the blocks; the same for all agents."""

    def __init__(self, segments: tuple[Segment, ...]) -> None:
        starts = np.concatenate(([0], np.cumsum([segment.size for segment in segments])))
        self.at = {s.name: slice(int(a), int(a) + s.size) for s, a in zip(segments, starts, strict=False)}
        self.first = {s.name: (int(a), s.sign) for s, a in zip(segments, starts, strict=False)}
        self.n = int(starts[-1])
        self.flags_from = min(self.at[s.name].start for s in segments if s.flag >= 0)
        sizes = [segment.size for segment in segments]
        self.sign: F64 = np.repeat([segment.sign for segment in segments], sizes)
        self.unit_s: F64 = np.repeat([segment.unit_s for segment in segments], sizes)
        self.low: F64 = np.repeat([segment.low for segment in segments], sizes)
        self.high: F64 = np.repeat([segment.high for segment in segments], sizes)
        places: list[I64] = []
        sources: list[I64] = []
        for segment in segments:
            entries, first = np.arange(segment.size), self.at[segment.name].start
            for place, source in ((segment.value, first), (segment.flag, self.n + first - self.flags_from)):
                if place >= 0:
                    places.append(place + segment.stride * entries)
                    sources.append(source + entries)
        self.places = np.concatenate(places)
        """Positions in the flat blocks."""
        self.sources = np.concatenate(sources)
        """Positions in the values, the flags behind them."""


class Timed:
    """One agent's times: set by segment with :meth:`put` and :meth:`fill`, written into its blocks by :meth:`move`."""

    __slots__ = ("_at_s", "_now", "_on", "_plan", "_shown", "_values")

    def __init__(self, plan: TimedPlan) -> None:
        self._plan = plan
        self._at_s: F64 = np.zeros(plan.n)
        """Times by their sign."""
        self._on: F64 = np.zeros(plan.n)
        self._now: F64 = np.zeros(plan.n)
        self._values: F64 = np.zeros(plan.n)
        self._shown: F32 = np.zeros(2 * plan.n - plan.flags_from, dtype=np.float32)
        """The values and, behind them, the flags of the last segments."""

    def put(self, segment: str, nth: int, at_s: float, on: bool = True) -> None:
        """Set one entry of a segment: the time it counts to or from, and whether it counts."""
        first, sign = self._plan.first[segment]
        self._at_s[first + nth] = at_s * sign
        self._on[first + nth] = on

    def some(self, segment: str, where: I64 | slice, at_s: F64, on: F32) -> None:
        """Set some entries of a segment."""
        first, sign = self._plan.first[segment]
        at = where + first if isinstance(where, np.ndarray) else slice(where.start + first, where.stop + first)
        self._at_s[at] = at_s * sign
        self._on[at] = on

    def fill(self, segment: str, at_s: F64, on: F32 | F64 | Bool) -> None:
        """Set all entries of a segment."""
        where = self._plan.at[segment]
        np.multiply(at_s, self._plan.first[segment][1], out=self._at_s[where])
        self._on[where] = on

    def move(self, now_s: float, blocks: F32) -> None:
        """Write what the clock makes of every entry into the flat blocks."""
        plan, values, now = self._plan, self._values, self._now
        np.multiply(plan.sign, now_s, out=now)
        np.subtract(self._at_s, now, out=values)
        np.divide(values, plan.unit_s, out=values)
        np.maximum(values, plan.low, out=values)
        np.minimum(values, plan.high, out=values)
        np.multiply(values, self._on, out=values)
        # Numbers of the blocks' own type are scattered three times as fast as numbers that are cast on the way.
        shown = self._shown
        shown[: plan.n] = values
        shown[plan.n :] = values[plan.flags_from :] > 0.0
        blocks[plan.places] = shown[plan.sources]
