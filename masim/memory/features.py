"""What a policy sees of a memory as numbers: frozen layouts, versioned, incremental.

Version 1 has ``FEATURES`` = 224 floats: 16 type pairs x (count, weight, success, freshness); the 8 best edges at the
entities in play x (weight, success, freshness, sign); 128 signed hash buckets of all edges. Vendor columns are
documented at :data:`VENDOR_COLUMNS`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from math import log1p
from typing import cast

import numpy as np
import numpy.typing as npt

from masim.errors import ConfigError
from masim.memory.config import MemoryConfig
from masim.memory.graph import Edge, EdgeKey, FrozenGraph, ProfileGraph, kind_of, node
from masim.memory.query import success
from masim.memory.update import BOOKS, HAD, REFUSES, RELIES_ON, effective_weight, half_life_s
from masim.units import DAY

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

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
FEATURES = 4 * len(TYPE_PAIRS) + 4 * LOCAL_EDGES + BUCKETS
_PAIR = {pair: i for i, pair in enumerate(TYPE_PAIRS)}
_OTHER = len(TYPE_PAIRS) - 1

VENDOR_COLUMNS = (
    "known",  # 1 when the agent has a long-run edge to the vendor
    "success",  # q of the long-run edge, (s + 1) / (n + 2); 1/2 when unknown
    "weight",  # min(1, decayed weight) of the long-run edge
    "trials",  # ln(1 + n) / 3, at most 2
    "missed",  # x / (1 + x), x = trucks missed and still remembered, decayed
    "trouble",  # x / (1 + x), x = errors and rejections still remembered, decayed
    "kept_word",  # (s + 1) / (s + missed + 2): unlike `success`, not blamed for other vendors' failures
    "refused",  # decayed weight of this shipper's refusal of the vendor, in [0, 1]
    "shipper_success",  # q of the shipper's own edge to the vendor; 1/2 when unknown
    "share",  # share of the decayed weight among the vendors asked about
    "age",  # days since the last use, at most 2; 2 when unknown
)
VENDOR_F = len(VENDOR_COLUMNS)
_SHARE = VENDOR_COLUMNS.index("share")
_WEIGHT = VENDOR_COLUMNS.index("weight")

VendorKeys = tuple[EdgeKey, EdgeKey, EdgeKey, EdgeKey, EdgeKey, EdgeKey]


def incident(kind: str, vendor: str) -> str:
    """Return the node id of one kind of incident (missed, error, rejected) of a vendor name."""
    return node("incident", f"{kind}:{vendor}")


def vendor_keys(agent_id: str, vendor: str, shipper: str) -> VendorKeys:
    """Return the edges behind a vendor's columns: long-run, missed, error, rejected, refusal, shipper's own."""
    at, user = node("vendor", vendor), node("user", shipper)
    bad = [(at, HAD, incident(kind, vendor)) for kind in ("missed", "error", "rejected")]
    return (agent_id, RELIES_ON, at), bad[0], bad[1], bad[2], (user, REFUSES, at), (user, BOOKS, at)


def vendor_rows(graph: ProfileGraph, keys: Sequence[VendorKeys], now_s: float, config: MemoryConfig) -> F32:
    """Return (V, VENDOR_F) float32, one row per vendor in the order of ``keys``."""
    rows = []
    total = 0.0
    for own in keys:
        row, w = _vendor_row(graph, own, now_s, config)
        total += w
        rows.append(row)
    if total > 0.0:
        for row in rows:
            row[_SHARE] /= total
    return np.array(rows, dtype=np.float32).reshape(len(rows), VENDOR_F)


def _vendor_row(graph: ProfileGraph, keys: VendorKeys, now_s: float, config: MemoryConfig) -> tuple[list[float], float]:
    get = graph.get
    edge = get(keys[0])
    missed = _alive(get(keys[1]), now_s)
    trouble = _alive(get(keys[2]), now_s) + _alive(get(keys[3]), now_s)
    refusal, own = get(keys[4]), get(keys[5])
    refused = min(1.0, effective_weight(refusal, now_s, config)) if refusal and refusal.alive(now_s) else 0.0
    own_q = success(own) if own else 0.5
    bad, worse = missed / (1.0 + missed), trouble / (1.0 + trouble)
    if edge is None:
        return [0.0, 0.5, 0.0, 0.0, bad, worse, 1.0 / (missed + 2.0), refused, own_q, 0.0, 2.0], 0.0
    w = effective_weight(edge, now_s, config)
    s = edge.successes
    age = min(2.0, max(0.0, now_s - edge.last_s) / DAY)
    tries = min(2.0, log1p(edge.n) / 3.0)
    word = (s + 1.0) / (s + missed + 2.0)
    return [1.0, success(edge), min(1.0, w), tries, bad, worse, word, refused, own_q, w, age], w


def _alive(edge: Edge | None, now_s: float) -> float:
    """Return the decayed count of an incident edge; 0 past its time to live."""
    if edge is None:
        return 0.0
    idle_s = now_s - edge.last_s
    if idle_s > edge.ttl_s:
        return 0.0
    return edge.n if idle_s <= 0.0 else float(edge.n * 2.0 ** (-idle_s / edge.ttl_s))


class Columns:
    """Edges as arrays, kept up to date edge by edge: weights, times, half-lives, hash buckets.

    The columns of a frozen version are built once and copied into each overlay that asks for features.
    """

    __slots__ = ("free", "numbers", "places", "row_of")

    def __init__(self, rows: int) -> None:
        self.row_of: dict[EdgeKey, int] = {}
        self.free = 0
        self.numbers: F64 = np.zeros((6, rows))
        """w, last_s, 1 / half-life, q, ttl_s (inf when none), sign; free rows have w = 0."""
        self.places: I64 = np.zeros((2, rows), dtype=np.int64)
        """Type pair, hash bucket."""
        self.numbers[2] = 1.0
        self.numbers[4] = np.inf

    @classmethod
    def of(cls, base: FrozenGraph, config: MemoryConfig) -> Columns:
        """Return the columns of a version, computed on first use."""
        built = base.cache.get("columns")
        if built is None:
            built = cls(len(base.edges) + 32)
            for key, edge in base.edges.items():
                built.set(key, edge, config)
            base.cache["columns"] = built
        return cast(Columns, built)

    def copy(self) -> Columns:
        """Return private columns with the same content."""
        twin = Columns(0)
        twin.row_of, twin.free = dict(self.row_of), self.free
        twin.numbers, twin.places = self.numbers.copy(), self.places.copy()
        return twin

    def set(self, key: EdgeKey, edge: Edge | None, config: MemoryConfig) -> None:
        """Take over the state of one edge; None empties its row."""
        row = self.row_of.get(key)
        if row is None:
            if edge is None:
                return
            row = self._new_row(key)
        if edge is None:
            self.numbers[0, row] = 0.0
            return
        ttl = edge.ttl_s if edge.ttl_s > 0.0 else np.inf
        sign = -1.0 if edge.ttl_s > 0.0 else 1.0
        self.numbers[:, row] = (edge.w, edge.last_s, 1.0 / half_life_s(edge, config), success(edge), ttl, sign)

    def _new_row(self, key: EdgeKey) -> int:
        row = self.row_of[key] = self.free
        self.free += 1
        if row >= self.numbers.shape[1]:
            more = 32 + row // 2
            self.numbers = np.pad(self.numbers, ((0, 0), (0, more)))
            self.numbers[2, row:] = 1.0
            self.places = np.pad(self.places, ((0, 0), (0, more)))
        self.places[:, row] = _place(key)
        return row


_PLACES: dict[EdgeKey, tuple[int, int]] = {}
_PLACES_MAX = 100_000


def _place(key: EdgeKey) -> tuple[int, int]:
    """Return an edge's type pair and its hash as ``bucket * 2 + (1 when the sign is negative)``."""
    found = _PLACES.get(key)
    if found is None:
        if len(_PLACES) >= _PLACES_MAX:
            _PLACES.clear()
        digest = hashlib.blake2b("\x1f".join(key).encode(), digest_size=4).digest()
        pair = _PAIR.get((kind_of(key[0]), kind_of(key[2])), _OTHER)
        found = _PLACES[key] = pair, int.from_bytes(digest, "little") % (2 * BUCKETS)
    return found


def features(
    graph: ProfileGraph,
    columns: Columns,
    now_s: float,
    config: MemoryConfig,
    entities: Collection[str] = (),
    version: int = 1,
) -> F32:
    """Return the (FEATURES,) float32 of a layout version. Raises ConfigError for a layout that does not exist."""
    if version != 1:
        raise ConfigError("unknown layout of memory features", "memory.features", str(version), "1")
    for key in graph.drain():
        columns.set(key, graph.get(key), config)
    out = np.zeros(FEATURES, dtype=np.float32)
    pairs, local = 4 * len(TYPE_PAIRS), 4 * LOCAL_EDGES
    used = columns.free
    if used:
        _global_part(columns, used, now_s, out[:pairs], out[pairs + local :])
        _local_part(graph, columns, now_s, entities, out[pairs : pairs + local])
    return out


def _global_part(columns: Columns, used: int, now_s: float, pairs: F32, buckets: F32) -> None:
    w, last, rate, q, ttl, sign = columns.numbers[:, :used]
    idle = np.maximum(0.0, now_s - last)
    live = (w > 0.0) & (idle <= ttl)
    value = np.where(live, np.minimum(1.0, w * np.exp2(-idle * rate)), 0.0)
    pair, code = columns.places[:, :used]
    n = len(TYPE_PAIRS)
    count = np.bincount(pair, live, n)
    weight = np.bincount(pair, value, n)
    divisor = np.maximum(weight, 1e-12)
    pairs[0::4] = np.log1p(count) / 4.0
    pairs[1::4] = np.log1p(weight) / 4.0
    pairs[2::4] = np.bincount(pair, value * q, n) / divisor
    pairs[3::4] = np.bincount(pair, value * np.exp2(-idle / DAY), n) / divisor
    turn = 1.0 - 2.0 * (code & 1)
    buckets[:] = np.bincount(code >> 1, value * q * sign * turn, BUCKETS)


def _local_part(graph: ProfileGraph, columns: Columns, now_s: float, entities: Collection[str], out: F32) -> None:
    """Fill (LOCAL_EDGES, 4) with the best live edges at the entities; equal ranks are ordered by what is shown."""
    keys = {key: None for entity in entities for key in graph.keys_at(entity)}
    rows = [row for key in keys if (row := columns.row_of.get(key)) is not None]
    if not rows:
        return
    w, last, rate, q, ttl, sign = columns.numbers[:, rows]
    idle = np.maximum(0.0, now_s - last)
    decay = np.exp2(-idle * rate)
    rank = np.minimum(1.0, w) * decay * q * (idle <= ttl)
    shown = np.array((np.minimum(1.0, w * decay), q, np.exp2(-idle / DAY), sign))
    best = np.lexsort((*-shown, -rank))[:LOCAL_EDGES]
    best = best[rank[best] > 0.0]
    out[: 4 * len(best)] = shown[:, best].T.ravel()
