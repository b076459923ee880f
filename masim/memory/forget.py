"""Strategic forgetting: what a sweep removes, by which rule, and how it is taken back.

A policy is one pure function from a :class:`Snapshot` to verdicts, and one line in :data:`POLICIES`. A sweep judges
the whole snapshot before it removes anything, so the order of edges does not matter; each clause of ``recommended``
only gets harder to meet when other edges go, so a second sweep at the same moment removes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from masim.errors import ConfigError, did_you_mean
from masim.memory.config import MemoryConfig
from masim.memory.graph import Edge, ForgetRecord, ProfileGraph, kind_of
from masim.memory.query import score
from masim.memory.update import effective_weight


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a policy judges: every edge, the moment, the settings."""

    edges: tuple[Edge, ...]
    now_s: float
    config: MemoryConfig


class Verdict(NamedTuple):
    """One edge to forget and the clause that says so."""

    edge: Edge
    rule: str
    score: float


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """What a sweep removed (or would remove, in a dry run), and what is left."""

    forgotten: tuple[ForgetRecord, ...]
    edges: int
    nodes: int
    dry_run: bool = False


Policy = Callable[[Snapshot], list[Verdict]]


def none(snapshot: Snapshot) -> list[Verdict]:
    """Forget nothing; the node cap still holds."""
    return []


def recommended(snapshot: Snapshot) -> list[Verdict]:
    """Apply the default rule.

    An edge goes when it is past its grace, unpinned, outside the success window, and: invalidated, or over its time
    to live, or uncorroborated (one episode, no success, idle for more than an episode), or weak (score < theta), or
    marginal at both of its ends. Edges with a time to live leave by it alone: an incident must last its days.
    """
    config, now_s = snapshot.config, snapshot.now_s
    verdicts = []
    crowd = None
    born_by_s = now_s - config.grace_s
    for edge in snapshot.edges:
        if edge.first_s >= born_by_s or is_safe(edge, now_s, config):
            continue
        value = score(edge, now_s, config)
        rule = _own_fault(edge, value, now_s, config)
        if not rule and edge.ttl_s <= 0.0:
            crowd = crowd or _crowd(snapshot)
            rule = "share" if _marginal(edge, crowd, snapshot) else ""
        if rule:
            verdicts.append(Verdict(edge, rule, value))
    return verdicts


POLICIES: dict[str, Policy] = {
    "recommended": recommended,
    "none": none,
}


def policy(name: str) -> Policy:
    """Return a forgetting policy by name. Raises ConfigError with the nearest name."""
    if name not in POLICIES:
        near = did_you_mean(name, POLICIES)
        raise ConfigError("unknown forgetting policy", "memory.policy", name, ", ".join(POLICIES), near)
    return POLICIES[name]


def is_safe(edge: Edge, now_s: float, config: MemoryConfig) -> bool:
    """Whether no rule may touch the edge now: pinned, in its grace, or a success in its window."""
    if edge.pin or now_s - edge.first_s <= config.grace_s:
        return True
    return in_success_window(edge, now_s, config)


def in_success_window(edge: Edge, now_s: float, config: MemoryConfig) -> bool:
    """Whether the edge carries a recent success ("yesterday's strategy")."""
    return edge.successes > 0.0 and now_s - edge.last_s <= config.success_window_s and edge.invalid_at_s > now_s


def _own_fault(edge: Edge, value: float, now_s: float, config: MemoryConfig) -> str:
    if edge.invalid_at_s <= now_s:
        return "invalidated"
    if edge.ttl_s > 0.0:
        return "" if edge.alive(now_s) else "ttl"
    if edge.episodes <= 1 and edge.successes <= 0.0 and now_s - edge.last_s > config.episode_s:
        return "uncorroborated"
    return "score" if value < config.theta else ""


_Ends = dict[str, list[float]]
"""Node id -> total and largest decayed weight of the edges at it."""


def _crowd(snapshot: Snapshot) -> tuple[_Ends, _Ends]:
    """Return what leaves each node and what enters it."""
    out: _Ends = {}
    into: _Ends = {}
    for edge in snapshot.edges:
        w = effective_weight(edge, snapshot.now_s, snapshot.config)
        for end in (out.setdefault(edge.src, [0.0, 0.0]), into.setdefault(edge.dst, [0.0, 0.0])):
            end[0] += w
            if w > end[1]:
                end[1] = w
    return out, into


def _marginal(edge: Edge, crowd: tuple[_Ends, _Ends], snapshot: Snapshot) -> bool:
    """Whether the edge is dwarfed at both ends: a small share, yet not one of many equals with small shares all."""
    w = effective_weight(edge, snapshot.now_s, snapshot.config)
    ends = crowd[0][edge.src], crowd[1][edge.dst]
    return all(w < snapshot.config.share * total and w < 0.5 * most for total, most in ends)


def sweep(
    graph: ProfileGraph, now_s: float, config: MemoryConfig, open_nodes: Collection[str] = (), dry_run: bool = False
) -> ForgetReport:
    """Forget by the configured policy, then hold the node cap. ``open_nodes`` (tasks under way) are never evicted."""
    edges = tuple(graph)
    verdicts = policy(config.policy)(Snapshot(edges, now_s, config))
    left = _without(edges, verdicts)
    evicted = evictions(left, now_s, config, open_nodes)
    left = _without(left, evicted)
    records = [ForgetRecord(v.edge, v.rule, v.score, now_s) for v in (*sorted(verdicts), *evicted)]
    dry = dry_run or config.dry_run
    if not dry:
        for record in records:
            graph.remove(record.edge.key, record.rule, record.score, now_s)
    return ForgetReport(tuple(records), len(left), len(_nodes(left)), dry)


def _without(edges: Sequence[Edge], verdicts: Sequence[Verdict]) -> Sequence[Edge]:
    if not verdicts:
        return edges
    doomed = {verdict.edge.key for verdict in verdicts}
    return [edge for edge in edges if edge.key not in doomed]


def _nodes(edges: Sequence[Edge]) -> set[str]:
    return {edge.src for edge in edges} | {edge.dst for edge in edges}


def evictions(edges: Sequence[Edge], now_s: float, config: MemoryConfig, open_nodes: Collection[str]) -> list[Verdict]:
    """Return the edges of the weakest nodes when there are more than ``node_cap``, down to ``node_floor``.

    A node is worth its best edge. Agents, open tasks, and the ends of pinned or protected edges stay; when nothing
    else is left the graph stays above its cap rather than lose them.
    """
    if 2 * len(edges) <= config.node_cap or len(_nodes(edges)) <= config.node_cap:
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
