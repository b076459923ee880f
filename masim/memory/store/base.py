"""What every durable store of profile graphs does; one contract test suite runs on all of them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from itertools import count
from typing import NamedTuple, Protocol

from masim.errors import StoreError
from masim.memory.graph import Edge, ForgetRecord, FrozenGraph, GraphDelta

SCHEMA_VERSION = 3


class Head(NamedTuple):
    """What a store says of one agent's graph without reading it."""

    version: int = 0
    """The newest acknowledged version; 0 for an unknown agent."""
    owner: str = ""
    """The :class:`Writer` that may write; empty when nobody owns the graph."""
    stamp: str = ""
    """Changes with every change of the graph: equal stamps are equal graphs, equal versions need not be."""


class Writer:
    """The identity of one open store object; a graph has one owner at a time."""

    def __init__(self) -> None:
        self.name = secrets.token_hex(8)
        self._marks = count()

    def stamp(self) -> str:
        """Return a stamp that no other change of any graph has."""
        return f"{self.name}.{next(self._marks)}"

    def wrote(self, head: Head) -> bool:
        """Whether the head's version was written through this object."""
        return head.stamp.partition(".")[0] == self.name

    def check(self, head: Head, agent: str, version: int, where: str) -> None:
        """Compare and set: raise StoreError unless this writer may make ``version`` the newest one of the graph."""
        self.check_owner(head, agent, where)
        if version < head.version:
            fix = "discard the later versions first"
            raise StoreError("version of memory goes back", where, str(version), f"from {head.version}", fix)
        if version == head.version and not self.wrote(head):
            fix = "load the memory again and repeat the work on it"
            raise StoreError(f"another writer was first with the memory of {agent!r}", where, str(version), "", fix)

    def check_owner(self, head: Head, agent: str, where: str) -> None:
        """Raise StoreError when another writer owns the graph."""
        if head.owner not in ("", self.name):
            fix = "end this process, or claim the memory to take it over"
            raise StoreError(f"the memory of {agent!r} is owned by another writer", where, "", "", fix)


def check_schema(found: object, where: str) -> None:
    """Raise StoreError when a store was written under another schema version."""
    if str(found) != str(SCHEMA_VERSION):
        fix = "open it with the release of masim that wrote it, or start a new store"
        raise StoreError("memory store of another schema version", where, str(found), str(SCHEMA_VERSION), fix)


class GraphStore(Protocol):
    """A store keeps every committed version until told otherwise, so that a resumed run can go back.

    Agents are opaque ids (``campaign/agent``); no call ever mixes two of them. Batches hold absolute values: a batch
    that is applied again at its version changes nothing. A graph has one owner: the store object that claimed it last,
    or else the first that wrote it; what any other writes is refused. Closing a store gives its graphs free. Every
    method raises StoreError when the store is damaged, full, closed, of another schema version or unreachable; then
    nothing was acknowledged, and the same batch may be applied again.
    """

    def claim(self, agent: str) -> Head:
        """Own an agent's graph from now on, whoever owned it before, and return its head."""

    def apply(self, agent: str, batch: GraphDelta, version: int) -> None:
        """Store one agent's batch durably before returning.

        Raises StoreError for a version below the stored one, for the stored one when somebody else wrote it, and for
        a graph that another writer owns.
        """

    def apply_all(self, batches: Mapping[str, GraphDelta], version: int) -> None:
        """Store the batches of several agents, all or none, durably before returning."""

    def load(self, agent: str) -> FrozenGraph:
        """Return the newest stored version; an unknown agent has an empty graph of version 0."""

    def head(self, agent: str) -> Head:
        """Return version, owner and stamp of an agent's graph."""

    def version(self, agent: str) -> int:
        """Return the newest stored version, 0 for an unknown agent."""

    def agents(self) -> list[str]:
        """Return the agents with a stored version, in order."""

    def archive(self, agent: str) -> list[ForgetRecord]:
        """Return everything closed or forgotten up to the newest version, oldest first."""

    def top_k(self, agent: str, node_id: str, k: int) -> list[Edge]:
        """Return the edges that leave a node, by stored weight; ties by key. A coarse look, without decay."""

    def discard_after(self, agent: str, version: int) -> None:
        """Forget every version after ``version``: what a resume from a checkpoint does."""

    def compact(self, agent: str, keep_from: int) -> None:
        """Drop what only versions before ``keep_from`` need."""

    def close(self) -> None:
        """Release the store and its graphs; later calls raise StoreError. Closing twice is allowed."""
