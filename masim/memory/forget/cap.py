"""The node cap: when a graph has more nodes than it may, the weakest leave it, down to a floor (hysteresis)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from masim.memory.config import MemoryConfig
from masim.memory.forget.base import Verdict, in_success_window
from masim.memory.graph import Edge, kind_of
from masim.memory.query import score


def nodes_of(edges: Sequence[Edge]) -> set[str]:
    """Return every node that an edge touches."""
    return {edge.src for edge in edges} | {edge.dst for edge in edges}


def evictions(edges: Sequence[Edge], now_s: float, config: MemoryConfig, open_nodes: Collection[str]) -> list[Verdict]:
    """Return the edges of the weakest nodes when there are more than ``node_cap``, down to ``node_floor``.

    A node is worth its best edge. Agents, open tasks, and the ends of pinned or protected edges stay; when nothing
    else is left the graph stays above its cap rather than lose them.
    """
    if 2 * len(edges) <= config.node_cap or len(nodes_of(edges)) <= config.node_cap:
        return []
    edges = sorted(edges)
    worth = _worth(edges, now_s, config)
    kept = set(open_nodes) | {n for n in worth if kind_of(n) == "agent"}
    for edge in edges:
        under_way = edge.src in open_nodes or edge.dst in open_nodes
        if under_way or edge.pin or in_success_window(edge, now_s, config):
            kept.update((edge.src, edge.dst))
    order = sorted((worth[n], n) for n in worth if n not in kept)
    return _evict(edges, order, len(worth), now_s, config)


def _worth(edges: Sequence[Edge], now_s: float, config: MemoryConfig) -> dict[str, float]:
    worth: dict[str, float] = {}
    for edge in edges:
        value = score(edge, now_s, config)
        for end in (edge.src, edge.dst):
            worth[end] = max(value, worth.get(end, 0.0))
    return worth


def _evict(
    edges: Sequence[Edge], order: list[tuple[float, str]], nodes: int, now_s: float, config: MemoryConfig
) -> list[Verdict]:
    """Remove nodes in order, each with its edges; a neighbour left without edges goes with it and counts."""
    touching: dict[str, list[Edge]] = {}
    for edge in edges:
        touching.setdefault(edge.src, []).append(edge)
        touching.setdefault(edge.dst, []).append(edge)
    degree = {n: len(found) for n, found in touching.items()}
    gone: dict[tuple[str, str, str], Verdict] = {}
    for _, victim in order:
        if nodes <= config.node_floor:
            break
        for edge in touching[victim]:
            if edge.key not in gone:
                gone[edge.key] = Verdict(edge, "cap", score(edge, now_s, config))
                for end in {edge.src, edge.dst}:
                    degree[end] -= 1
                    nodes -= degree[end] == 0
    return list(gone.values())
