"""Simulated time: plain callbacks on SimPy's event queue.

A generator process per API call costs several times a callback, so the hot path schedules functions. Events at
the same instant run in the order in which they were scheduled.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

import simpy
from simpy.events import NORMAL

_CALLBACK = 5
"""Length of a callback's entry in the queue. SimPy's own entries have four parts, and the first three are the same:
time, priority, running number. A callback has its function and arguments where an event would be: no object, no list
of callbacks and no reference cycle for each."""


class Clock:
    """One world's clock, in simulated seconds since the start of its campaign.

    ``now`` is the present time and ``events`` counts what was processed; both are for reading only.
    """

    __slots__ = ("_env", "_numbers", "_queue", "events", "now")

    def __init__(self, start_s: float) -> None:
        self._env = simpy.Environment(initial_time=start_s)
        self._queue: list[Any] = self._env._queue
        self._numbers = self._env._eid
        self.now = float(start_s)
        self.events = 0

    def at(self, t_s: float, function: Callable[..., None], *args: Any) -> None:
        """Run ``function(*args)`` at ``t_s``; a time in the past means now."""
        now = self.now
        delay = t_s - now
        # The sum of two floats is not t_s to the last bit, and recorded traces are byte-equal to SimPy's own sum.
        heappush(self._queue, (now + delay if delay > 0.0 else now, NORMAL, next(self._numbers), function, args))

    def peek(self) -> float:
        """Return the time of the next event, ``inf`` when there is none."""
        queue = self._queue
        return float(queue[0][0]) if queue else float("inf")

    def step(self) -> None:
        """Process the next event."""
        self.events += 1
        if len(self._queue[0]) != _CALLBACK:
            self.now = float(self._queue[0][0])
            self._env.step()
            return
        t_s, _, _, function, args = heappop(self._queue)
        self.now = self._env._now = t_s
        function(*args)

    def drain(self) -> None:
        """Process every event that there is and that comes of them."""
        queue, env = self._queue, self._env
        while queue:
            if len(queue[0]) != _CALLBACK:
                self.step()
                continue
            self.events += 1
            t_s, _, _, function, args = heappop(queue)
            self.now = env._now = t_s
            function(*args)
