"""The default: credit that came with outcomes protects, what nothing speaks for goes."""

from __future__ import annotations

from masim.memory.config import MemoryConfig
from masim.memory.forget.base import Snapshot, Verdict, is_safe
from masim.memory.graph import Edge
from masim.memory.query import score
from masim.memory.update import effective_weight


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
