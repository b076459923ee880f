"""Reading the graph: success share, score, and the edges that matter most here and now."""

from __future__ import annotations

from collections.abc import Collection

from masim.memory.config import MemoryConfig
from masim.memory.graph import Edge, ProfileGraph
from masim.memory.relevance import RELEVANCES
from masim.memory.update import BOOKS, RELIES_ON, effective_weight, half_life_s


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

    Rank is score times relevance by the configured rule (:mod:`masim.memory.relevance`) to the node ids ``entities``;
    without entities every edge has relevance 1.
    """
    live = [edge for edge in graph if edge.alive(now_s)]
    here = frozenset(entities)
    relevance = RELEVANCES[config.relevance](graph, live, here, now_s, config) if here else None
    ranked = []
    for edge in live:
        rank = score(edge, now_s, config) * (1.0 if relevance is None else relevance(edge))
        ranked.append((-rank, -effective_weight(edge, now_s, config), edge.key, edge))
    ranked.sort()
    return [(-row[0], row[3]) for row in ranked[:k]]


def recalled(
    graph: ProfileGraph, k: int, now_s: float, config: MemoryConfig, entities: Collection[str] = ()
) -> list[str]:
    """Return the vendors of the ``k`` best edges that are an agent's or a shipper's own success with a vendor."""
    best = top_k(graph, k, now_s, config, entities)
    return [edge.dst for _, edge in best if edge.rel in (BOOKS, RELIES_ON) and edge.successes > 0.0]
