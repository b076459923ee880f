"""Holds: places that are kept for a stop until they are used, given back or lapse. Each ends exactly once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from masim.sim.clock import Clock

Key = tuple[str, int, str]
"""Order, leg and stop."""


@dataclass(slots=True)
class Hold:
    """A slot kept for one stop of one leg until it expires or is used."""

    key: Key
    slot: int
    expires_s: float
    live: bool = True
    """False once it was used or released, and while it is kept without an end for a request under decision."""


class Holds(dict[Key, Hold]):
    """The holds of one dock, one per stop at most. ``take(slot, delta, order)`` counts their places."""

    __slots__ = ("_clock", "_take")

    def __init__(self, clock: Clock, take: Callable[[int, int, str], None]) -> None:
        super().__init__()
        self._clock = clock
        self._take = take

    def keep(self, key: Key, slot: int, ttl_s: float) -> Hold:
        """Keep a slot for a stop for a while; what it held before is given back."""
        self.release(key)
        hold = self[key] = Hold(key, slot, self._clock.now + ttl_s)
        self._take(slot, 1, key[0])
        self._clock.at(hold.expires_s, self._expire, hold)
        return hold

    def keep_until_decision(self, hold: Hold) -> None:
        """A held slot under decision does not lapse: the hold is renewed without an end."""
        hold.live = False
        self[hold.key] = Hold(hold.key, hold.slot, float("inf"), live=False)

    def release(self, key: Key) -> bool:
        """End a stop's hold now; return whether there was one."""
        hold = self.pop(key, None)
        if hold is None:
            return False
        hold.live = False
        self._take(hold.slot, -1, key[0])
        return True

    def _expire(self, hold: Hold) -> None:
        if hold.live:
            self.release(hold.key)
