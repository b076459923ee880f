"""A memory as text for a language model: profile cards, then the edges that matter, within a token budget.

Ages and counts, never raw weights; a stable order; every name quoted, escaped and cut, because vendors write them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from masim.memory.config import MemoryConfig
from masim.memory.graph import Edge, ProfileGraph, kind_of, name_of
from masim.memory.query import top_k
from masim.units import DAY, HOUR

CARD_LINES = 6
EDGES = 12
TOKENS = 256
NAME_CHARS = 40
_UNSAFE = re.compile(r"[^A-Za-z0-9 _.:/#@+-]")
_TOKEN = re.compile(r"\w+|[^\w\s]")


def quoted(node_id: str) -> str:
    """Return a node's name in quotes: at most ``NAME_CHARS`` characters, anything unusual as ``\\uXXXX``."""
    name = name_of(node_id)
    cut = name[:NAME_CHARS] + ("..." if len(name) > NAME_CHARS else "")
    return '"' + _UNSAFE.sub(lambda m: f"\\u{ord(m[0]):04x}", cut) + '"'


def age(edge: Edge, now_s: float) -> str:
    """Return how long ago the edge was used, in words."""
    return ago(now_s - edge.last_s)


def ago(past_s: float) -> str:
    """Return how long ago something was, in words."""
    idle_s = max(0.0, past_s)
    if idle_s >= 2 * DAY:
        return f"{int(idle_s // DAY)} days ago"
    return f"{int(idle_s // HOUR)} h ago" if idle_s >= HOUR else "within the hour"


def tokens(text: str) -> int:
    """Return an upper-end estimate of the tokens of a text: its words and marks."""
    return len(_TOKEN.findall(text))


def card(graph: ProfileGraph, entities: Sequence[str], now_s: float, config: MemoryConfig) -> str:
    """Return the text view for the node ids in play: their cards, then the best edges, at most ``TOKENS`` tokens."""
    lines: list[str] = []
    budget = TOKENS
    for line in _lines(graph, entities, now_s, config):
        budget -= tokens(line)
        if budget < 0:
            break
        lines.append(line)
    return "\n".join(lines)


def _lines(graph: ProfileGraph, entities: Sequence[str], now_s: float, config: MemoryConfig) -> Iterable[str]:
    shown = list(dict.fromkeys(entities))
    for entity in shown:
        yield from profile(graph, entity, now_s, config)
    ranked = top_k(graph, EDGES, now_s, config, shown)
    if ranked:
        yield "links:"
    for _, edge in ranked:
        yield f"- {_sentence(edge, now_s)}"


def profile(graph: ProfileGraph, entity: str, now_s: float, config: MemoryConfig) -> list[str]:
    """Return at most ``CARD_LINES`` lines about one node: what happened, then facts against it, then its links."""
    edges = [e for e in (*graph.out(entity), *graph.into(entity)) if e.alive(now_s)]
    head = f"{kind_of(entity)} {quoted(entity)}"
    if not edges:
        return [f"{head}: nothing known"]
    edges.sort(key=lambda e: (e.ttl_s <= 0.0, kind_of(e.src) != "agent", -e.n, -e.last_s, e.key))
    lines = [f"  {_short(edge, entity, now_s)}" for edge in edges[: CARD_LINES - 1]]
    return [f"{head}:", *lines]


def _other(edge: Edge, entity: str) -> str:
    return edge.dst if edge.src == entity else edge.src


def _short(edge: Edge, entity: str, now_s: float) -> str:
    other = _other(edge, entity)
    return f"{edge.rel} {kind_of(other)} {quoted(other)}: {_record(edge)}, {age(edge, now_s)}"


def _sentence(edge: Edge, now_s: float) -> str:
    return f"{quoted(edge.src)} {edge.rel} {quoted(edge.dst)}: {_record(edge)}, {age(edge, now_s)}"


def _record(edge: Edge) -> str:
    if edge.ttl_s > 0.0:
        return f"{edge.n:g} times"
    return f"{edge.successes:g} of {edge.n:g} worked" if edge.n else "no outcome yet"
