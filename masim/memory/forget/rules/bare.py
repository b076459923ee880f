"""Rules without grace and without credit, as they are used elsewhere: the arms that the default is held against.

Only pins are spared. All but ``share`` look at edges one by one, and what they leave they leave again at once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from masim.memory.forget.base import Snapshot, Verdict
from masim.memory.graph import Edge


def none(snapshot: Snapshot) -> list[Verdict]:
    """Forget nothing; the node cap still holds."""
    return []


def ttl(snapshot: Snapshot) -> list[Verdict]:
    """Forget what was not used for ``idle_s``."""
    columns = snapshot.columns
    return snapshot.verdicts(~columns.pin & (snapshot.now_s - columns.last_s > snapshot.config.idle_s), "idle")


def exponential(snapshot: Snapshot) -> list[Verdict]:
    """Forget what has decayed below ``theta`` at one half-life for all, whatever came of it."""
    columns, config = snapshot.columns, snapshot.config
    left = np.minimum(1.0, columns.w) * np.exp2(-columns.idle_s(snapshot.now_s) / config.half_life_s)
    return snapshot.verdicts(~columns.pin & (left < config.theta), "faded")


def threshold(snapshot: Snapshot) -> list[Verdict]:
    """Forget what has less than ``share`` of the decayed weight that leaves its source."""
    columns = snapshot.columns
    w = columns.weight(snapshot.now_s)
    small = w < snapshot.config.share * columns.total_at(columns.src, w)
    return snapshot.verdicts(~columns.pin & small, "share")


def lru(snapshot: Snapshot) -> list[Verdict]:
    """Keep the ``edge_cap`` most recently used edges."""
    return _above_cap(snapshot, "least recent", lambda edge: (edge.last_s, edge.episodes))


def lfu(snapshot: Snapshot) -> list[Verdict]:
    """Keep the ``edge_cap`` edges that were used in most episodes, the more recent of equals."""
    return _above_cap(snapshot, "least frequent", lambda edge: (edge.episodes, edge.last_s))


def _above_cap(snapshot: Snapshot, rule: str, rank: Callable[[Edge], tuple[float, float]]) -> list[Verdict]:
    pinned = int(snapshot.columns.pin.sum())
    loose = len(snapshot.edges) - pinned
    over = loose - max(0, snapshot.config.edge_cap - pinned)
    if over <= 0:
        return []
    order = sorted((edge for edge in snapshot.edges if not edge.pin), key=lambda edge: (*rank(edge), edge.key))
    return [snapshot.verdict(edge, rule) for edge in order[:over]]
