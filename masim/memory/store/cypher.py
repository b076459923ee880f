"""A memory store in openCypher: the statements, which FalkorDB runs and Neo4j is asked to, and who runs them.

Relationship types cannot be parameters in Cypher, so that the relation of an edge is a property.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from masim.errors import StoreError
from masim.memory.store.base import SCHEMA_VERSION, Head, check_schema
from masim.memory.store.codec import unplain
from masim.memory.store.temporal import Dialect, Plan, Statement, TemporalStore, agent_id

CHANGE_TRIES = 20
_MINE = "MATCH (h:MasimMemory {id: $agent}) WHERE h.owner = $owner WITH h "
_OWN = "MATCH (a:MasimProfile {agent: $agent})-[e:MASIM_EDGE]->(b:MasimProfile)"
_NOW = "e.version <= $version AND e.until > $version"
_ENDS = "UNWIND $rows AS row MATCH (a:MasimProfile {id: row.src}) MATCH (b:MasimProfile {id: row.dst})"

CYPHER = Dialect(
    put_nodes=(
        f"{_MINE}UNWIND $rows AS row MERGE (n:MasimProfile {{id: row.id}})"
        " SET n.agent = $agent, n.kind = row.kind, n.name = row.name"
    ),
    # Without the WITH, FalkorDB looks through all edges of a busy node for each row.
    close_edges=(
        f"{_MINE}{_ENDS} WITH row, a, b MATCH (a)-[e:MASIM_EDGE {{rel: row.rel}}]->(b)"
        " WHERE e.until = $open AND e.version < $version SET e.until = $version"
    ),
    put_edges=(
        f"{_MINE}{_ENDS} MERGE (a)-[e:MASIM_EDGE {{rel: row.rel, version: $version}}]->(b)"
        " SET e.agent = $agent, e.until = $open, e.w = row.w, e.data = row.data"
    ),
    put_archive=(
        f"{_MINE}UNWIND $rows AS row MERGE (f:MasimForgotten {{id: row.id}})"
        " SET f.agent = $agent, f.version = $version, f.position = row.position, f.data = row.data"
    ),
    edges=f"{_OWN} WHERE {_NOW} RETURN e.data",
    top=(
        "MATCH (a:MasimProfile {id: $id})-[e:MASIM_EDGE]->(b:MasimProfile)"
        f" WHERE {_NOW} RETURN e.data ORDER BY e.w DESC, e.rel, b.id LIMIT $k"
    ),
    archive=(
        "MATCH (f:MasimForgotten {agent: $agent}) WHERE f.version <= $version"
        " RETURN f.data ORDER BY f.version DESC, f.position DESC LIMIT $k"
    ),
    wipe=(
        f"{_MINE}{_OWN} WHERE e.version > $version DELETE e",
        f"{_MINE}MATCH (f:MasimForgotten {{agent: $agent}}) WHERE f.version > $version DELETE f",
    ),
    reopen=f"{_MINE}{_OWN} WHERE e.until > $version AND e.until < $open SET e.until = $open",
    compact=f"{_MINE}{_OWN} WHERE e.until <= $keep DELETE e",
    sweep_nodes=f"{_MINE}MATCH (n:MasimProfile {{agent: $agent}}) WHERE NOT (n)--() DELETE n",
)
INDEXED = (
    ("MasimMemory", "id"), ("MasimProfile", "id"), ("MasimProfile", "agent"),
    ("MasimForgotten", "id"), ("MasimForgotten", "agent"),
)  # fmt: skip
_SCHEMA = "MERGE (s:MasimSchema {id: 'memory'}) ON CREATE SET s.version = $version RETURN s.version"
_HEAD = "MATCH (h:MasimMemory {id: $agent}) RETURN h.version, h.owner, h.stamp"
_TOUCH_HEAD = (
    "MERGE (h:MasimMemory {id: $agent}) ON CREATE SET h.version = 0, h.owner = '', h.stamp = '' SET h.touched = true"
    " RETURN h.version, h.owner, h.stamp"
)
"""Creates a head where there is none; the SET takes the lock of the node where the database has locks."""
_PUT_HEADS = (
    "UNWIND $heads AS row MATCH (h:MasimMemory {id: row.agent})"
    " WHERE h.owner = row.old_owner AND h.stamp = row.old_stamp"
    " WITH count(h) AS found WHERE found = $count UNWIND $heads AS row MATCH (h:MasimMemory {id: row.agent})"
    " SET h.version = row.version, h.owner = row.owner, h.stamp = row.stamp RETURN count(h)"
)
"""All heads or none: compare and set."""
_AGENTS = "MATCH (h:MasimMemory) WHERE h.version > 0 RETURN h.id"


class CypherStore(TemporalStore):
    """What the databases with openCypher have in common. Each statement is atomic; heads move together, at the end."""

    def __init__(self, where: str) -> None:
        super().__init__(CYPHER, where)

    @abstractmethod
    def _run(self, statement: Statement, writes: bool = False) -> list[Sequence[Any]]:
        """Run one statement and return its rows. Raises StoreError."""

    @abstractmethod
    def _run_all(self, statements: Sequence[Statement]) -> None:
        """Run statements that write, in order. Raises StoreError when any of them failed."""

    def _check_schema(self) -> None:
        check_schema(self._run(Statement(_SCHEMA, {"version": SCHEMA_VERSION}), writes=True)[0][0], self.where)

    def _change(self, agents: Sequence[str], plan: Plan) -> None:
        for _ in range(CHANGE_TRIES):
            found = {agent: Head._make(self._run(touch_head(agent), writes=True)[0]) for agent in agents}
            statements, heads = plan(found)
            if statements:
                self._run_all(statements)
            if not heads or self._run(put_heads(found, heads), writes=True) == [[len(heads)]]:
                return
        raise StoreError("too many writers at the same memory", self.where, "", "", "give each graph one owner")

    def _read(self, statement: Statement) -> list[str]:
        return [row[0] for row in self._run(statement)]

    def _head(self, agent: str) -> Head:
        return next((Head._make(row) for row in self._run(Statement(_HEAD, {"agent": agent_id(agent)}))), Head())

    def agents(self) -> list[str]:
        """Return the agents with a stored version, in order."""
        self._require_open()
        return sorted(unplain(row[0]) for row in self._run(Statement(_AGENTS, {})))


def touch_head(agent: str) -> Statement:
    """Return the statement that reads a head to change it."""
    return Statement(_TOUCH_HEAD, {"agent": agent_id(agent)})


def put_heads(found: Mapping[str, Head], heads: Mapping[str, Head]) -> Statement:
    """Return the statement that moves heads from what was found."""
    rows = [
        {
            "agent": agent_id(agent), "version": head.version, "owner": head.owner, "stamp": head.stamp,
            "old_owner": found[agent].owner, "old_stamp": found[agent].stamp,
        }
        for agent, head in heads.items()
    ]  # fmt: skip
    return Statement(_PUT_HEADS, {"heads": rows, "count": len(rows)})
