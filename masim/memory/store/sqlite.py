"""The embedded default store: one SQLite file in WAL mode, every version kept until it is compacted.

An edge's row says what the edge was from a version on, so going back is a delete of later rows. A commit is one
transaction; with ``synchronous = NORMAL`` it survives the death of the process, with ``full=True`` also that of the
machine.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from masim.errors import StoreError
from masim.memory.graph import ARCHIVE_IN_MEMORY, Edge, ForgetRecord, FrozenGraph, GraphDelta
from masim.memory.store.base import SCHEMA_VERSION

Row = tuple[str | int | float, ...]

_TYPES = {"src": "TEXT", "rel": "TEXT", "dst": "TEXT", "episodes": "INTEGER", "pin": "INTEGER"}
_FIELDS = ", ".join(Edge._fields)
_DECLARED = ", ".join(f"{name} {_TYPES.get(name, 'REAL')} NOT NULL" for name in Edge._fields)
_MARKS = ", ".join("?" for _ in Edge._fields)
_PIN = Edge._fields.index("pin")
_SCHEMA = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE version (agent TEXT PRIMARY KEY, version INTEGER NOT NULL)",
    f"CREATE TABLE edge (agent TEXT NOT NULL, version INTEGER NOT NULL, gone INTEGER NOT NULL, {_DECLARED},"
    " PRIMARY KEY (agent, src, rel, dst, version)) WITHOUT ROWID",
    "CREATE TABLE archive (agent TEXT NOT NULL, version INTEGER NOT NULL, position INTEGER NOT NULL,"
    f" rule TEXT NOT NULL, score REAL NOT NULL, at_s REAL NOT NULL, {_DECLARED},"
    " PRIMARY KEY (agent, version, position)) WITHOUT ROWID",
)
_PUT_EDGE = f"INSERT OR REPLACE INTO edge VALUES (?, ?, 0, {_MARKS})"
_PUT_GONE = (
    "INSERT OR REPLACE INTO edge (agent, version, gone, src, rel, dst, w, last_s, first_s, n, successes, failures,"
    " episodes, valid_at_s, invalid_at_s, pin, ttl_s) VALUES (?, ?, 1, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)"
)
_PUT_ARCHIVE = f"INSERT OR REPLACE INTO archive VALUES (?, ?, ?, ?, ?, ?, {_MARKS})"
_PUT_VERSION = (
    "INSERT INTO version VALUES (?, ?) ON CONFLICT (agent) DO UPDATE SET version = MAX(version, excluded.version)"
)
_NEWEST = (
    f"SELECT {_FIELDS} FROM (SELECT {_FIELDS}, gone, MAX(version) FROM edge WHERE agent = ? GROUP BY src, rel, dst)"
    " WHERE gone = 0"
)
_TOP = (
    f"SELECT {_FIELDS} FROM (SELECT {_FIELDS}, gone, MAX(version) FROM edge WHERE agent = ? AND src = ?"
    " GROUP BY rel, dst) WHERE gone = 0 ORDER BY w DESC, rel, dst LIMIT ?"
)
_ARCHIVE = f"SELECT rule, score, at_s, {_FIELDS} FROM archive WHERE agent = ? ORDER BY version, position"
_SUPERSEDED = (
    "DELETE FROM edge WHERE agent = :agent AND version < (SELECT MAX(newer.version) FROM edge AS newer"
    " WHERE newer.agent = edge.agent AND newer.src = edge.src AND newer.rel = edge.rel AND newer.dst = edge.dst"
    " AND newer.version <= :keep)"
)


@contextmanager
def _guarded(path: str) -> Iterator[None]:
    """Turn what SQLite raises into a StoreError that names the file."""
    try:
        yield
    except sqlite3.Error as exc:
        fix = "end the other writer" if "locked" in str(exc) else "restore a copy, or delete the file to start anew"
        raise StoreError(f"the memory store cannot be used ({exc})", path, "", "", fix) from exc


class SqliteStore:
    """A :class:`masim.memory.store.base.GraphStore` in one file (or ``":memory:"``).

    Raises StoreError when the file is not a store, is damaged, is locked by another writer for longer than
    ``timeout_s``, or has another schema version.
    """

    def __init__(self, path: str | Path, full: bool = False, timeout_s: float = 10.0) -> None:
        self.path = str(path)
        with _guarded(self.path):
            self._db = sqlite3.connect(self.path, timeout=timeout_s, isolation_level=None, check_same_thread=False)
        try:
            with _guarded(self.path):
                self._open("FULL" if full else "NORMAL")
        except BaseException:
            self.close()
            raise

    def _open(self, synchronous: str) -> None:
        if self._one("PRAGMA quick_check") != "ok":
            raise StoreError("the memory store is damaged", self.path, "", "", "restore a copy or delete the file")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute(f"PRAGMA synchronous = {synchronous}")
        with self._transaction():
            tables = {row[0] for row in self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not tables:
                for statement in _SCHEMA:
                    self._db.execute(statement)
                self._db.execute("INSERT INTO meta VALUES ('schema', ?)", (str(SCHEMA_VERSION),))
            elif "meta" not in tables:
                raise StoreError("this file is not a memory store", self.path, "", "", "choose another path")
        found = self._one("SELECT value FROM meta WHERE name = 'schema'")
        if found != str(SCHEMA_VERSION):
            fix = "open it with the release of masim that wrote it, or start a new store"
            raise StoreError("memory store of another schema version", self.path, str(found), str(SCHEMA_VERSION), fix)

    def _one(self, statement: str, *values: str | int) -> str | int | None:
        row = self._db.execute(statement, values).fetchone()
        return None if row is None else row[0]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def apply(self, agent: str, batch: GraphDelta, version: int) -> None:
        """Store one agent's batch in one transaction."""
        self.apply_all({agent: batch}, version)

    def apply_all(self, batches: Mapping[str, GraphDelta], version: int) -> None:
        """Store the batches of several agents in one transaction. Raises StoreError for an older version."""
        with _guarded(self.path), self._transaction():
            for agent, batch in batches.items():
                stored = self._version(agent)
                if version < stored:
                    fix = "discard the later versions first"
                    raise StoreError("version of memory goes back", self.path, str(version), f"from {stored}", fix)
                self._write(agent, batch, version)

    def _write(self, agent: str, batch: GraphDelta, version: int) -> None:
        db = self._db
        db.executemany(_PUT_EDGE, [(agent, version, *edge) for edge in batch.edges])
        db.executemany(_PUT_GONE, [(agent, version, *key) for key in batch.removed])
        rows = [(agent, version, i, r.rule, r.score, r.at_s, *r.edge) for i, r in enumerate(batch.archived)]
        db.executemany(_PUT_ARCHIVE, rows)
        db.execute(_PUT_VERSION, (agent, version))

    def load(self, agent: str) -> FrozenGraph:
        """Return the newest version of an agent; empty and of version 0 when it is unknown."""
        with _guarded(self.path):
            edges = [_edge(row) for row in self._db.execute(_NEWEST, (agent,))]
            version = self._version(agent)
        return FrozenGraph.of(edges, self.archive(agent)[-ARCHIVE_IN_MEMORY:], version)

    def version(self, agent: str) -> int:
        """Return the newest stored version of an agent, 0 when it is unknown."""
        with _guarded(self.path):
            return self._version(agent)

    def _version(self, agent: str) -> int:
        return int(self._one("SELECT version FROM version WHERE agent = ?", agent) or 0)

    def archive(self, agent: str) -> list[ForgetRecord]:
        """Return everything closed or forgotten, oldest first."""
        with _guarded(self.path):
            rows = self._db.execute(_ARCHIVE, (agent,)).fetchall()
        return [ForgetRecord(_edge(row[3:]), *row[:3]) for row in rows]

    def top_k(self, agent: str, node_id: str, k: int) -> list[Edge]:
        """Return the edges that leave a node by stored weight, ties by key."""
        with _guarded(self.path):
            return [_edge(row) for row in self._db.execute(_TOP, (agent, node_id, k))]

    def discard_after(self, agent: str, version: int) -> None:
        """Forget every later version of an agent, archive included."""
        with _guarded(self.path), self._transaction():
            self._db.execute("DELETE FROM edge WHERE agent = ? AND version > ?", (agent, version))
            self._db.execute("DELETE FROM archive WHERE agent = ? AND version > ?", (agent, version))
            self._db.execute("UPDATE version SET version = MIN(version, ?) WHERE agent = ?", (version, agent))

    def compact(self, agent: str, keep_from: int) -> None:
        """Drop rows that only versions before ``keep_from`` need; going back is possible to ``keep_from`` and later."""
        with _guarded(self.path), self._transaction():
            self._db.execute(_SUPERSEDED, {"agent": agent, "keep": keep_from})
            self._db.execute("DELETE FROM edge WHERE agent = ? AND gone = 1 AND version <= ?", (agent, keep_from))

    def close(self) -> None:
        """Close the file; later calls raise StoreError."""
        with _guarded(self.path):
            self._db.close()


def _edge(row: Row) -> Edge:
    edge = Edge._make(row)
    return edge._replace(pin=bool(edge.pin))
