"""``evidence``: a vendor is as good as the deliveries by it that are still remembered, the old ones fading.

The default columns count successes for good: an edge that is in use never forgets how well things once went. Here
every truck leaves an edge of its own, ``vendor carried task``, which decays and is swept like any other. What was
forgotten counts no more, and a vendor of which nothing is left is unknown again.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log1p
from typing import TYPE_CHECKING, cast

import numpy as np

from masim.arrays import F32, F64
from masim.memory import render, update
from masim.memory.config import MemoryConfig
from masim.memory.graph import Edge, EdgeKey, node
from masim.memory.query import recalled
from masim.memory.update import half_life_s
from masim.memory.vendor_features import VENDOR_COLUMNS, VendorKeys, vendor_rows
from masim.memory.views.base import Setting

if TYPE_CHECKING:
    from masim.memory.memory import MemoryEvent

CARRIED = "carried"
"""vendor -> task of one episode: one truck, on time or late."""
_COLUMN = {name: i for i, name in enumerate(VENDOR_COLUMNS)}
Trucks = tuple[F64, F64, F64]
"""Of one vendor's trucks: time of the last touch, 1 / half-life, and +1 for each success, -1 for each failure."""


class EvidenceView:
    """Reads what is kept of single deliveries; everything else is the profile graph's."""

    flat = False

    def __init__(self, setting: Setting) -> None:
        self._graph = setting.graph
        self._config = setting.config
        self._episode = setting.episode
        self._heard = 0
        self._stamp = (-1, 0)
        self._trucks: dict[str, Trucks] = {}

    @classmethod
    def make(cls, setting: Setting, size: int) -> EvidenceView:
        """Return the view of one agent."""
        return cls(setting)

    def hear(self, event: MemoryEvent) -> None:
        """Note a truck that came in time or late, as an edge of its own."""
        if event.kind not in ("delivered", "missed") or not event.vendor or not event.order:
            return
        key: EdgeKey = (node("vendor", event.vendor), CARRIED, node("task", f"{event.order}@{self._episode}"))
        new = self._graph.get(key) is None
        edge = update.touch(self._graph, key, event.t_s, self._config, new)._replace(w=1.0)
        good = event.kind == "delivered"
        update.count(self._graph, edge, float(good), float(not good))
        self._heard += 1

    def rows(self, keys: Sequence[VendorKeys], now_s: float) -> F32:
        """Return the profile's columns, with those about success and failure taken from the single deliveries."""
        rows = vendor_rows(self._graph, keys, now_s, self._config)
        for row, own in zip(rows, keys, strict=True):
            good, bad = self.counts(own[0][2], now_s)
            word = (good + 1.0) / (good + bad + 2.0)
            row[_COLUMN["known"]] = float(good + bad > 0.0)
            row[_COLUMN["success"]] = row[_COLUMN["kept_word"]] = word
            row[_COLUMN["trials"]] = min(2.0, log1p(good + bad) / 3.0)
            row[_COLUMN["missed"]] = bad / (1.0 + bad)
        return rows

    def counts(self, vendor_id: str, now_s: float) -> tuple[float, float]:
        """Return the decayed numbers of trucks on time and late that are remembered of a vendor node."""
        last_s, rate, sign = self._of(vendor_id)
        if not len(sign):
            return 0.0, 0.0
        worth = sign * np.exp2(-np.maximum(0.0, now_s - last_s) * rate)
        return float(worth[worth > 0.0].sum()), float(-worth[worth < 0.0].sum())

    def _of(self, vendor_id: str) -> Trucks:
        stamp = (len(self._graph.log), self._heard)
        if self._stamp != stamp:
            self._stamp = stamp
            self._trucks = self._committed() if stamp == (0, 0) else {}
        found = self._trucks.get(vendor_id)
        if found is None:
            found = self._trucks[vendor_id] = trucks(self._graph.out(vendor_id), self._config)
        return found

    def _committed(self) -> dict[str, Trucks]:
        """Return what is known of the frozen version, shared by all overlays as long as they agree with it."""
        found = self._graph.base.cache.setdefault("trucks", {})
        return cast(dict[str, Trucks], found)

    def refresh(self) -> None:
        """Read the graph anew."""
        self._heard += 1

    def card(self, entities: Sequence[str], now_s: float) -> str:
        """Return the card of the profile graph."""
        return render.card(self._graph, entities, now_s, self._config)

    def recalled(self, entities: Sequence[str], k: int, now_s: float) -> list[str]:
        """Return the vendors of the ``k`` best edges that are an agent's or a shipper's own success with a vendor."""
        return recalled(self._graph, k, now_s, self._config, entities)

    def digest_parts(self) -> tuple[object, ...]:
        """Return nothing: the long-run edges tell states apart."""
        return ()


def trucks(edges: Sequence[Edge], config: MemoryConfig) -> Trucks:
    """Return a vendor's deliveries as arrays; a task with several legs by the same vendor counts each of them."""
    rows: list[tuple[float, float, float]] = []
    for edge in edges:
        if edge.rel == CARRIED:
            rate = 1.0 / half_life_s(edge, config)
            rows += [(edge.last_s, rate, edge.successes)] if edge.successes else []
            rows += [(edge.last_s, rate, -edge.failures)] if edge.failures else []
    table = np.array(rows, dtype=np.float64).reshape(len(rows), 3)
    return table[:, 0], table[:, 1], table[:, 2]
