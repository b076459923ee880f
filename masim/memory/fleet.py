"""Memory that a fleet shares: read by every agent, merged at read time, written by none of them.

An agent's own edge hides the shared one with the same key, and what the agent has closed or forgotten since the shared
edge was last touched stays forgotten for it. Touching a shared edge makes an own one; the shared graph never changes.
"""

from __future__ import annotations

from collections.abc import Iterable

from masim.memory.graph import Edge, FrozenGraph, kind_of, node


def merged(own: FrozenGraph, shared: FrozenGraph, agent: str) -> FrozenGraph:
    """Return what ``agent`` reads: its own graph over the shared one, under its own version and archive.

    What the shared graph says of its own agent (``agent|fleet relies_on ...``) is read as said of the reader.
    """
    if not shared.edges:
        return own
    edges = dict(own.edges)
    for edge in shared.edges.values():
        seen = as_seen_by(edge, agent)
        gone = own.archived.get(seen.key)
        if seen.key not in edges and (gone is None or gone.at_s < seen.last_s):
            edges[seen.key] = seen
    return FrozenGraph.of(edges.values(), own.archived.values(), own.version)


def as_seen_by(edge: Edge, agent: str) -> Edge:
    """Return a shared edge with the reader in the place of the agent that the edge is about."""
    src, dst = (node("agent", agent) if kind_of(end) == "agent" else end for end in (edge.src, edge.dst))
    return edge._replace(src=src, dst=dst)


def combined(graphs: Iterable[FrozenGraph], fleet: str = "fleet") -> FrozenGraph:
    """Return one graph for a fleet to share, from what its agents know: of equal keys the newest edge.

    Of equally new ones the heavier counts. The result does not depend on the order of the graphs, and has no archive.
    """
    newest: dict[tuple[str, str, str], Edge] = {}
    for graph in graphs:
        for edge in graph.edges.values():
            seen = as_seen_by(edge, fleet)
            known = newest.get(seen.key)
            if known is None or _rank(seen) > _rank(known):
                newest[seen.key] = seen
    return FrozenGraph.of(newest.values())


def _rank(edge: Edge) -> tuple[float, float, Edge]:
    return (edge.last_s, edge.w, edge)
