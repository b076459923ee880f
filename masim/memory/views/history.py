"""``history(K)``: no graph at all, a sliding window of the last K events. The view that every other one has to beat.

The window is kept as edges ``user kind@number vendor``, so that versions, overlays, commits and stores hold it like
any other memory. Nothing in it decays: an event counts fully until K newer ones have come.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice
from math import log1p
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from masim.arrays import F32
from masim.memory.graph import Edge, FrozenGraph, node
from masim.memory.render import TOKENS, ago, quoted, tokens
from masim.memory.vendor_features import VENDOR_COLUMNS, VENDOR_F, VendorKeys
from masim.memory.views.base import Setting
from masim.units import DAY

if TYPE_CHECKING:
    from masim.memory.memory import MemoryEvent

AT = "@"
GOOD, BAD = ("delivered",), ("missed",)
TROUBLE = ("error", "rejected")
_SHARE = VENDOR_COLUMNS.index("share")


class Past(NamedTuple):
    """One event of the window."""

    number: int
    kind: str
    vendor: str
    """Node ids."""
    shipper: str
    t_s: float


class HistoryView:
    """The last ``size`` events of one agent."""

    flat = True

    def __init__(self, setting: Setting, size: int) -> None:
        self._graph = setting.graph
        self._config = setting.config
        self._agent_id = setting.agent_id
        self._size = size
        self._window: deque[Past] = deque(read_window(setting.graph.base))

    @classmethod
    def make(cls, setting: Setting, size: int) -> HistoryView:
        """Return the view of one agent."""
        return cls(setting, size)

    def hear(self, event: MemoryEvent) -> None:
        """Append the event; the oldest one leaves a full window."""
        number = self._window[-1].number + 1 if self._window else 0
        shipper = node("user", event.shipper) if event.shipper else self._agent_id
        past = Past(number, event.kind, node("vendor", event.vendor), shipper, event.t_s)
        self._window.append(past)
        good, bad = float(event.kind in GOOD), float(event.kind in BAD)
        t_s = event.t_s
        edge = Edge(*_key(past), 1.0, t_s, t_s, good + bad, good, bad, 1, t_s)
        self._graph.put(edge)
        while len(self._window) > self._size:
            self._graph.remove(_key(self._window.popleft()), "window", 0.0, t_s)

    def rows(self, keys: Sequence[VendorKeys], now_s: float) -> F32:
        """Return what the window says of each vendor, in the columns that all views share."""
        rows = [self._row(own[0][2], own[5][0], now_s) for own in keys]
        total = sum(row[_SHARE] for row in rows)
        for row in rows:
            row[_SHARE] /= total or 1.0
        return np.array(rows, dtype=np.float32).reshape(len(rows), VENDOR_F)

    def _row(self, vendor: str, shipper: str, now_s: float) -> list[float]:
        seen = [past for past in self._window if past.vendor == vendor]
        if not seen:
            return [0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.5, 0.0, 2.0]
        own = [past for past in seen if past.shipper == shipper]
        good, bad, trouble = _count(seen, GOOD), _count(seen, BAD), _count(seen, TROUBLE)
        word = (good + 1.0) / (good + bad + 2.0)
        own_word = (_count(own, GOOD) + 1.0) / (_count(own, (*GOOD, *BAD)) + 2.0)
        config = self._config
        w = min(1.0, config.touch * len(seen) + config.credit * good)
        said = [past.kind for past in own if past.kind in ("accepted", "refused")]
        refused = float(bool(said) and said[-1] == "refused")
        age = min(2.0, max(0.0, now_s - seen[-1].t_s) / DAY)
        trials = min(2.0, log1p(good + bad) / 3.0)
        parts = [1.0, word, w, trials, bad / (1.0 + bad), trouble / (1.0 + trouble), word, refused, own_word]
        return [*parts, float(len(seen)), age]

    def card(self, entities: Sequence[str], now_s: float) -> str:
        """Return the newest events as lines, as many as the token budget holds."""
        lines: list[str] = []
        budget = TOKENS
        for past in reversed(self._window):
            line = f"- {past.kind} {quoted(past.vendor)} for {quoted(past.shipper)}, {ago(now_s - past.t_s)}"
            budget -= tokens(line)
            if budget < 0:
                break
            lines.append(line)
        return "\n".join(lines)

    def recalled(self, entities: Sequence[str], k: int, now_s: float) -> list[str]:
        """Return the vendors that delivered in the ``k`` newest events at the nodes."""
        here = [past for past in reversed(self._window) if past.shipper in entities or past.vendor in entities]
        return [past.vendor for past in islice(here, k) if past.kind in GOOD]

    def refresh(self) -> None:
        """Do nothing: what left the window stays out of it."""

    def digest_parts(self) -> tuple[object, ...]:
        """Return the window without its times, which never repeat."""
        return tuple(part for past in self._window for part in past[1:4])


def _key(past: Past) -> tuple[str, str, str]:
    return past.shipper, f"{past.kind}{AT}{past.number:08d}", past.vendor


def _count(seen: Iterable[Past], kinds: Sequence[str]) -> int:
    return sum(past.kind in kinds for past in seen)


def read_window(base: FrozenGraph) -> list[Past]:
    """Return the window of a frozen version, oldest first."""
    built = base.cache.get("window")
    if built is None:
        parts = ((edge, *edge.rel.partition(AT)) for edge in base.edges.values())
        built = sorted(Past(int(n), kind, edge.dst, edge.src, edge.last_s) for edge, kind, at, n in parts if at)
        base.cache["window"] = built
    return cast(list[Past], built)
