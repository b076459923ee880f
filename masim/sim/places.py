"""Places of a day's slots: how many are taken now, and how many were at any moment before."""

from __future__ import annotations

from masim.sim.clock import Clock


class Places:
    """Counts the places taken per slot; who takes a place has looked whether there is one."""

    __slots__ = ("_clock", "log", "used")

    def __init__(self, n_slots: int, clock: Clock) -> None:
        self._clock = clock
        self.used = [0] * n_slots
        self.log: list[tuple[float, int, int]] = []
        """Every change: when, which slot, one more or one less."""

    def take(self, slot: int, delta: int) -> None:
        """Take a place of a slot (1), or give one back (-1)."""
        self.used[slot] += delta
        self.log.append((self._clock.now, slot, delta))

    def changed_since(self, t_s: float) -> bool:
        """Return whether any place was taken or given back after a moment."""
        return bool(self.log) and self.log[-1][0] > t_s

    def used_at(self, t_s: float) -> list[int]:
        """Return the places taken per slot as they were at ``t_s``, for reads from an old snapshot."""
        used = list(self.used)
        for when, slot, delta in reversed(self.log):
            if when <= t_s:
                break
            used[slot] -= delta
        return used
