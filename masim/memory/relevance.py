"""How much an edge has to do with what is in play: a number in [0, 1] for every edge, by a rule with a name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from masim.errors import ConfigError, did_you_mean
from masim.memory.config import MemoryConfig
from masim.memory.graph import Edge, ProfileGraph, kind_of
from masim.memory.update import effective_weight

NEAR = 0.5
FAR = 0.25
DAMPING = 0.85
"""Of the random walk; with the rest it starts anew at an entity in play."""

Relevance = Callable[[Edge], float]
Rule = Callable[[ProfileGraph, Sequence[Edge], Collection[str], float, MemoryConfig], Relevance]
"""``rule(graph, live edges, node ids in play, now_s, config)``."""


def near(
    graph: ProfileGraph, edges: Sequence[Edge], here: Collection[str], now_s: float, config: MemoryConfig
) -> Relevance:
    """1 for an edge at one of the nodes in play, 1/2 for one at their neighbours, 1/4 elsewhere.

    Agents and tools are no neighbours: everything is one edge away from them.
    """
    found: set[str] = set()
    for entity in here:
        found.update(edge.dst for edge in graph.out(entity))
        found.update(edge.src for edge in graph.into(entity))
    around = frozenset(n for n in found if kind_of(n) not in ("agent", "tool"))

    def relevance(edge: Edge) -> float:
        if edge.src in here or edge.dst in here:
            return 1.0
        return NEAR if edge.src in around or edge.dst in around else FAR

    return relevance


def pagerank(
    graph: ProfileGraph, edges: Sequence[Edge], here: Collection[str], now_s: float, config: MemoryConfig
) -> Relevance:
    """The share of a random walk's visits to the two ends of an edge, over the largest such share.

    Personalised PageRank (Haveliwala 2002): the walk follows the live edges in both directions, by their decayed
    weights, and starts anew at the nodes in play. Where none of these is in the graph every edge is as relevant.
    """
    visits = visit_shares(edges, here, now_s, config)
    most = max((visits[edge.src] + visits[edge.dst] for edge in edges), default=0.0) if visits else 0.0
    if most <= 0.0:
        return lambda edge: 1.0
    return lambda edge: (visits[edge.src] + visits[edge.dst]) / most


def visit_shares(edges: Sequence[Edge], here: Collection[str], now_s: float, config: MemoryConfig) -> dict[str, float]:
    """Return each node's share of the visits; empty when no node in play is in the graph."""
    import networkx as nx

    walk: nx.Graph[str] = nx.Graph()
    for edge in sorted(edges):  # the sums of parallel edges, and the result, in one order
        weight = effective_weight(edge, now_s, config)
        if walk.has_edge(edge.src, edge.dst):
            walk[edge.src][edge.dst]["weight"] += weight
        else:
            walk.add_edge(edge.src, edge.dst, weight=weight)
    starts = {entity: 1.0 for entity in sorted(here) if entity in walk}
    if not starts:
        return {}
    found: dict[str, float] = nx.pagerank(walk, alpha=DAMPING, personalization=starts, tol=1e-9, max_iter=500)
    return found


RELEVANCES: dict[str, Rule] = {"near": near, "pagerank": pagerank}


def check_relevance(name: str) -> None:
    """Raise ConfigError for a rule that does not exist, with the nearest name."""
    if name not in RELEVANCES:
        hint = did_you_mean(name, RELEVANCES)
        raise ConfigError("unknown rule of relevance", "memory.relevance", repr(name), ", ".join(RELEVANCES), hint)
