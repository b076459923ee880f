"""The ends of the scale: as much forgetting at random, and forgetting by somebody who knows."""

from __future__ import annotations

from masim.memory.forget.base import Snapshot, Verdict
from masim.memory.forget.rules.recommended import recommended
from masim.rng import digest64


def random(snapshot: Snapshot) -> list[Verdict]:
    """Forget as many edges as ``recommended`` would, drawn by ``seed`` from all that are not pinned.

    What it leaves is judged anew at the next sweep, so unlike every other rule it goes on when it is asked again.
    """
    count = len(recommended(snapshot))
    if not count:
        return []
    seed, now_s = snapshot.config.seed, snapshot.now_s
    loose = sorted(edge for edge in snapshot.edges if not edge.pin)
    drawn = sorted(loose, key=lambda edge: (digest64("forget", seed, now_s, *edge.key), edge.key))
    return [snapshot.verdict(edge, "random") for edge in drawn[:count]]


def oracle(snapshot: Snapshot) -> list[Verdict]:
    """Forget exactly what does not hold any more; without a truth (no agent has one) nothing."""
    truth, now_s = snapshot.truth, snapshot.now_s
    if truth is None:
        return []
    wrong = (edge for edge in snapshot.edges if not edge.pin and not truth(edge, now_s))
    return [snapshot.verdict(edge, "untrue") for edge in wrong]
