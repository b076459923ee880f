"""The circuit breaker: after enough failures in a window nothing is sent for a while, then a few probes decide.

Closed: calls pass, failures are counted; ``failures`` of them within ``window_s`` open it. Open: nothing passes for
``open_s``. Half-open: ``probes`` calls pass; one failure opens it again, ``probes`` successes close it (M. Nygard,
"Release It!", 2007). Times are simulated seconds.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from enum import StrEnum

from masim.errors import ConfigError
from masim.units import MINUTE

SCOPES = ("endpoint", "vendor")


@dataclass(frozen=True, slots=True)
class BreakerSettings:
    """When a breaker opens and closes. Raises ConfigError on impossible values."""

    failures: int = 5
    """Failures (no answer, or 5xx) within the window that open it."""
    window_s: float = MINUTE
    open_s: float = 30.0
    """How long nothing is sent once it is open."""
    probes: int = 1
    """Successes in a row that close it again."""
    per: str = "endpoint"
    """One breaker per ``endpoint`` (vendor and verb), or per ``vendor``."""

    def __post_init__(self) -> None:
        for name in ("failures", "probes"):
            self._require(1 <= getattr(self, name) <= 10_000, name, "an integer from 1 to 10000")
        for name in ("window_s", "open_s"):
            self._require(0.0 < getattr(self, name) < math.inf, name, "a number above 0")
        self._require(self.per in SCOPES, "per", ", ".join(SCOPES))

    def _require(self, good: bool, name: str, allowed: str) -> None:
        if not good:
            value = repr(getattr(self, name))
            raise ConfigError("impossible breaker setting", f"client.breaker.{name}", value, allowed)


class State(StrEnum):
    """The states of a breaker."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


class Breaker:
    """One circuit. Ask :meth:`allows` before a call, say :meth:`sent` when it leaves and :meth:`ended` how it ended."""

    __slots__ = ("_failures", "_in_flight", "_open_until_s", "_settings", "_successes", "state")

    def __init__(self, settings: BreakerSettings) -> None:
        self._settings = settings
        self._failures: deque[float] = deque()
        self._open_until_s = 0.0
        self._in_flight = 0
        self._successes = 0
        self.state = State.CLOSED

    def allows(self, t_s: float) -> bool:
        """Return whether a call may leave at a time, as things stand now; changes nothing."""
        if self.state is State.CLOSED:
            return True
        if self.state is State.OPEN:
            return t_s >= self._open_until_s
        return self._in_flight + self._successes < self._settings.probes

    def wait_s(self, t_s: float) -> float:
        """Return the seconds until an open breaker lets a probe through."""
        return max(0.0, self._open_until_s - t_s) if self.state is State.OPEN else 0.0

    def sent(self) -> None:
        """Note that an allowed call leaves; the first one after the pause makes an open breaker half-open."""
        if self.state is State.OPEN:
            self.state = State.HALF_OPEN
            self._in_flight = self._successes = 0
        if self.state is State.HALF_OPEN:
            self._in_flight += 1

    def ended(self, t_s: float, failed: bool) -> None:
        """Note how a call ended. What was sent before the breaker opened changes nothing while it is open."""
        if self.state is State.CLOSED:
            if failed:
                self._count(t_s)
        elif self.state is State.HALF_OPEN:
            self._in_flight -= 1
            self._successes += not failed
            if failed:
                self._open(t_s)
            elif self._successes >= self._settings.probes:
                self.state = State.CLOSED

    def _count(self, t_s: float) -> None:
        self._failures.append(t_s)
        while self._failures[0] <= t_s - self._settings.window_s:
            self._failures.popleft()
        if len(self._failures) >= self._settings.failures:
            self._open(t_s)

    def _open(self, t_s: float) -> None:
        self.state = State.OPEN
        self._open_until_s = t_s + self._settings.open_s
        self._failures.clear()
