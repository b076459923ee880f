"""The profile graph of one agent: frozen versions, and cheap private overlays on them.

Life cycle: a :class:`FrozenGraph` is one committed version and never changes. A rollout writes a
:class:`ProfileGraph`, whose creation is O(1): it refers to the base and holds only what it changed. Its
:meth:`~ProfileGraph.delta` applied to the base gives the next version. Nodes are ``"kind|name"`` strings and exist as
long as an edge touches them; all knowledge lies on the edges.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from masim.memory.table import EdgeTable

if TYPE_CHECKING:
    import networkx as nx

NODE_KINDS = ("agent", "user", "task", "tool", "vendor", "strategy", "incident")
ARCHIVE_IN_MEMORY = 512
NEVER = math.inf

EdgeKey = tuple[str, str, str]
"""``(source, relation, target)``."""


class Edge(NamedTuple):
    """One fact or habit; an immutable value. Times are simulated seconds."""

    src: str
    rel: str
    dst: str
    w: float
    """Weight at ``last_s``; read it through :func:`masim.memory.update.effective_weight`."""
    last_s: float
    first_s: float
    n: float = 0.0
    """Outcomes booked on the edge (for incidents and refusals: times seen). Halves come from inherited priors."""
    successes: float = 0.0
    failures: float = 0.0
    episodes: int = 0
    """Distinct episodes that touched the edge."""
    valid_at_s: float = 0.0
    invalid_at_s: float = NEVER
    pin: bool = False
    ttl_s: float = 0.0
    """Life after the last touch; 0 for edges that live by their score."""

    @property
    def key(self) -> EdgeKey:
        """Identity of the edge in its graph."""
        return (self.src, self.rel, self.dst)

    def alive(self, now_s: float) -> bool:
        """Whether the edge is valid and within its time to live."""
        return self.invalid_at_s > now_s and (self.ttl_s <= 0.0 or now_s - self.last_s <= self.ttl_s)


class ForgetRecord(NamedTuple):
    """One line of the forget log and of the archive."""

    edge: Edge
    rule: str
    """Which clause removed it, or ``closed`` for a fact that a newer one replaced."""
    score: float
    at_s: float


@dataclass(frozen=True, slots=True)
class GraphDelta:
    """What one overlay changed, as absolute values: applying it twice is applying it once."""

    edges: tuple[Edge, ...] = ()
    removed: tuple[EdgeKey, ...] = ()
    archived: tuple[ForgetRecord, ...] = ()


def node(kind: str, name: str) -> str:
    """Return the id of a node."""
    return f"{kind}|{name}"


def kind_of(node_id: str) -> str:
    """Return the kind of a node id."""
    return node_id.partition("|")[0]


def name_of(node_id: str) -> str:
    """Return the name of a node id, exactly as the vendor or scenario gave it (untrusted text)."""
    return node_id.partition("|")[2]


Adjacency = dict[str, list[EdgeKey]]


def _adjacency(edges: Iterable[EdgeKey]) -> tuple[Adjacency, Adjacency]:
    out: Adjacency = {}
    into: Adjacency = {}
    for key in edges:
        out.setdefault(key[0], []).append(key)
        into.setdefault(key[2], []).append(key)
    return out, into


@dataclass(frozen=True, slots=True)
class FrozenGraph:
    """One committed version: read only, shared by every overlay. Edges are ordered by key."""

    edges: dict[EdgeKey, Edge] = field(default_factory=dict)
    archived: dict[EdgeKey, ForgetRecord] = field(default_factory=dict)
    """The newest closed or forgotten edges, for :meth:`ProfileGraph.restore`; the store keeps all."""
    version: int = 0
    out: Adjacency = field(default_factory=dict)
    into: Adjacency = field(default_factory=dict)
    cache: dict[str, object] = field(default_factory=dict, compare=False, repr=False)
    """Derived read-only values (feature columns), filled on first use."""

    @classmethod
    def of(cls, edges: Iterable[Edge], archived: Iterable[ForgetRecord] = (), version: int = 0) -> FrozenGraph:
        """Build a version from values in any order."""
        ordered = {edge.key: edge for edge in sorted(edges)}
        kept: dict[EdgeKey, ForgetRecord] = {}
        for record in archived:
            kept.pop(record.edge.key, None)
            kept[record.edge.key] = record
        for key in list(kept)[: max(0, len(kept) - ARCHIVE_IN_MEMORY)]:
            del kept[key]
        return cls(ordered, kept, version, *_adjacency(ordered))

    def apply(self, delta: GraphDelta, version: int) -> FrozenGraph:
        """Return the next version."""
        merged = dict(self.edges)
        for key in delta.removed:
            merged.pop(key, None)
        merged.update((edge.key, edge) for edge in delta.edges)
        archived = [*self.archived.values(), *delta.archived]
        return FrozenGraph.of(merged.values(), archived, version)


EMPTY = FrozenGraph()


class ProfileGraph:
    """A private overlay on a frozen version: the one mutable graph. Reads see the overlay first, then the base."""

    __slots__ = ("_base_edges", "_edges", "_into", "_note", "_out", "_tables", "base", "log", "revision")

    def __init__(self, base: FrozenGraph = EMPTY) -> None:
        self.base = base
        self.revision = 0
        """Grows with every change; caches compare it."""
        self.log: list[ForgetRecord] = []
        """Closed and forgotten edges since the base, oldest first."""
        self._base_edges = base.edges
        self._edges: dict[EdgeKey, Edge | None] = {}
        self._out: Adjacency = {}
        self._into: Adjacency = {}
        self._tables: tuple[float, EdgeTable] | None = None
        self._note: Callable[[EdgeKey, Edge | None], None] | None = None
        """Tells the table of every change, once somebody has asked for one."""

    def get(self, key: EdgeKey) -> Edge | None:
        """Return the edge, or None when there is none."""
        own = self._edges
        return own[key] if key in own else self._base_edges.get(key)

    def put(self, edge: Edge) -> None:
        """Insert or overwrite an edge."""
        key = edge[:3]
        if key not in self._edges and key not in self._base_edges:
            self._out.setdefault(key[0], []).append(key)
            self._into.setdefault(key[2], []).append(key)
        self._edges[key] = edge
        self.revision += 1
        if self._note is not None:
            self._note(key, edge)

    def overwrite(self, key: EdgeKey, edge: Edge) -> None:
        """Do as :meth:`put` does, for an edge that is there."""
        self._edges[key] = edge
        self.revision += 1
        if self._note is not None:
            self._note(key, edge)

    def remove(self, key: EdgeKey, rule: str, score: float, now_s: float) -> None:
        """Move an edge to the archive; nothing happens when it is not there."""
        edge = self.get(key)
        if edge is None:
            return
        self._edges[key] = None
        self.revision += 1
        if self._note is not None:
            self._note(key, None)
        self.log.append(ForgetRecord(edge, rule, score, now_s))

    def restore(self, key: EdgeKey) -> bool:
        """Put the newest archived value of an edge back, still valid; False when the archive does not hold it."""
        found = next((r for r in reversed(self.log) if r.edge.key == key), self.base.archived.get(key))
        if found is None:
            return False
        self.put(found.edge._replace(invalid_at_s=NEVER))
        return True

    def out(self, node_id: str) -> list[Edge]:
        """Return the edges that leave a node."""
        return self._live(self.base.out.get(node_id, ()), self._out.get(node_id, ()))

    def into(self, node_id: str) -> list[Edge]:
        """Return the edges that enter a node."""
        return self._live(self.base.into.get(node_id, ()), self._into.get(node_id, ()))

    def keys_at(self, node_id: str) -> Iterator[EdgeKey]:
        """Yield the keys of the edges at a node, removed ones included."""
        for links in (self.base.out, self._out, self.base.into, self._into):
            yield from links.get(node_id, ())

    def _live(self, base_keys: Iterable[EdgeKey], own_keys: Iterable[EdgeKey]) -> list[Edge]:
        found = [self.get(key) for key in base_keys]
        found += [self._edges[key] for key in own_keys]
        return [edge for edge in found if edge is not None]

    def __iter__(self) -> Iterator[Edge]:
        own = self._edges
        for key, edge in self._base_edges.items():
            if key not in own:
                yield edge
        for changed in own.values():
            if changed is not None:
                yield changed

    def nodes(self) -> set[str]:
        """Return every node that an edge touches."""
        found: set[str] = set()
        for edge in self:
            found.add(edge.src)
            found.add(edge.dst)
        return found

    def table(self, half_life_s: float) -> EdgeTable:
        """Return the edges as arrays, up to date. A graph has one half-life: another one begins a table anew."""
        if self._tables is None or self._tables[0] != half_life_s:
            made = EdgeTable.of(self.base, half_life_s).copy()
            made.update(self._edges)
            self._tables, self._note = (half_life_s, made), made.note
        return self._tables[1]

    def delta(self) -> GraphDelta:
        """Return what changed since the base, ordered by key."""
        keys = sorted(self._edges)
        edges = tuple(edge for key in keys if (edge := self._edges[key]) is not None)
        gone = tuple(key for key in keys if self._edges[key] is None and key in self._base_edges)
        return GraphDelta(edges, gone, tuple(self.log))

    def to_networkx(self) -> nx.MultiDiGraph[str]:
        """Return a networkx copy (a DiGraph that keys parallel edges by relation), for analysis and drawing."""
        import networkx as nx

        graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        for edge in sorted(self):
            for end in (edge.src, edge.dst):
                graph.add_node(end, kind=kind_of(end), name=name_of(end))
            graph.add_edge(edge.src, edge.dst, key=edge.rel, **edge._asdict())
        return graph
