"""What every durable store of profile graphs does; one contract test suite runs on all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from masim.memory.graph import Edge, ForgetRecord, FrozenGraph, GraphDelta

SCHEMA_VERSION = 1


class GraphStore(Protocol):
    """A store keeps every committed version until told otherwise, so that a resumed run can go back.

    Agents are opaque ids (``campaign/agent``); no call ever mixes two of them. Batches hold absolute values: a batch
    that is applied again at its version changes nothing. Every method raises StoreError when the store is damaged,
    closed, of another schema version or unreachable.
    """

    def apply(self, agent: str, batch: GraphDelta, version: int) -> None:
        """Store one agent's batch durably before returning. Raises StoreError for a version below the stored one."""

    def apply_all(self, batches: Mapping[str, GraphDelta], version: int) -> None:
        """Store the batches of several agents, all or none, durably before returning."""

    def load(self, agent: str) -> FrozenGraph:
        """Return the newest stored version; an unknown agent has an empty graph of version 0."""

    def version(self, agent: str) -> int:
        """Return the newest stored version, 0 for an unknown agent."""

    def archive(self, agent: str) -> list[ForgetRecord]:
        """Return everything closed or forgotten up to the newest version, oldest first."""

    def top_k(self, agent: str, node_id: str, k: int) -> list[Edge]:
        """Return the edges that leave a node, by stored weight; ties by key. A coarse look, without decay."""

    def discard_after(self, agent: str, version: int) -> None:
        """Forget every version after ``version``: what a resume from a checkpoint does."""

    def compact(self, agent: str, keep_from: int) -> None:
        """Drop what only versions before ``keep_from`` need."""

    def close(self) -> None:
        """Release the store; later calls raise StoreError. Closing twice is allowed."""
