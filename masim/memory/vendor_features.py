"""What a policy sees of a memory about vendors it may choose among: one row each, exact at the moment."""

from __future__ import annotations

from collections.abc import Sequence
from math import log1p

import numpy as np

from masim.arrays import F32
from masim.memory.config import MemoryConfig
from masim.memory.graph import Edge, EdgeKey, ProfileGraph, node
from masim.memory.query import success
from masim.memory.update import BOOKS, HAD, REFUSES, RELIES_ON, effective_weight
from masim.units import DAY

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
