"""A store over a graph database: every edge is there with the versions between which it held.

An edge holds from its ``version`` up to, not including, ``until``; the newest one is open. The head of a graph says
which version is acknowledged, and nothing later than the head is ever read. So a batch becomes visible by one change
of the head, however many statements it took, and what a killed writer left behind is wiped by the next claim. A
database is a subclass with its statements and three methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from masim.errors import StoreError
from masim.memory.graph import ARCHIVE_IN_MEMORY, Edge, EdgeKey, ForgetRecord, FrozenGraph, GraphDelta, kind_of, name_of
from masim.memory.store.base import Head, Writer
from masim.memory.store.codec import plain, read_edge, read_record, write_edge, write_record

OPEN = 2**53 - 1
"""``until`` of an edge that holds now; the largest integer that every database and JSON keep exactly."""
ROWS_PER_STATEMENT = 1000
READ_TRIES = 5

T = TypeVar("T")
Parameters = Mapping[str, Any]
Row = dict[str, Any]


class Statement(NamedTuple):
    """One statement and its parameters; no text of the memory is ever part of the statement itself."""

    text: str
    parameters: Parameters


@dataclass(frozen=True, slots=True)
class Dialect:
    """The statements of one query language. Each takes the parameters named here and no others.

    Those that write take ``agent`` and ``owner`` too, and write nothing unless the graph's head names that owner.
    """

    put_nodes: str
    """rows {id, kind, name}"""
    close_edges: str
    """version, open, rows {src, rel, dst}: edges of older versions end at ``version``"""
    put_edges: str
    """version, open, rows {src, rel, dst, w, data}"""
    put_archive: str
    """version, rows {id, position, data}"""
    edges: str
    """agent, version -> data"""
    top: str
    """id, version, k -> data"""
    archive: str
    """agent, version, k -> data, newest first"""
    wipe: tuple[str, ...]
    """version: everything later than ``version`` goes"""
    reopen: str
    """version, open: edges that ended later than ``version`` hold again"""
    compact: str
    """keep: edges that ended up to ``keep`` go"""
    sweep_nodes: str
    """Nodes without edges go."""


Plan = Callable[[Mapping[str, Head]], tuple[list[Statement], dict[str, Head]]]
"""From the heads as they are to the statements and the heads to write. May be called again when a write collides."""


class TemporalStore(ABC):
    """A :class:`masim.memory.store.base.GraphStore` over versioned edges; what databases have in common."""

    def __init__(self, dialect: Dialect, where: str) -> None:
        self.where = where
        self._dialect = dialect
        self._writer = Writer()
        self._owned: dict[str, bool] = {}
        """Graphs of this writer; False where a write failed and may have left something beyond the head."""
        self._open = True

    @abstractmethod
    def _change(self, agents: Sequence[str], plan: Plan) -> None:
        """Write a plan: its statements first, then its heads together, and those only if nobody changed them since."""

    @abstractmethod
    def _read(self, statement: Statement) -> list[str]:
        """Return the first column of what a statement finds."""

    @abstractmethod
    def _head(self, agent: str) -> Head:
        """Return the head of one graph."""

    @abstractmethod
    def _disconnect(self) -> None:
        """Close the connection."""

    def claim(self, agent: str) -> Head:
        """Own a graph from now on, and wipe what its last owner began and did not finish."""
        self._require_open()
        return self._own([agent], lambda found: None)[agent]

    def _own(self, agents: Sequence[str], check: Callable[[Mapping[str, Head]], None]) -> dict[str, Head]:
        """Own graphs and wipe what is beyond their heads; ``check`` may refuse them as they are."""
        heads: dict[str, Head] = {}

        def plan(found: Mapping[str, Head]) -> tuple[list[Statement], dict[str, Head]]:
            check(found)
            heads.update((agent, found[agent]._replace(owner=self._writer.name)) for agent in agents)
            return [], heads

        self._change(agents, plan)
        self._owned.update(dict.fromkeys(agents, False))
        for agent, head in heads.items():
            self._wipe(agent, head.version)
            self._owned[agent] = True
        return heads

    def _wipe(self, agent: str, version: int) -> None:
        parameters = {**self._mine(agent), "version": version}
        wiped = [Statement(text, parameters) for text in self._dialect.wipe]
        wiped.append(Statement(self._dialect.reopen, {**parameters, "open": OPEN}))
        self._write(agent, wiped)

    def _write(self, agent: str, statements: list[Statement]) -> None:
        """Write to a graph without moving its head."""

        def plan(found: Mapping[str, Head]) -> tuple[list[Statement], dict[str, Head]]:
            self._writer.check_owner(found[agent], agent, self.where)
            return statements, {}

        self._change([agent], plan)

    def _mine(self, agent: str) -> dict[str, Any]:
        return {"agent": agent_id(agent), "owner": self._writer.name}

    def apply(self, agent: str, batch: GraphDelta, version: int) -> None:
        """Store one agent's batch."""
        self.apply_all({agent: batch}, version)

    def apply_all(self, batches: Mapping[str, GraphDelta], version: int) -> None:
        """Store the batches of several agents; they become visible together. Raises StoreError as the protocol says."""
        statements = [s for agent, batch in batches.items() for s in self._written(agent, batch, version)]

        def check(found: Mapping[str, Head]) -> None:
            for agent in batches:
                self._writer.check(found[agent], agent, version, self.where)

        def plan(found: Mapping[str, Head]) -> tuple[list[Statement], dict[str, Head]]:
            check(found)
            return statements, {a: Head(version, self._writer.name, self._writer.stamp()) for a in batches}

        self._require_open()
        agents = list(batches)
        if not all(self._owned.get(agent, False) for agent in agents):
            self._own(agents, check)
        self._owned.update(dict.fromkeys(agents, False))
        self._change(agents, plan)
        self._owned.update(dict.fromkeys(agents, True))

    def _written(self, agent: str, batch: GraphDelta, version: int) -> Iterator[Statement]:
        """Yield the statements of a batch: nodes first, then what lies between them."""
        at = {**self._mine(agent), "version": version}
        ends = {end: None for edge in batch.edges for end in (edge.src, edge.dst)}
        keys = [edge.key for edge in batch.edges] + list(batch.removed)
        yield from _chunks(self._dialect.put_nodes, self._mine(agent), [_node_row(agent, end) for end in ends])
        yield from _chunks(self._dialect.close_edges, {**at, "open": OPEN}, [_key_row(agent, key) for key in keys])
        edges = [{**_key_row(agent, edge.key), "w": float(edge.w), "data": write_edge(edge)} for edge in batch.edges]
        yield from _chunks(self._dialect.put_edges, {**at, "open": OPEN}, edges)
        archived = [
            {"id": f"{agent_id(agent)}|{version}|{i}", "position": i, "data": write_record(record)}
            for i, record in enumerate(batch.archived)
        ]
        yield from _chunks(self._dialect.put_archive, at, archived)

    def load(self, agent: str) -> FrozenGraph:
        """Return the newest version of an agent; empty and of version 0 when it is unknown."""

        def read(head: Head) -> FrozenGraph:
            found = self._read(Statement(self._dialect.edges, {"agent": agent_id(agent), "version": head.version}))
            archived = self._archived(agent, head, ARCHIVE_IN_MEMORY)
            return FrozenGraph.of(map(read_edge, found), archived, head.version)

        return self._steadily(agent, read)

    def _archived(self, agent: str, head: Head, newest: int) -> list[ForgetRecord]:
        parameters = {"agent": agent_id(agent), "version": head.version, "k": newest}
        return [read_record(text) for text in reversed(self._read(Statement(self._dialect.archive, parameters)))]

    def _steadily(self, agent: str, read: Callable[[Head], T]) -> T:
        """Read at one version; again when the graph was changed meanwhile."""
        for _ in range(READ_TRIES):
            head = self.head(agent)
            found = read(head)
            if self._head(agent).stamp == head.stamp:
                return found
        raise StoreError(f"the memory of {agent!r} changes faster than it can be read", self.where, "", "", "try again")

    def head(self, agent: str) -> Head:
        """Return version, owner and stamp of an agent's graph."""
        self._require_open()
        return self._head(agent)

    def version(self, agent: str) -> int:
        """Return the newest stored version of an agent, 0 when it is unknown."""
        return self.head(agent).version

    @abstractmethod
    def agents(self) -> list[str]:
        """Return the agents with a stored version, in order."""

    def archive(self, agent: str) -> list[ForgetRecord]:
        """Return everything closed or forgotten, oldest first."""
        return self._steadily(agent, lambda head: self._archived(agent, head, OPEN))

    def top_k(self, agent: str, node_id: str, k: int) -> list[Edge]:
        """Return the edges that leave a node by stored weight, ties by key."""

        def read(head: Head) -> list[Edge]:
            parameters = {"id": profile_id(agent, node_id), "version": head.version, "k": k}
            return [read_edge(text) for text in self._read(Statement(self._dialect.top, parameters))]

        return self._steadily(agent, read)

    def discard_after(self, agent: str, version: int) -> None:
        """Forget every later version of an agent. Raises StoreError for a graph of another owner.

        The head goes back first: should the process die then, later versions are unseen and wiped by the next claim.
        """

        def plan(found: Mapping[str, Head]) -> tuple[list[Statement], dict[str, Head]]:
            head = found[agent]
            self._writer.check_owner(head, agent, self.where)
            back = Head(version, self._writer.name, self._writer.stamp())
            return [], {agent: back} if head.version > version else {}

        self._require_open()
        if agent not in self._owned:
            self._own([agent], lambda found: self._writer.check_owner(found[agent], agent, self.where))
        self._change([agent], plan)
        self._wipe(agent, version)

    def compact(self, agent: str, keep_from: int) -> None:
        """Drop edges that only versions before ``keep_from`` need."""
        self._require_open()
        ended = Statement(self._dialect.compact, {**self._mine(agent), "keep": keep_from})
        self._write(agent, [ended, Statement(self._dialect.sweep_nodes, self._mine(agent))])

    def close(self) -> None:
        """Give the graphs free and close the connection; later calls raise StoreError."""
        if self._open:
            with suppress(StoreError):  # An unreachable database must not keep the process; a claim takes the graph.
                self._change(list(self._owned), self._free)
            self._disconnect()
        self._open = False

    def _free(self, found: Mapping[str, Head]) -> tuple[list[Statement], dict[str, Head]]:
        mine = {agent: head for agent, head in found.items() if head.owner == self._writer.name}
        return [], {agent: head._replace(owner="") for agent, head in mine.items()}

    def _require_open(self) -> None:
        if not self._open:
            raise StoreError("the memory store is closed", self.where, "", "", "open it again")


def agent_id(agent: str) -> str:
    """Return the agent as it stands in the database, without the sign that ends it in longer ids."""
    return plain(agent).replace("|", "\\u007c")


def profile_id(agent: str, node_id: str) -> str:
    """Return ``agent|kind|name``, unique in the whole database."""
    return f"{agent_id(agent)}|{plain(node_id)}"


def _node_row(agent: str, node_id: str) -> Row:
    return {"id": profile_id(agent, node_id), "kind": plain(kind_of(node_id)), "name": plain(name_of(node_id))}


def _key_row(agent: str, key: EdgeKey) -> Row:
    return {"src": profile_id(agent, key[0]), "rel": plain(key[1]), "dst": profile_id(agent, key[2])}


def _chunks(text: str, parameters: Parameters, rows: Sequence[Row]) -> Iterator[Statement]:
    for first in range(0, len(rows), ROWS_PER_STATEMENT):
        yield Statement(text, {**parameters, "rows": rows[first : first + ROWS_PER_STATEMENT]})
