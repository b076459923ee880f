"""The ends of the scale: as much forgetting at random, and forgetting by somebody who knows."""

from __future__ import annotations

from masim.memory.forget.base import Snapshot, Verdict
from masim.memory.forget.rules.recommended import recommended
from masim.memory.query import score
from masim.rng import digest64


def random(snapshot: Snapshot) -> list[Verdict]:
    """Forget as many edges as ``recommended`` would, drawn by ``seed`` from all that are not pinned.

    What it leaves is judged anew at the next sweep, so unlike every other rule it goes on when it is asked again.
    """
    config, now_s = snapshot.config, snapshot.now_s
    count = len(recommended(snapshot))
    if not count:
        return []
    loose = sorted(edge for edge in snapshot.edges if not edge.pin)
    drawn = sorted(loose, key=lambda edge: (digest64("forget", config.seed, now_s, *edge.key), edge.key))
    return [Verdict(edge, "random", score(edge, now_s, config)) for edge in drawn[:count]]


def oracle(snapshot: Snapshot) -> list[Verdict]:
    """Forget exactly what does not hold any more; without a truth (no agent has one) nothing."""
    truth, now_s = snapshot.truth, snapshot.now_s
    if truth is None:
        return []
    wrong = (edge for edge in snapshot.edges if not edge.pin and not truth(edge, now_s))
    return [Verdict(edge, "untrue", score(edge, now_s, snapshot.config)) for edge in wrong]
