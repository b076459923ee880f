"""Rules without grace and without credit, as they are used elsewhere: the arms that the default is held against.

Only pins are spared. All but ``share`` look at edges one by one, and what they leave they leave again at once.
"""

from __future__ import annotations

from collections.abc import Callable

from masim.memory.forget.base import Snapshot, Verdict
from masim.memory.graph import Edge
from masim.memory.query import score
from masim.memory.update import effective_weight


def none(snapshot: Snapshot) -> list[Verdict]:
    """Forget nothing; the node cap still holds."""
    return []


def ttl(snapshot: Snapshot) -> list[Verdict]:
    """Forget what was not used for ``idle_s``."""
    config, now_s = snapshot.config, snapshot.now_s
    return _verdicts(snapshot, "idle", lambda edge: now_s - edge.last_s > config.idle_s)


def exponential(snapshot: Snapshot) -> list[Verdict]:
    """Forget what has decayed below ``theta`` at one half-life for all, whatever came of it."""
    config, now_s = snapshot.config, snapshot.now_s

    def faded(edge: Edge) -> bool:
        idle_s = max(0.0, now_s - edge.last_s)
        return bool(min(1.0, edge.w) * 2.0 ** (-idle_s / config.half_life_s) < config.theta)

    return _verdicts(snapshot, "faded", faded)


def threshold(snapshot: Snapshot) -> list[Verdict]:
    """Forget what has less than ``share`` of the decayed weight that leaves its source."""
    config, now_s = snapshot.config, snapshot.now_s
    weights = [effective_weight(edge, now_s, config) for edge in snapshot.edges]
    total: dict[str, float] = {}
    for edge, w in zip(snapshot.edges, weights, strict=True):
        total[edge.src] = total.get(edge.src, 0.0) + w
    small = {e.key for e, w in zip(snapshot.edges, weights, strict=True) if w < config.share * total[e.src]}
    return _verdicts(snapshot, "share", lambda edge: edge.key in small)


def lru(snapshot: Snapshot) -> list[Verdict]:
    """Keep the ``edge_cap`` most recently used edges."""
    return _above_cap(snapshot, "least recent", lambda edge: (edge.last_s, edge.episodes))


def lfu(snapshot: Snapshot) -> list[Verdict]:
    """Keep the ``edge_cap`` edges that were used in most episodes, the more recent of equals."""
    return _above_cap(snapshot, "least frequent", lambda edge: (edge.episodes, edge.last_s))


def _above_cap(snapshot: Snapshot, rule: str, rank: Callable[[Edge], tuple[float, float]]) -> list[Verdict]:
    pinned = sum(edge.pin for edge in snapshot.edges)
    loose = sorted((edge for edge in snapshot.edges if not edge.pin), key=lambda edge: (*rank(edge), edge.key))
    over = max(0, len(loose) - max(0, snapshot.config.edge_cap - pinned))
    doomed = {edge.key for edge in loose[:over]}
    return _verdicts(snapshot, rule, lambda edge: edge.key in doomed)


def _verdicts(snapshot: Snapshot, rule: str, doomed: Callable[[Edge], bool]) -> list[Verdict]:
    found = (edge for edge in snapshot.edges if not edge.pin and doomed(edge))
    return [Verdict(edge, rule, score(edge, snapshot.now_s, snapshot.config)) for edge in found]
