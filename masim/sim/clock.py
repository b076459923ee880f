"""Simulated time: plain callbacks on SimPy's event queue.

A generator process per API call costs four to six times a callback, so the hot path schedules functions. Events at
the same instant run in the order in which they were scheduled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import simpy


class _Callback(simpy.Event):
    """An already triggered event that runs one function when its time comes.

    It sets SimPy's own fields instead of calling its constructor, and all of them share one tuple of callbacks: no
    list, no bound method and no reference cycle per event.
    """

    __slots__ = ("_args", "_function")

    def __init__(self, env: simpy.Environment, function: Callable[..., None], args: tuple[Any, ...]) -> None:
        self.env = env
        self.callbacks = _RUN  # type: ignore[assignment]
        self._ok = True
        self._value = None
        self._function = function
        self._args = args


def _run(event: _Callback) -> None:
    event._function(*event._args)


_RUN = (_run,)


class Clock:
    """One world's clock, in simulated seconds since the start of its campaign."""

    __slots__ = ("_env", "events")

    def __init__(self, start_s: float) -> None:
        self._env = simpy.Environment(initial_time=start_s)
        self.events = 0

    @property
    def now(self) -> float:
        """Return the present simulated time."""
        return float(self._env.now)

    def at(self, t_s: float, function: Callable[..., None], *args: Any) -> None:
        """Run ``function(*args)`` at ``t_s``; a time in the past means now."""
        env = self._env
        env.schedule(_Callback(env, function, args), delay=max(0.0, t_s - env.now))

    def peek(self) -> float:
        """Return the time of the next event, ``inf`` when there is none."""
        return float(self._env.peek())

    def step(self) -> None:
        """Process the next event."""
        self.events += 1
        self._env.step()
