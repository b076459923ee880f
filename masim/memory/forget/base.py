"""What a forgetting rule is given, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from masim.arrays import I64, Bool
from masim.memory.config import MemoryConfig
from masim.memory.graph import Edge, ForgetRecord
from masim.memory.query import score
from masim.memory.table import EdgeColumns, columns_of

Truth = Callable[[Edge, float], bool]
"""``truth(edge, now_s)``: whether what the edge says still holds. Only the simulator can know; see ``oracle``."""


class Snapshot:
    """What a rule judges: every edge, the moment, the settings, and the truth where a study supplies it."""

    __slots__ = ("columns", "config", "now_s", "truth")

    def __init__(
        self,
        edges: Sequence[Edge] | EdgeColumns,
        now_s: float,
        config: MemoryConfig,
        truth: Truth | None = None,
    ) -> None:
        self.columns = edges if isinstance(edges, EdgeColumns) else columns_of(edges, config.half_life_s)
        self.now_s = now_s
        self.config = config
        self.truth = truth

    @property
    def edges(self) -> list[Edge]:
        """Return every edge, in the order of the columns."""
        return self.columns.edges

    def verdicts(self, doomed: Bool | I64, rule: str) -> list[Verdict]:
        """Return one verdict for each edge that ``doomed``, a mask or indices, names."""
        indices = doomed.nonzero()[0] if doomed.dtype == bool else doomed
        return [self.verdict(self.edges[i], rule) for i in indices.tolist()]

    def verdict(self, edge: Edge, rule: str) -> Verdict:
        """Return the verdict on one edge."""
        return Verdict(edge, rule, score(edge, self.now_s, self.config))


class Verdict(NamedTuple):
    """One edge to forget and the clause that says so."""

    edge: Edge
    rule: str
    score: float


class ForgetReport(NamedTuple):
    """What a sweep removed (or would remove, in a dry run), and what is left."""

    forgotten: tuple[ForgetRecord, ...]
    edges: int
    nodes: int
    dry_run: bool = False


Policy = Callable[[Snapshot], list[Verdict]]


def in_success_window(edge: Edge, now_s: float, config: MemoryConfig) -> bool:
    """Whether the edge carries a recent success ("yesterday's strategy")."""
    return edge.successes > 0.0 and now_s - edge.last_s <= config.success_window_s and edge.invalid_at_s > now_s
