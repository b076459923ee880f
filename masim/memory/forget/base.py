"""What a forgetting rule is given, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from masim.memory.config import MemoryConfig
from masim.memory.graph import Edge, ForgetRecord

Truth = Callable[[Edge, float], bool]
"""``truth(edge, now_s)``: whether what the edge says still holds. Only the simulator can know; see ``oracle``."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a rule judges: every edge, the moment, the settings, and the truth where a study supplies it."""

    edges: tuple[Edge, ...]
    now_s: float
    config: MemoryConfig
    truth: Truth | None = None


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


def is_safe(edge: Edge, now_s: float, config: MemoryConfig) -> bool:
    """Whether no rule may touch the edge now: pinned, in its grace, or a success in its window."""
    if edge.pin or now_s - edge.first_s <= config.grace_s:
        return True
    return in_success_window(edge, now_s, config)


def in_success_window(edge: Edge, now_s: float, config: MemoryConfig) -> bool:
    """Whether the edge carries a recent success ("yesterday's strategy")."""
    return edge.successes > 0.0 and now_s - edge.last_s <= config.success_window_s and edge.invalid_at_s > now_s


def without(edges: Sequence[Edge], verdicts: Sequence[Verdict]) -> Sequence[Edge]:
    """Return the edges that no verdict is about."""
    if not verdicts:
        return edges
    doomed = {verdict.edge.key for verdict in verdicts}
    return [edge for edge in edges if edge.key not in doomed]
