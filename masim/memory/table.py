"""The edges of a graph as arrays, kept up to date edge by edge: what sweeps and features compute with.

A frozen version's table is built once and copied into each overlay that needs one. Rows of removed edges stay, empty,
and are used again when the same edge comes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log1p
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from masim.memory.graph import Edge, EdgeKey, FrozenGraph

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

_W, _LAST, _FIRST, _RATE, _Q, _TTL, _S, _EPISODES, _INVALID, _PIN, _THERE = range(11)
FIELDS = 11
UNIT = 2.0**30
"""Sums of weights count these parts of 1: whole numbers, so that a sum is the same in any order of its edges."""


@dataclass(frozen=True, slots=True)
class EdgeColumns:
    """The live edges at one moment. Axes: E edges; ``src`` and ``dst`` are node numbers below ``nodes``."""

    edges: list[Edge]
    w: F64
    last_s: F64
    first_s: F64
    rate: F64
    """1 / half-life, per second."""
    q: F64
    """Success share."""
    ttl_s: F64
    """``inf`` for edges that live by their score."""
    successes: F64
    episodes: F64
    invalid_at_s: F64
    pin: npt.NDArray[np.bool_]
    src: I64
    dst: I64
    nodes: int

    def __len__(self) -> int:
        return len(self.edges)

    def idle_s(self, now_s: float) -> F64:
        """Return (E,) seconds since the last touch, from 0."""
        return np.maximum(0.0, now_s - self.last_s)

    def weight(self, now_s: float) -> F64:
        """Return (E,) decayed weights; see :func:`masim.memory.update.effective_weight`."""
        return np.asarray(self.w * np.exp2(-self.idle_s(now_s) * self.rate))

    def score(self, now_s: float) -> F64:
        """Return (E,) scores; see :func:`masim.memory.query.score`."""
        return np.asarray(np.minimum(1.0, self.w) * np.exp2(-self.idle_s(now_s) * self.rate) * 2.0 * self.q)

    def total_at(self, ends: I64, values: F64) -> F64:
        """Return (E,): for each edge the sum of ``values`` over the edges that share its end."""
        parts = np.rint(values * UNIT)
        return np.asarray(np.bincount(ends, parts, self.nodes)[ends] / UNIT)

    def most_at(self, ends: I64, values: F64) -> F64:
        """Return (E,): for each edge the largest of ``values`` over the edges that share its end."""
        most = np.zeros(self.nodes)
        np.maximum.at(most, ends, values)
        return np.asarray(most[ends])

    def count_nodes(self, left: npt.NDArray[np.bool_] | None = None) -> int:
        """Return how many nodes the edges touch, or those of them that are ``left``."""
        touched = np.zeros(self.nodes, dtype=np.bool_)
        for ends in (self.src, self.dst):
            touched[ends if left is None else ends[left]] = True
        return int(touched.sum())


class EdgeTable:
    """Rows of edges. ``rows_at`` names the rows at a node; ``unseen`` collects changed rows for one reader."""

    __slots__ = ("_half_life_s", "_node_of", "_stale", "edges", "ends", "numbers", "row_of", "rows_at", "unseen")

    def __init__(self, half_life_s: float, rows: int) -> None:
        self._half_life_s = half_life_s
        self._node_of: dict[str, int] = {}
        self._stale: dict[int, None] = {}
        self.row_of: dict[EdgeKey, int] = {}
        self.edges: list[Edge | None] = []
        self.rows_at: dict[str, tuple[int, ...]] = {}
        self.numbers: F64 = np.zeros((FIELDS, rows))
        self.ends: I64 = np.zeros((2, rows), dtype=np.int64)
        self.unseen: dict[int, None] | None = None

    @classmethod
    def of(cls, base: FrozenGraph, half_life_s: float) -> EdgeTable:
        """Return the table of a version, computed on first use and shared: copy it before it is changed."""
        name = f"table/{half_life_s}"
        built = base.cache.get(name)
        if built is None:
            built = cls(half_life_s, len(base.edges) + 32)
            built.update(base.edges)
            base.cache[name] = built
        return cast(EdgeTable, built)

    def copy(self) -> EdgeTable:
        """Return a private table with the same content."""
        twin = EdgeTable(self._half_life_s, 0)
        self.fresh()
        twin._node_of = dict(self._node_of)
        twin.row_of, twin.edges, twin.rows_at = dict(self.row_of), list(self.edges), dict(self.rows_at)
        twin.numbers, twin.ends = self.numbers.copy(), self.ends.copy()
        return twin

    def update(self, changes: Mapping[EdgeKey, Edge | None]) -> None:
        """Take over the state of some edges; None empties a row."""
        for key, edge in changes.items():
            self.note(key, edge)

    def note(self, key: EdgeKey, edge: Edge | None) -> None:
        """Take over the state of one edge. Its numbers are written when somebody asks."""
        row = self.row_of.get(key)
        if row is None:
            if edge is None:
                return
            row = self._new_row(key)
        self.edges[row] = edge
        self._stale[row] = None
        if self.unseen is not None:
            self.unseen[row] = None

    def fresh(self) -> F64:
        """Return (FIELDS, N) numbers of all rows, up to date."""
        if self._stale:
            rows = list(self._stale)
            edges = self.edges
            values = [_NOTHING if (edge := edges[row]) is None else self._numbers(edge) for row in rows]
            self.numbers[:, rows] = np.array(values).T
            self._stale.clear()
        return self.numbers[:, : len(self.edges)]

    def _numbers(self, edge: Edge) -> tuple[float, ...]:
        _, _, _, w, last_s, first_s, n, s, _, episodes, _, invalid_at_s, pin, ttl_s = edge
        if ttl_s > 0.0:
            return w, last_s, first_s, 1.0 / ttl_s, 0.5, ttl_s, s, episodes, invalid_at_s, pin, 1.0
        rate, q = 1.0 / (self._half_life_s * (1.0 + log1p(s))), (s + 1.0) / (n + 2.0)
        return w, last_s, first_s, rate, q, np.inf, s, episodes, invalid_at_s, pin, 1.0

    def _new_row(self, key: EdgeKey) -> int:
        row = self.row_of[key] = len(self.edges)
        self.edges.append(None)
        if row >= self.numbers.shape[1]:
            more = ((0, 0), (0, 32 + row // 2))
            self.numbers, self.ends = np.pad(self.numbers, more), np.pad(self.ends, more)
        for side, name in ((0, key[0]), (1, key[2])):
            self.ends[side, row] = self._node_of.setdefault(name, len(self._node_of))
            if side == 0 or key[0] != key[2]:
                self.rows_at[name] = (*self.rows_at.get(name, ()), row)
        return row

    def columns(self) -> EdgeColumns:
        """Return the live edges as columns: views where no row is empty."""
        numbers = self.fresh()
        ends, edges = self.ends[:, : len(self.edges)], cast("list[Edge]", self.edges)
        there = numbers[_THERE] > 0.0
        if not there.all():
            numbers, ends = numbers[:, there], ends[:, there]
            edges = [edge for edge in self.edges if edge is not None]
        pin = numbers[_PIN] > 0.0
        w, last, first, rate, q, ttl, successes, episodes, invalid = numbers[:_PIN]
        nodes = len(self._node_of)
        return EdgeColumns(
            edges, w, last, first, rate, q, ttl, successes, episodes, invalid, pin, ends[0], ends[1], nodes
        )


_NOTHING = (0.0, 0.0, 0.0, 1.0, 0.5, np.inf, 0.0, 0.0, np.inf, 0.0, 0.0)


def columns_of(edges: Iterable[Edge], half_life_s: float) -> EdgeColumns:
    """Return columns of edges that belong to no graph."""
    given = list(edges)
    table = EdgeTable(half_life_s, len(given))
    table.update({edge.key: edge for edge in given})
    return table.columns()
