"""What a policy sees of a whole memory as numbers: a frozen layout, versioned, incremental.

Version 1 has ``FEATURES`` = 224 floats: 16 type pairs x (count, weight, success, freshness); the 8 best edges at the
entities in play x (weight, success, freshness, sign); 128 signed hash buckets of all edges.

Weights and ages are those of the last full hour, on which everything is computed anew; what was touched since then
counts as touched at that hour. In between, an edge that changes takes its old part out of the sums and puts its new
part in. Sums are whole numbers of small parts, so they come out the same in any order of events.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Collection, Iterable
from itertools import chain
from math import log1p
from operator import itemgetter

import numpy as np

from masim.arrays import F32, F64, I64
from masim.errors import ConfigError
from masim.memory.graph import EdgeKey, ProfileGraph, kind_of
from masim.memory.table import EdgeTable
from masim.units import DAY, HOUR

TYPE_PAIRS = (
    ("agent", "vendor"),
    ("agent", "tool"),
    ("agent", "user"),
    ("agent", "task"),
    ("agent", "strategy"),
    ("tool", "vendor"),
    ("user", "vendor"),
    ("user", "task"),
    ("user", "strategy"),
    ("task", "vendor"),
    ("task", "tool"),
    ("strategy", "vendor"),
    ("strategy", "tool"),
    ("vendor", "incident"),
    ("vendor", "vendor"),
    ("other", "other"),
)
LOCAL_EDGES = 8
BUCKETS = 128
PAIRS = len(TYPE_PAIRS)
FEATURES = 4 * PAIRS + 4 * LOCAL_EDGES + BUCKETS
LAYOUT = 1
UNIT = 2.0**40
"""Sums count these parts of 1."""
_LOCAL = 4 * PAIRS
_HASHED = _LOCAL + 4 * LOCAL_EDGES
_PAIR = {pair: i for i, pair in enumerate(TYPE_PAIRS)}
_OTHER = PAIRS - 1
_PICKS_MAX = 1000
_NO_EDGES = array("f", bytes(4 * 4 * LOCAL_EDGES))

Part = tuple[int, int, int, int, int]
"""What one edge adds: 1 if it lives, its weight, weight x success, weight x freshness, and its hashed value."""
Shown = tuple[float, tuple[float, ...]]
"""How an edge ranks among the local ones: -rank; then what is shown of it: weight, success, freshness, sign."""
Pick = Callable[[list[Shown]], tuple[Shown, ...]]
_NOTHING: Part = (0, 0, 0, 0, 0)
_UNSHOWN: Shown = (0.0, ())


def check_layout(version: int) -> None:
    """Raise ConfigError for a layout that does not exist."""
    if version != LAYOUT:
        raise ConfigError("unknown layout of memory features", "memory.features", str(version), str(LAYOUT))


class FeatureView:
    """The features of one graph, kept from call to call."""

    __slots__ = ("_at_s", "_buffer", "_half_life_s", "_parts", "_picks", "_places", "_shown", "_sums", "_view")

    def __init__(self, half_life_s: float) -> None:
        self._half_life_s = half_life_s
        self._at_s = float("nan")
        self._places: list[tuple[int, int, int]] = []
        """Of each row of the table: type pair, hash bucket, sign."""
        self._parts: list[Part] = []
        self._shown: list[Shown] = []
        self._picks: dict[str, tuple[tuple[int, ...], Pick]] = {}
        """Node -> its rows, and what takes them out of what is shown: the same nodes are in play again and again."""
        self._sums: list[list[int]] = []
        """(count, weight, success, freshness) of each type pair, then one list of the hash buckets."""
        self._buffer = array("f", bytes(4 * FEATURES))
        self._view: F32 = np.frombuffer(self._buffer, dtype=np.float32)

    def read(self, graph: ProfileGraph, now_s: float, entities: Collection[str] = ()) -> F32:
        """Return (FEATURES,) float32 for the node ids in play."""
        table = graph.table(self._half_life_s)
        at_s = now_s // HOUR * HOUR
        if at_s != self._at_s or table.unseen is None:
            self._at_s = at_s
            self._compute(table)
        elif table.unseen:
            self._follow(table)
        table.unseen = {}
        self._buffer[_LOCAL:_HASHED] = self._local(table, entities)
        return self._view.copy()

    # -- everything, at a full hour -------------------------------------------------------------------------------

    def _compute(self, table: EdgeTable) -> None:
        n = len(table.edges)
        self._place_new(table)
        parts_5N, shown_5N = _at(table.fresh(), self._at_s)
        places = np.array(self._places, dtype=np.int64).reshape(n, 3)
        parts_5N[4] *= places[:, 2]
        sums = np.zeros((4, PAIRS), np.int64), np.zeros(BUCKETS, np.int64)
        for total, part in zip(sums[0], parts_5N, strict=False):
            np.add.at(total, places[:, 0], part)
        np.add.at(sums[1], places[:, 1], parts_5N[4])
        self._sums = [*sums[0].T.tolist(), sums[1].tolist()]
        self._parts = list(zip(*parts_5N.tolist(), strict=True))
        self._shown = _ranked(shown_5N)
        for pair in range(PAIRS):
            self._buffer[4 * pair] = log1p(self._sums[pair][0]) / 4.0
        self._show_pairs(range(PAIRS))
        self._buffer[_HASHED:] = array("f", [value / UNIT for value in self._sums[PAIRS]])

    def _place_new(self, table: EdgeTable) -> None:
        known = len(self._places)
        if known < len(table.edges):
            self._places += [_place(key) for key in list(table.row_of)[known:]]

    # -- what changed since ---------------------------------------------------------------------------------------

    def _follow(self, table: EdgeTable) -> None:
        """Take over what changed. One loop without calls: this is all that most readings cost."""
        parts, shown, places, sums = self._parts, self._shown, self._places, self._sums
        if len(parts) < len(table.edges):
            self._place_new(table)
            more = len(places) - len(parts)
            parts += [_NOTHING] * more
            shown += [_UNSHOWN] * more
        at_s, edges, buffer, hashed = self._at_s, table.edges, self._buffer, sums[PAIRS]
        unit, first = UNIT, _HASHED
        pairs = set()
        for row in table.unseen or ():
            edge = edges[row]
            pair, bucket, sign = places[row]
            count, weight, good, fresh, code = parts[row]
            own = sums[pair]
            if edge is not None and edge[4] >= at_s and edge[3] > 0.0:  # touched since the hour: it has not decayed
                value = edge[3] if edge[3] < 1.0 else 1.0
                if edge[13] > 0.0:
                    q, mark = 0.5, -1.0
                else:
                    q, mark = (edge[7] + 1.0) / (edge[6] + 2.0), 1.0
                rank = value * q
                units, share = int(value * unit + 0.5), int(rank * unit + 0.5)
                turned = share if sign == mark else -share
                parts[row] = (1, units, share, units, turned)
                shown[row] = (-rank, (value, q, 1.0, mark))
                own[1] += units - weight
                own[2] += share - good
                own[3] += units - fresh
                live = 1
            else:
                parts[row] = live, units, share, recent, turned = self._aged(table, row)
                own[1] += units - weight
                own[2] += share - good
                own[3] += recent - fresh
            if live != count:
                own[0] += live - count
                buffer[4 * pair] = log1p(own[0]) / 4.0
            pairs.add(pair)
            hashed[bucket] = total = hashed[bucket] + turned - code
            buffer[first + bucket] = total / unit
        self._show_pairs(pairs)

    def _aged(self, table: EdgeTable, row: int) -> Part:
        """Take over an edge that changed without being touched since the hour, or went."""
        if table.edges[row] is None:
            self._shown[row] = _UNSHOWN
            return _NOTHING
        parts, shown = _at(table.fresh()[:, row : row + 1], self._at_s)
        live, units, good, fresh, turned = parts[:, 0].tolist()
        self._shown[row] = _ranked(shown)[0]
        return live, units, good, fresh, self._places[row][2] * turned

    # -- what is shown --------------------------------------------------------------------------------------------

    def _show_pairs(self, pairs: Iterable[int]) -> None:
        """Write what pairs show besides their counts."""
        buffer, sums, unit = self._buffer, self._sums, UNIT
        for pair in pairs:
            _, weight, good, fresh = sums[pair]
            at = 4 * pair
            if weight:
                buffer[at + 1] = log1p(weight / unit) / 4.0
                buffer[at + 2] = good / weight
                buffer[at + 3] = fresh / weight
            else:
                buffer[at + 1] = buffer[at + 2] = buffer[at + 3] = 0.0

    def _local(self, table: EdgeTable, entities: Collection[str]) -> array[float]:
        """Return the best edges at some nodes, flat; equal ranks are ordered by what is shown of them."""
        if len(entities) == 1:
            (entity,) = entities
            rows = table.rows_at.get(entity, ())
            known = self._picks.get(entity)
            pick = known[1] if known is not None and known[0] is rows else self._pick(entity, rows)
            found = pick(self._shown)
        else:
            among = dict.fromkeys(row for entity in entities for row in table.rows_at.get(entity, ()))
            found = tuple(self._shown[row] for row in among)
        best = sorted(found)[:LOCAL_EDGES]
        while best and not best[-1][0]:
            best.pop()
        flat = array("f", chain.from_iterable([edge[1] for edge in best]))
        return flat if len(best) == LOCAL_EDGES else flat + _NO_EDGES[len(flat) :]

    def _pick(self, entity: str, rows: tuple[int, ...]) -> Pick:
        """Keep and return what takes the edges at one node out of all that is shown."""
        pick: Pick = itemgetter(*rows) if len(rows) > 1 else lambda shown: tuple(shown[row] for row in rows)
        if len(self._picks) >= _PICKS_MAX:
            self._picks.clear()
        self._picks[entity] = rows, pick
        return pick


def _at(numbers: F64, at_s: float) -> tuple[I64, F64]:
    """Return (5, N) parts in whole units, the last without the sign of its hash, and (5, N) of what is shown."""
    w, last, _, rate, q, ttl = numbers[:6]
    idle = np.maximum(0.0, at_s - last)
    decay, fresh = np.exp2(-idle * rate), np.exp2(-idle / DAY)
    live = (w > 0.0) & (idle <= ttl)
    value = np.where(live, np.minimum(1.0, w * decay), 0.0)
    sign = np.where(np.isfinite(ttl), -1.0, 1.0)
    whole = np.floor(np.array((value, value * q, value * fresh)) * UNIT + 0.5).astype(np.int64)
    rank = np.minimum(1.0, w) * decay * q * (idle <= ttl)
    parts = np.array((live, *whole, np.where(sign < 0.0, -whole[1], whole[1])))
    return parts, np.array((-rank, np.minimum(1.0, w * decay), q, fresh, sign))


def _ranked(shown_5N: F64) -> list[Shown]:
    rank, *seen = shown_5N.tolist()
    return list(zip(rank, zip(*seen, strict=True), strict=True))


_PLACES: dict[EdgeKey, tuple[int, int, int]] = {}
_PLACES_MAX = 100_000


def _place(key: EdgeKey) -> tuple[int, int, int]:
    """Return an edge's type pair, and the bucket and sign of its hash."""
    found = _PLACES.get(key)
    if found is None:
        if len(_PLACES) >= _PLACES_MAX:
            _PLACES.clear()
        digest = hashlib.blake2b("\x1f".join(key).encode(), digest_size=4).digest()
        pair = _PAIR.get((kind_of(key[0]), kind_of(key[2])), _OTHER)
        code = int.from_bytes(digest, "little") % (2 * BUCKETS)
        found = _PLACES[key] = pair, code >> 1, 1 - 2 * (code & 1)
    return found
