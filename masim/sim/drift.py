"""Drifting carriers: hidden reliability that changes during a campaign, at once or little by little.

Everything is a pure function of the campaign seed and the day, so any day can be played by itself, and a campaign
that drifts is the same as its stationary twin until the first change.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from masim.rng import Noise

SWAP = "swap"
"""The carrier that is on time most often changes places with another one."""
DEAL = "deal"
"""All probabilities are dealt out anew; some may stay where they are."""
CHANGES = (SWAP, DEAL)


@dataclass(frozen=True, slots=True)
class DriftSpec:
    """When and how the carriers' reliability changes."""

    every_days: int
    """Days from one change to the next; the first is at the start of this day."""
    over_days: int = 0
    """Days between the old and the new value, in equal steps; 0: at once."""
    change: str = SWAP

    def share_of_new(self, day: int) -> float:
        """Return how much of the latest change holds on a day, in (0, 1]."""
        return min(1.0, (day % self.every_days + 1) / (self.over_days + 1))


def dealt(ids: tuple[str, ...], on_time_p: tuple[float, ...], noise: Noise) -> dict[str, float]:
    """Deal the probabilities to the carriers, as they are when the campaign begins."""
    order = noise.permutation(len(ids), "reliability")
    return {ids[i]: on_time_p[rank] for rank, i in enumerate(order)}


def drifted(
    ids: tuple[str, ...], on_time_p: tuple[float, ...], drift: DriftSpec, campaign_seed: int, day: int
) -> dict[str, float]:
    """Return each carrier's probability of being on time on a day of a campaign."""
    n = day // drift.every_days
    after = _after(ids, on_time_p, drift.change, campaign_seed, n)
    if n == 0 or drift.share_of_new(day) == 1.0:
        return dict(after)
    before = _after(ids, on_time_p, drift.change, campaign_seed, n - 1)
    share = drift.share_of_new(day)
    return {name: before[name] + share * (after[name] - before[name]) for name in ids}


@lru_cache(maxsize=256)
def _after(
    ids: tuple[str, ...], on_time_p: tuple[float, ...], change: str, campaign_seed: int, changes: int
) -> dict[str, float]:
    """Return the probabilities after so many changes."""
    noise = Noise(campaign_seed, "campaign")
    now = dealt(ids, on_time_p, noise)
    for n in range(1, changes + 1):
        if change == DEAL:
            order = noise.permutation(len(ids), "reliability", n)
            now = {ids[i]: on_time_p[rank] for rank, i in enumerate(order)}
        else:
            _swap(ids, now, noise.uniform("drift", n))
    return now


def _swap(ids: tuple[str, ...], now: dict[str, float], u: float) -> None:
    best = max(ids, key=lambda name: now[name])
    others = [name for name in ids if now[name] < now[best]]
    if others:
        other = others[int(u * len(others))]
        now[best], now[other] = now[other], now[best]
