"""How edges change: lazy decay, touch, credit, facts that close older facts, replaced vendors.

Nothing here loops over the graph. A weight is stored with the time it was true at; reading decays it:
``w_eff(now) = w * 2^(-(now - last) / H_eff)``, ``H_eff = H * (1 + ln(1 + s))``. Edges with a time to live halve once
over it instead.
"""

from __future__ import annotations

from math import log1p

from masim.memory.config import MemoryConfig
from masim.memory.graph import Edge, EdgeKey, ProfileGraph, kind_of

RELIES_ON = "relies_on"
"""agent -> vendor, the long-run edge: unit credit and deliveries."""
CALLS = "calls"
AT = "at"
BOOKS = "books"
"""user (shipper) -> vendor: how the vendor did for this shipper."""
VIA = "via"
"""task (order) -> vendor: the order's path."""
SERVED_BY = "served_by"
REFUSES = "refuses"
HAD = "had"
"""vendor -> incident."""
FUNCTIONAL = frozenset({SERVED_BY, "status", "price"})
"""Relations with one target per source: a newer fact closes the older one."""
INHERITED = 0.5
"""Share of the reliability prior that moves to a vendor's replacement."""


def half_life_s(edge: Edge, config: MemoryConfig) -> float:
    """Return the half-life of an edge."""
    return edge.ttl_s if edge.ttl_s > 0.0 else config.half_life_s * (1.0 + log1p(edge.successes))


def effective_weight(edge: Edge, now_s: float, config: MemoryConfig) -> float:
    """Return the decayed weight; times before the last touch read the stored weight."""
    idle_s = now_s - edge.last_s
    return edge.w if idle_s <= 0.0 else edge.w * 2.0 ** (-idle_s / half_life_s(edge, config))


def touch(
    graph: ProfileGraph, key: EdgeKey, now_s: float, config: MemoryConfig, new_episode: bool, ttl_s: float = 0.0
) -> Edge:
    """Strengthen an edge by ``config.touch``, creating it if need be, and return it."""
    edge = graph.get(key)
    if edge is None:
        edge = Edge(*key, config.touch, now_s, now_s, 0.0, 0.0, 0.0, 1, now_s, ttl_s=ttl_s)
        graph.put(edge)
        return edge
    # Most of what a memory does is this: no calls, and no _replace, which takes three times as long.
    src, rel, dst, w, last, first, n, s, f, episodes, valid, invalid, pin, ttl = edge
    if now_s > last:
        half_life = ttl if ttl > 0.0 else config.half_life_s * (1.0 + log1p(s))
        w *= 2.0 ** ((last - now_s) / half_life)
        last = now_s
    w += config.touch
    edge = Edge(src, rel, dst, w, last, first, n, s, f, episodes + new_episode, valid, invalid, pin, ttl)
    graph.overwrite(key, edge)
    return edge


def count(graph: ProfileGraph, edge: Edge, successes: float = 0.0, failures: float = 0.0) -> Edge:
    """Book outcomes on an edge that was touched at this very moment (else its decay would change in hindsight)."""
    edge = edge._replace(
        n=edge.n + successes + failures, successes=edge.successes + successes, failures=edge.failures + failures
    )
    graph.put(edge)
    return edge


def credit(graph: ProfileGraph, key: EdgeKey, value: float, now_s: float, config: MemoryConfig) -> None:
    """Book a unit's raw outcome (clipped to [0, 1]) on an edge of its path; forgotten edges stay forgotten."""
    edge = graph.get(key)
    if edge is None:
        return
    good = min(1.0, max(0.0, value))
    w = effective_weight(edge, now_s, config) + config.credit * good
    count(graph, edge._replace(w=w, last_s=max(now_s, edge.last_s)), good, 1.0 - good)


def fail_late(graph: ProfileGraph, key: EdgeKey, failures: float, now_s: float, config: MemoryConfig) -> None:
    """Book failures on a long-run edge without strengthening it; nothing happens when there is no such edge."""
    edge = graph.get(key)
    if edge is not None:
        w = effective_weight(edge, now_s, config)
        count(graph, edge._replace(w=w, last_s=max(now_s, edge.last_s)), 0.0, failures)


def close(graph: ProfileGraph, key: EdgeKey, now_s: float) -> None:
    """End a fact now: it leaves the graph for the archive."""
    edge = graph.get(key)
    if edge is not None:
        graph.put(edge._replace(invalid_at_s=now_s))
        graph.remove(key, "closed", 0.0, now_s)


def state(
    graph: ProfileGraph, key: EdgeKey, now_s: float, config: MemoryConfig, new_episode: bool, ttl_s: float = 0.0
) -> Edge:
    """Record a fact at full weight. For a functional relation the newest fact wins, in any order of arrival."""
    if key[1] in FUNCTIONAL:
        for other in [e for e in graph.out(key[0]) if e.rel == key[1] and e.dst != key[2]]:
            if other.valid_at_s > now_s:
                return other
            close(graph, other.key, now_s)
    edge = touch(graph, key, now_s, config, new_episode, ttl_s)
    edge = edge._replace(w=1.0, n=edge.n + 1.0, valid_at_s=now_s)
    graph.put(edge)
    return edge


def replace_vendor(graph: ProfileGraph, old: str, new: str, agent: str, now_s: float, config: MemoryConfig) -> None:
    """Close every edge of vendor node ``old``; half of its reliability prior moves to ``new``, nothing else."""
    prior = graph.get((agent, RELIES_ON, old))
    doomed = [*graph.out(old), *graph.into(old)]
    doomed += [e for edge in graph.out(old) if kind_of(edge.dst) == "incident" for e in graph.into(edge.dst)]
    for edge in doomed:
        close(graph, edge.key, now_s)
    if prior is not None and graph.get((agent, RELIES_ON, new)) is None:
        graph.put(_inherit(prior, new, now_s, config))


def _inherit(prior: Edge, new: str, now_s: float, config: MemoryConfig) -> Edge:
    w = INHERITED * effective_weight(prior, now_s, config)
    n, s, f = INHERITED * prior.n, INHERITED * prior.successes, INHERITED * prior.failures
    return Edge(prior.src, prior.rel, new, w, now_s, now_s, n, s, f, 1, now_s)
