"""What is remembered around the vendors to choose among, as a small dense graph for a graph network.

Axes: P nodes, the vendors first and in the order given, then ``OTHERS`` places for the agent, those in play, and what
is tied to them most; K numbers per node (:data:`NODE_COLUMNS`). Places that stay empty are zero everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p

import numpy as np

from masim.arrays import F32
from masim.memory.config import MemoryConfig
from masim.memory.graph import Edge, ProfileGraph, kind_of
from masim.memory.query import success
from masim.memory.update import effective_weight
from masim.units import DAY

OTHERS = 12
KINDS = ("agent", "user", "vendor", "incident")
NODE_COLUMNS = (
    *KINDS,  # 1 for the kind of the node; all 0 for any other kind
    "in_play",  # 1 for the vendors to choose among and the nodes in play
    "weight",  # ln(1 + sum of the decayed weights of its live edges) / 2
    "success",  # mean success share of its live edges, by weight; 1/2 without any
    "freshness",  # 2 ^ -(days since its newest edge was touched)
)
NODE_F = len(NODE_COLUMNS)


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Nodes (P, NODE_F), and ties (P, P): symmetric sums of min(1, weight) x success share, without loops."""

    nodes_PK: F32
    ties_PP: F32

    def flat(self) -> F32:
        """Return everything as one vector of :func:`flat_size` numbers."""
        return np.concatenate((self.nodes_PK.ravel(), self.ties_PP.ravel()))


def flat_size(vendors: int) -> int:
    """Return the length of a flat neighbourhood of so many vendors."""
    places = vendors + OTHERS
    return places * (NODE_F + places)


def neighbourhood(
    graph: ProfileGraph, agent: str, vendors: Sequence[str], in_play: Sequence[str], now_s: float, config: MemoryConfig
) -> Neighbourhood:
    """Return the surroundings of ``vendors`` (node ids) for an agent and others in play (node ids)."""
    chosen = dict.fromkeys((*vendors, agent, *in_play[: OTHERS - 1]))
    edges = {edge.key: edge for name in chosen for edge in (*graph.out(name), *graph.into(name))}
    live = sorted(edge for edge in edges.values() if edge.alive(now_s))
    weights = [effective_weight(edge, now_s, config) for edge in live]
    names = [*chosen, *_tied(live, weights, chosen)][: len(vendors) + OTHERS]
    places = {name: i for i, name in enumerate(names)}
    n = len(vendors) + OTHERS
    nodes, ties = np.zeros((n, NODE_F), np.float32), np.zeros((n, n), np.float32)
    for edge, weight in zip(live, weights, strict=True):
        a, b = places.get(edge.src), places.get(edge.dst)
        if a is not None and b is not None and a != b:
            tie = min(1.0, weight) * success(edge)
            ties[a, b] += tie
            ties[b, a] += tie
    for name, at in places.items():
        own = [(e, w) for e, w in zip(live, weights, strict=True) if name in (e.src, e.dst)]
        nodes[at] = _numbers(name, own, name in chosen, now_s)
    return Neighbourhood(nodes, ties)


def _tied(edges: Sequence[Edge], weights: Sequence[float], chosen: dict[str, None]) -> list[str]:
    """Return the other ends of edges, those with the most weight first."""
    pull: dict[str, float] = {}
    for edge, weight in zip(edges, weights, strict=True):
        for end in (edge.src, edge.dst):
            if end not in chosen:
                pull[end] = pull.get(end, 0.0) + weight
    return sorted(pull, key=lambda end: (-pull[end], end))


def _numbers(name: str, own: Sequence[tuple[Edge, float]], in_play: bool, now_s: float) -> list[float]:
    kind = kind_of(name)
    total = sum(weight for _, weight in own)
    good = sum(weight * success(edge) for edge, weight in own)
    idle_s = min((max(0.0, now_s - edge.last_s) for edge, _ in own), default=np.inf)
    kinds = [float(kind == known) for known in KINDS]
    return [*kinds, float(in_play), log1p(total) / 2.0, good / total if total > 0.0 else 0.5, 2.0 ** (-idle_s / DAY)]
