"""Reading the graph: success share, score, and the edges that matter most here and now."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from masim.memory.config import MemoryConfig
from masim.memory.graph import Edge, ProfileGraph, kind_of
from masim.memory.update import effective_weight, half_life_s

NEAR = 0.5
FAR = 0.25


def success(edge: Edge) -> float:
    """Return ``q = (s + 1) / (n + 2)``; 1/2 for incidents and refusals, which have no trials."""
    return 0.5 if edge.ttl_s > 0.0 else (edge.successes + 1.0) / (edge.n + 2.0)


def score(edge: Edge, now_s: float, config: MemoryConfig) -> float:
    """Return ``min(1, w) * 2^(-dt / H_eff) * 2q``, the worth of keeping an edge, in [0, 2)."""
    idle_s = max(0.0, now_s - edge.last_s)
    return float(min(1.0, edge.w) * 2.0 ** (-idle_s / half_life_s(edge, config)) * 2.0 * success(edge))


def top_k(
    graph: ProfileGraph, k: int, now_s: float, config: MemoryConfig, entities: Collection[str] = ()
) -> list[tuple[float, Edge]]:
    """Return the ``k`` best live edges as ``(rank, edge)``, best first; ties by weight, then by key.

    Rank is score times relevance: 1 for an edge at one of the node ids ``entities``, 1/2 for an edge at one of their
    neighbours, 1/4 elsewhere; without entities every edge has relevance 1.
    """
    here = frozenset(entities)
    near = _neighbours(graph, here)
    ranked = []
    for edge in graph:
        if edge.alive(now_s):
            rank = score(edge, now_s, config) * _relevance(edge, here, near)
            ranked.append((-rank, -effective_weight(edge, now_s, config), edge.key, edge))
    ranked.sort()
    return [(-row[0], row[3]) for row in ranked[:k]]


def _relevance(edge: Edge, here: frozenset[str], near: frozenset[str]) -> float:
    if not here or edge.src in here or edge.dst in here:
        return 1.0
    return NEAR if edge.src in near or edge.dst in near else FAR


def _neighbours(graph: ProfileGraph, here: Iterable[str]) -> frozenset[str]:
    """Nodes one edge away; agents and tools are left out, since everything is one edge away from them."""
    found: set[str] = set()
    for entity in here:
        found.update(edge.dst for edge in graph.out(entity))
        found.update(edge.src for edge in graph.into(entity))
    return frozenset(n for n in found if kind_of(n) not in ("agent", "tool"))
