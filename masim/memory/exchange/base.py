"""What an exported memory is, and how much of a file is taken in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from masim.errors import DataError, StoreError
from masim.memory.graph import Edge, ForgetRecord, GraphDelta
from masim.memory.store.base import GraphStore

FORMAT = "masim-memory"
FORMAT_VERSION = 1
LIMIT = 200_000
"""Rows of one file that are taken in unless the user says otherwise: nodes, edges and archived edges."""


class StoredGraph(NamedTuple):
    """The newest version of one agent's graph with its whole archive; older versions are not exported."""

    agent: str
    version: int
    edges: tuple[Edge, ...]
    archive: tuple[ForgetRecord, ...]


@dataclass(slots=True)
class Counter:
    """Counts the rows of a file. Raises DataError as soon as there are too many, with everything else still unread."""

    path: Path
    limit: int
    rows: int = 0

    def count(self) -> None:
        """Count one more row."""
        self.rows += 1
        if self.rows > self.limit:
            raise too_large(self.path, f"more than {self.limit:,} nodes and edges", self.limit)


def too_large(path: Path, found: str, limit: int) -> DataError:
    """Return the error for a file that is over the limit; nothing of it was stored."""
    fix = "raise --limit if the machine has the memory, or split the file by agent"
    return DataError("too large a memory to import", str(path), found, f"at most {limit:,} rows", fix)


def read_graph(store: GraphStore, agent: str) -> StoredGraph:
    """Return what a store holds of an agent. Raises StoreError."""
    graph = store.load(agent)
    return StoredGraph(agent, graph.version, tuple(graph.edges.values()), tuple(store.archive(agent)))


def write_graphs(store: GraphStore, graphs: list[StoredGraph]) -> None:
    """Store graphs that a store does not have yet, each at its version. Raises StoreError before anything is written.

    A graph that is there already is not touched: merging two memories is not a matter of files.
    """
    for graph in graphs:
        found = store.version(graph.agent)
        if found:
            fix = "import into another store, or choose other agents with --agent"
            raise StoreError(f"the store has a memory of {graph.agent!r} already", "", f"version {found}", "", fix)
    for graph in graphs:
        store.claim(graph.agent)
        store.apply(graph.agent, GraphDelta(graph.edges, (), graph.archive), max(1, graph.version))


def checked(edge: Edge, path: Path) -> Edge:
    """Return an edge whose numbers are finite, ``invalid_at_s`` apart. Raises DataError otherwise."""
    numbers = [value for name, value in edge._asdict().items() if isinstance(value, float) and name != "invalid_at_s"]
    if not all(map(math.isfinite, numbers)) or math.isnan(edge.invalid_at_s):
        raise DataError("a number of an edge is none", str(path), repr(tuple(edge))[:160], "finite numbers", "")
    return edge


def distinct(graphs: list[StoredGraph], path: Path) -> list[StoredGraph]:
    """Return graphs of different agents with different edges. Raises DataError otherwise."""
    agents = [graph.agent for graph in graphs]
    if len(set(agents)) < len(agents):
        raise DataError("an agent is there twice", str(path), ", ".join(sorted(agents))[:160], "", "")
    for graph in graphs:
        if len({edge.key for edge in graph.edges}) < len(graph.edges):
            raise DataError(
                "an edge is there twice", str(path), graph.agent, "one edge per source, relation, target", ""
            )
    return graphs
