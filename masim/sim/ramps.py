"""Ramps of a dock without appointments: trucks are served by arrival, first come, first served."""

from __future__ import annotations

from heapq import heapify, heapreplace


class Ramps:
    """When each ramp is free next, in seconds on the scenario's clock."""

    __slots__ = ("_close_s", "_free_s", "_served_s")

    def __init__(self, count: int, open_s: float, close_s: float, served_s: float) -> None:
        self._free_s = [open_s] * count
        self._close_s = close_s
        self._served_s = served_s

    def queue(self, now_s: float) -> float:
        """Let a truck that is here now queue for a ramp; return when it is served, -1 when that is after closing."""
        start = max(now_s, self._free_s[0])
        if start + self._served_s > self._close_s:
            return -1.0
        heapreplace(self._free_s, start + self._served_s)
        return start

    def keep(self, count: int) -> None:
        """Close all ramps but those that are free first; who is being served already is served to the end."""
        self._free_s = sorted(self._free_s)[:count]
        heapify(self._free_s)
