"""The memory that one agent carries through one rollout: structured events in; columns, features and text out.

A :class:`Memory` is a private overlay on a committed version. Nothing it learns reaches another rollout or agent
until :meth:`masim.memory.book.MemoryBook.commit` makes it the next version.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor

from masim.arrays import F32
from masim.errors import ConfigError
from masim.memory import render, update
from masim.memory.config import MemoryConfig
from masim.memory.features import LAYOUT, FeatureView, check_layout
from masim.memory.forget.base import ForgetReport, Truth
from masim.memory.forget.registry import check_policy
from masim.memory.forget.sweep import sweep
from masim.memory.graph import EMPTY, Edge, EdgeKey, ForgetRecord, FrozenGraph, GraphDelta, ProfileGraph, node
from masim.memory.query import recalled, success
from masim.memory.relevance import check_relevance
from masim.memory.vendor_features import VendorKeys, incident, vendor_keys, vendor_rows
from masim.memory.views.base import Setting
from masim.memory.views.registry import make_view
from masim.rng import digest64
from masim.units import DAY, HOUR

KEY_ENTITIES = 16
KEY_BUCKET_S = 6 * HOUR
_WEIGHT_STEPS = (0.15, 0.5, 1.0, 2.0)


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """Something that happened to the agent, as structured fields; texts never decide what is stored.

    ``kind`` is one of :data:`KINDS`: ``used`` (the agent relied on vendor and verb for an order), ``accepted``,
    ``refused`` (the shipper does not take the vendor), ``rejected``, ``delivered`` and ``missed`` (a truck on time,
    or late), ``error`` (5xx or timeout), ``replaced`` (``detail`` names the vendor's successor). For ``accepted``,
    ``detail`` may name the leg, so that each leg of an order has its own server.
    """

    kind: str
    t_s: float
    vendor: str = ""
    verb: str = ""
    order: str = ""
    shipper: str = ""
    ok: bool = True
    detail: str = ""


class Memory:
    """Private overlay of one agent in one rollout, O(1) to create. Raises ConfigError on unknown names."""

    def __init__(
        self, agent: str, base: FrozenGraph | None, config: MemoryConfig, now_s: float, truth: Truth | None = None
    ) -> None:
        """Lay an overlay on a version. ``truth`` is for the rule ``oracle``, which needs one, and nobody else."""
        check_policy(config.policy, truth)
        check_relevance(config.relevance)
        self._truth = truth
        self.agent = agent
        self.config = config
        self.started_s = now_s
        self.graph = ProfileGraph(base if base is not None else EMPTY)
        self.version = self.graph.base.version
        self._id = node("agent", agent)
        self._touched: set[EdgeKey] = set()
        self._path: dict[EdgeKey, None] = {}
        self._vendors_of: dict[str, dict[str, None]] = {}
        self._shipper_of: dict[str, str] = {}
        self._open: dict[str, None] = {}
        self._focus: tuple[str, ...] = ()
        self._keys: dict[tuple[str, str], VendorKeys] = {}
        self._features = FeatureView(config.half_life_s)
        self._key: tuple[int, int, int] = (-1, 0, 0)
        self._rows: dict[str, tuple[object, ...]] = {}
        self._rows_at_s = now_s
        self._since_sweep = 0
        self.view = make_view(config.view, Setting(self.graph, self._id, config, floor(now_s / config.episode_s)))
        """How the memory is looked at; None: as the profile graph shows itself."""

    def observe(self, event: MemoryEvent) -> None:
        """Take in one event. Raises ConfigError for an unknown kind."""
        handler = _HANDLERS.get(event.kind)
        if handler is None:
            raise ConfigError("unknown memory event", "MemoryEvent.kind", event.kind, ", ".join(KINDS))
        if self.view is not None:
            self.view.hear(event)
            if self.view.flat:
                return
        handler(self, event)
        self._rows.pop(node("vendor", event.vendor), None)
        self._since_sweep += 1
        if self._since_sweep >= self.config.sweep_every:
            self._sweep(event.t_s)

    def feedback(self, value: float, now_s: float) -> None:
        """Book a unit's raw outcome (in [0, 1]) on the path used since the last feedback."""
        path, self._path = self._path, {}
        self._rows.clear()
        for key in path:
            update.credit(self.graph, key, value, now_s, self.config)

    def end_episode(self, now_s: float) -> ForgetReport:
        """Close open tasks and forget by the configured rule."""
        self._open.clear()
        return self._sweep(now_s)

    def forget_log(self) -> tuple[ForgetRecord, ...]:
        """Return what was closed or forgotten since the base version, oldest first."""
        return tuple(self.graph.log)

    def restore(self, key: EdgeKey) -> bool:
        """Take an archived edge back; False when neither this overlay nor its base has it in the archive."""
        self._rows.clear()
        found = self.graph.restore(key)
        if self.view is not None:
            self.view.refresh()
        return found

    def delta(self) -> GraphDelta:
        """Return what this overlay changed, as values that may cross processes."""
        return self.graph.delta()

    def vendor_features(self, vendors: Sequence[str], shipper: str, now_s: float) -> F32:
        """Return (V, VENDOR_F) float32; see :data:`masim.memory.vendor_features.VENDOR_COLUMNS`."""
        keys = [self._vendor(v, shipper) for v in vendors]
        if self.view is not None:
            return self.view.rows(keys, now_s)
        return vendor_rows(self.graph, keys, now_s, self.config)

    def features(self, now_s: float, entities: Sequence[str] = (), version: int = LAYOUT) -> F32:
        """Return (FEATURES,) float32; without node ids the last event's entities are the ones in play.

        Raises ConfigError for a layout that does not exist.
        """
        check_layout(version)
        return self._features.read(self.graph, now_s, entities or self._focus)

    def card(self, entities: Sequence[str], now_s: float) -> str:
        """Return the text view for node ids such as ``node("vendor", name)``."""
        if self.view is not None:
            return self.view.card(entities, now_s)
        return render.card(self.graph, entities, now_s, self.config)

    def recalled(self, entities: Sequence[str], k: int, now_s: float) -> list[str]:
        """Return the vendor nodes that the ``k`` best items at some nodes speak well of, best first."""
        if self.view is not None:
            return self.view.recalled(entities, k, now_s)
        return recalled(self.graph, k, now_s, self.config, entities)

    def key(self, now_s: float) -> int:
        """Return a 64-bit digest of the ranked vendors with bucketed weights and ages, and the live refusals.

        Decayed floats never repeat; this value does, so that decisions under like memories can be compared.
        """
        bucket = floor(now_s / KEY_BUCKET_S)
        if self._key[:2] != (self.graph.revision, bucket):
            self._key = (self.graph.revision, bucket, self._digest(bucket * KEY_BUCKET_S))
        return self._key[2]

    def _digest(self, now_s: float) -> int:
        rows = self._rows
        if self._rows_at_s != now_s:
            rows.clear()
            self._rows_at_s = now_s
        for edge in self.graph.out(self._id):
            if edge.rel == update.RELIES_ON and edge.dst not in rows:
                rows[edge.dst] = self._bucketed(edge, now_s)
        seen = () if self.view is None else self.view.digest_parts()
        return digest64(*sorted(rows.values())[:KEY_ENTITIES], *seen)

    def _bucketed(self, edge: Edge, now_s: float) -> tuple[object, ...]:
        """Return what the key says of one vendor: levels of weight, success and age, its name, what speaks against."""
        w = update.effective_weight(edge, now_s, self.config)
        level = sum(w >= step for step in _WEIGHT_STEPS)
        days = min(3, int(max(0.0, now_s - edge.last_s) / DAY))
        facts = [e.dst for e in self.graph.out(edge.dst) if e.rel == update.HAD and e.alive(now_s)]
        facts += [e.src for e in self.graph.into(edge.dst) if e.rel == update.REFUSES and e.alive(now_s)]
        return (-level, -int(4 * success(edge)), days, edge.dst, *sorted(facts))

    def _vendor(self, vendor: str, shipper: str) -> VendorKeys:
        pair = (vendor, shipper)
        found = self._keys.get(pair)
        if found is None:
            found = self._keys[pair] = vendor_keys(self._id, vendor, shipper)
        return found

    def _sweep(self, now_s: float) -> ForgetReport:
        self._since_sweep = 0
        self._rows.clear()
        if self.view is not None and self.view.flat:
            return ForgetReport((), sum(1 for _ in self.graph), len(self.graph.nodes()))
        return sweep(self.graph, now_s, self.config, self._open, truth=self._truth)

    def _first(self, key: EdgeKey) -> bool:
        """Whether this is the edge's first use in this episode (an overlay lives for one episode)."""
        new = key not in self._touched
        self._touched.add(key)
        return new

    def _touch(self, key: EdgeKey, now_s: float) -> Edge:
        return update.touch(self.graph, key, now_s, self.config, self._first(key))

    def _state(self, key: EdgeKey, now_s: float, ttl_s: float = 0.0) -> None:
        update.state(self.graph, key, now_s, self.config, self._first(key), ttl_s)

    def _on_used(self, event: MemoryEvent) -> None:
        at, t_s = node("vendor", event.vendor), event.t_s
        keys: list[EdgeKey] = [(self._id, update.RELIES_ON, at)]
        if event.verb:
            tool = node("tool", event.verb)
            keys += [(self._id, update.CALLS, tool), (tool, update.AT, at)]
        if event.shipper:
            user = node("user", event.shipper)
            keys.append((user, update.BOOKS, at))
            self._focus = (at, user)
        if event.order:
            keys.append((self._open_task(event), update.VIA, at))
        for key in keys:
            self._touch(key, t_s)
            self._path[key] = None

    def _open_task(self, event: MemoryEvent) -> str:
        task = node("task", event.order)
        self._open[task] = None
        self._vendors_of.setdefault(event.order, {})[event.vendor] = None
        if event.shipper:
            self._shipper_of[event.order] = event.shipper
        return task

    def _on_accepted(self, event: MemoryEvent) -> None:
        keys = self._vendor(event.vendor, event.shipper)
        if event.shipper:
            update.close(self.graph, keys[4], event.t_s)
        if event.order:
            leg = f"{event.order}#{event.detail}" if event.detail else event.order
            self._state((node("task", leg), update.SERVED_BY, keys[0][2]), event.t_s)

    def _on_refused(self, event: MemoryEvent) -> None:
        self._state(self._vendor(event.vendor, event.shipper)[4], event.t_s, self.config.refusal_ttl_s)

    def _on_rejected(self, event: MemoryEvent) -> None:
        self._incident("rejected", event, self.config.trouble_ttl_s)

    def _on_error(self, event: MemoryEvent) -> None:
        self._incident("error", event, self.config.trouble_ttl_s)

    def _on_delivered(self, event: MemoryEvent) -> None:
        shipper = event.shipper or self._shipper_of.get(event.order, "")
        for vendor in [event.vendor] if event.vendor else self._vendors_of.get(event.order, {}):
            keys = self._vendor(vendor, shipper)
            self._rows.pop(keys[0][2], None)
            for key in (keys[0], keys[5]) if shipper else (keys[0],):
                update.count(self.graph, self._touch(key, event.t_s), successes=1.0)

    def _on_missed(self, event: MemoryEvent) -> None:
        edge, new = self._incident("missed", event, self.config.missed_ttl_s)
        gate = self.config.failure_episodes
        if edge.episodes >= gate:
            failures = edge.n if new and edge.episodes == gate else 1.0
            long_run = self._vendor(event.vendor, event.shipper)[0]
            update.fail_late(self.graph, long_run, failures, event.t_s, self.config)

    def _incident(self, kind: str, event: MemoryEvent, ttl_s: float) -> tuple[Edge, bool]:
        """Count an incident; one that outlived its time without a sweep starts again from nothing.

        Also tells whether it is the first of its kind in this episode.
        """
        key: EdgeKey = (node("vendor", event.vendor), update.HAD, incident(kind, event.vendor))
        old = self.graph.get(key)
        if old is not None and not old.alive(event.t_s):
            self.graph.remove(key, "ttl", 0.0, event.t_s)
        new = self._first(key)
        edge = update.touch(self.graph, key, event.t_s, self.config, new, ttl_s)
        edge = edge._replace(n=edge.n + 1.0)
        self.graph.put(edge)
        return edge, new

    def _on_replaced(self, event: MemoryEvent) -> None:
        old, new = node("vendor", event.vendor), node("vendor", event.detail)
        self._rows.clear()
        update.replace_vendor(self.graph, old, new, self._id, event.t_s, self.config)


_HANDLERS: dict[str, Callable[[Memory, MemoryEvent], None]] = {
    "used": Memory._on_used,
    "accepted": Memory._on_accepted,
    "refused": Memory._on_refused,
    "rejected": Memory._on_rejected,
    "delivered": Memory._on_delivered,
    "missed": Memory._on_missed,
    "error": Memory._on_error,
    "replaced": Memory._on_replaced,
}
KINDS = tuple(_HANDLERS)
