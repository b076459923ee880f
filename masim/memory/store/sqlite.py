"""The embedded default store: one SQLite file in WAL mode, every version kept until it is compacted.

An edge's row says what the edge was from a version on, so going back is a delete of later rows. Rows lie by version:
those of one commit share a page, and the log takes whole pages. A commit is one
transaction; with ``synchronous = NORMAL`` it survives the death of the process, with ``full=True`` also that of the
machine.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from masim.errors import StoreError
from masim.memory.graph import ARCHIVE_IN_MEMORY, Edge, ForgetRecord, FrozenGraph, GraphDelta
from masim.memory.store.base import SCHEMA_VERSION, Head, Writer, check_schema

Row = tuple[str | int | float, ...]

_TYPES = {"src": "TEXT", "rel": "TEXT", "dst": "TEXT", "episodes": "INTEGER", "pin": "INTEGER"}
_FIELDS = ", ".join(Edge._fields)
_DECLARED = ", ".join(f"{name} {_TYPES.get(name, 'REAL')} NOT NULL" for name in Edge._fields)
_MARKS = ", ".join("?" for _ in Edge._fields)
_HEADER_BYTES = 100
_PIN = Edge._fields.index("pin")
_SCHEMA = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE head (agent TEXT PRIMARY KEY, version INTEGER NOT NULL, owner TEXT NOT NULL, stamp TEXT NOT NULL)"
    " WITHOUT ROWID",
    f"CREATE TABLE edge (agent TEXT NOT NULL, version INTEGER NOT NULL, gone INTEGER NOT NULL, {_DECLARED},"
    " PRIMARY KEY (agent, version, src, rel, dst)) WITHOUT ROWID",
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
_PUT_HEAD = "INSERT OR REPLACE INTO head VALUES (?, ?, ?, ?)"
_ADVANCE = "UPDATE head SET version = ?, stamp = ? WHERE agent = ? AND owner = ? AND stamp = ? AND version < ?"
_GET_HEAD = "SELECT version, owner, stamp FROM head WHERE agent = ?"
_NEWEST = (
    f"SELECT {_FIELDS} FROM (SELECT {_FIELDS}, gone, MAX(version) FROM edge WHERE agent = ? GROUP BY src, rel, dst)"
    " WHERE gone = 0"
)
_TOP = (
    f"SELECT {_FIELDS} FROM (SELECT {_FIELDS}, gone, MAX(version) FROM edge WHERE agent = ? AND src = ?"
    " GROUP BY rel, dst) WHERE gone = 0 ORDER BY w DESC, rel, dst LIMIT ?"
)
_ARCHIVE = f"SELECT rule, score, at_s, {_FIELDS} FROM archive WHERE agent = ? ORDER BY version, position"
_ARCHIVE_END = (
    f"SELECT rule, score, at_s, {_FIELDS} FROM archive WHERE agent = ? ORDER BY version DESC, position DESC LIMIT ?"
)
_SUPERSEDED = (
    "DELETE FROM edge WHERE agent = :agent AND version <= :keep AND (src, rel, dst, version) NOT IN"
    " (SELECT src, rel, dst, MAX(version) FROM edge WHERE agent = :agent AND version <= :keep GROUP BY src, rel, dst)"
)


_FIXES = {
    "locked": "end the other writer, or let it finish",
    "full": "free some disk space and go on: nothing of this batch was stored",
    "disk I/O": "look at the disk and its space; nothing of this batch was stored",
    "readonly": "make the file and its folder writable",
    "NOT NULL": "every number of the memory must be one",
    "closed": "open the store again",
}
"""Sign in the message of SQLite -> what the user can do."""


def _fix(text: str) -> str:
    """Return what helps against an error of SQLite."""
    for sign, fix in _FIXES.items():
        if sign in text:
            return fix
    return "restore a copy, or delete the file to start anew"


@contextmanager
def _guarded(path: str) -> Iterator[None]:
    """Turn what SQLite raises into a StoreError that names the file."""
    try:
        yield
    except sqlite3.Error as exc:
        raise StoreError(f"the memory store cannot be used ({exc})", path, "", "", _fix(str(exc))) from exc
    except UnicodeEncodeError as exc:
        raise StoreError("a name in the memory is not Unicode text", path, ascii(exc.object)[:60], "", "") from exc


class SqliteStore:
    """A :class:`masim.memory.store.base.GraphStore` in one file (or ``":memory:"``).

    Processes may write to the same file at once, each its own graphs; one waits for the other. Raises StoreError when
    the file is not a store, is damaged, is locked by another writer for longer than ``timeout_s``, the disk is full,
    or it has another schema version.
    """

    def __init__(self, path: str | Path, full: bool = False, timeout_s: float = 10.0) -> None:
        self.path = str(path)
        self._writer = Writer()
        self._owns = False
        self._stamps: dict[str, str] = {}
        """Of graphs that this store wrote last: while they stand, nobody else has."""
        self._refuse_torn()
        with _guarded(self.path):
            self._db = sqlite3.connect(self.path, timeout=timeout_s, isolation_level=None, check_same_thread=False)
        try:
            with _guarded(self.path):
                self._open("FULL" if full else "NORMAL")
        except BaseException:
            self.close()
            raise

    def _refuse_torn(self) -> None:
        """SQLite takes a file that is shorter than its header for a new database, and deletes the log beside it."""
        size, log = (os.path.getsize(path) if os.path.isfile(path) else 0 for path in (self.path, f"{self.path}-wal"))
        if 0 < size < _HEADER_BYTES or (size == 0 and log > 0):
            fix = "restore a copy, or delete it and its log to start anew"
            raise StoreError("the memory store is truncated", self.path, f"{size} bytes", "", fix)

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
        check_schema(self._one("SELECT value FROM meta WHERE name = 'schema'"), self.path)

    def _one(self, statement: str, *values: str | int) -> str | int | None:
        row = self._db.execute(statement, values).fetchone()
        return None if row is None else row[0]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def claim(self, agent: str) -> Head:
        """Own an agent's graph from now on, whoever owned it before."""
        with _guarded(self.path), self._transaction():
            head = self._head(agent)._replace(owner=self._writer.name)
            self._db.execute(_PUT_HEAD, (agent, *head))
        self._owns = True
        return head

    def apply(self, agent: str, batch: GraphDelta, version: int) -> None:
        """Store one agent's batch in one transaction."""
        self.apply_all({agent: batch}, version)

    def apply_all(self, batches: Mapping[str, GraphDelta], version: int) -> None:
        """Store the batches of several agents in one transaction. Raises StoreError as the protocol says."""
        stamps = {}
        with _guarded(self.path), self._transaction():
            for agent, batch in batches.items():
                stamps[agent] = self._advance(agent, version)
                self._write(agent, batch, version)
        self._stamps.update(stamps)
        self._owns = True

    def _advance(self, agent: str, version: int) -> str:
        """Compare and set the head of a graph; return its new stamp.

        A graph that is still this store's, with the stamp that it gave it, takes one statement.
        """
        own, stamp, known = self._writer.name, self._writer.stamp(), self._stamps.get(agent)
        if known is None or not self._db.execute(_ADVANCE, (version, stamp, agent, own, known, version)).rowcount:
            self._writer.check(self._head(agent), agent, version, self.path)
            self._db.execute(_PUT_HEAD, (agent, version, own, stamp))
        return stamp

    def _write(self, agent: str, batch: GraphDelta, version: int) -> None:
        db = self._db
        if batch.edges:
            db.executemany(_PUT_EDGE, [(agent, version, *edge) for edge in batch.edges])
        if batch.removed:
            db.executemany(_PUT_GONE, [(agent, version, *key) for key in batch.removed])
        if batch.archived:
            rows = [(agent, version, i, r.rule, r.score, r.at_s, *r.edge) for i, r in enumerate(batch.archived)]
            db.executemany(_PUT_ARCHIVE, rows)

    def load(self, agent: str) -> FrozenGraph:
        """Return the newest version of an agent; empty and of version 0 when it is unknown."""
        with _guarded(self.path), self._reading():
            edges = [_edge(row) for row in self._db.execute(_NEWEST, (agent,))]
            archived = [_record(row) for row in self._db.execute(_ARCHIVE_END, (agent, ARCHIVE_IN_MEMORY))]
            version = self._head(agent).version
        return FrozenGraph.of(edges, reversed(archived), version)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Show one state of the file to several reads."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("COMMIT")

    def head(self, agent: str) -> Head:
        """Return version, owner and stamp of an agent's graph."""
        with _guarded(self.path):
            return self._head(agent)

    def version(self, agent: str) -> int:
        """Return the newest stored version of an agent, 0 when it is unknown."""
        return self.head(agent).version

    def _head(self, agent: str) -> Head:
        row = self._db.execute(_GET_HEAD, (agent,)).fetchone()
        return Head() if row is None else Head._make(row)

    def agents(self) -> list[str]:
        """Return the agents with a stored version, in order."""
        with _guarded(self.path):
            return [row[0] for row in self._db.execute("SELECT agent FROM head WHERE version > 0 ORDER BY agent")]

    def archive(self, agent: str) -> list[ForgetRecord]:
        """Return everything closed or forgotten, oldest first."""
        with _guarded(self.path):
            return [_record(row) for row in self._db.execute(_ARCHIVE, (agent,))]

    def top_k(self, agent: str, node_id: str, k: int) -> list[Edge]:
        """Return the edges that leave a node by stored weight, ties by key."""
        with _guarded(self.path):
            return [_edge(row) for row in self._db.execute(_TOP, (agent, node_id, k))]

    def discard_after(self, agent: str, version: int) -> None:
        """Forget every later version of an agent, archive included. Raises StoreError for a graph of another owner."""
        with _guarded(self.path), self._transaction():
            head = self._head(agent)
            self._writer.check_owner(head, agent, self.path)
            self._db.execute("DELETE FROM edge WHERE agent = ? AND version > ?", (agent, version))
            self._db.execute("DELETE FROM archive WHERE agent = ? AND version > ?", (agent, version))
            if head.version > version:
                row = (agent, version, self._writer.name, self._writer.stamp())
                self._db.execute(_PUT_HEAD, row)

    def compact(self, agent: str, keep_from: int) -> None:
        """Drop rows that only versions before ``keep_from`` need; going back is possible to ``keep_from`` and later."""
        with _guarded(self.path), self._transaction():
            self._writer.check_owner(self._head(agent), agent, self.path)
            self._db.execute(_SUPERSEDED, {"agent": agent, "keep": keep_from})
            self._db.execute("DELETE FROM edge WHERE agent = ? AND gone = 1 AND version <= ?", (agent, keep_from))

    def close(self) -> None:
        """Give the graphs free and close the file; later calls raise StoreError."""
        with suppress(sqlite3.Error):  # A full disk or a damaged file must not keep the file open.
            if self._owns:
                self._db.execute("UPDATE head SET owner = '' WHERE owner = ?", (self._writer.name,))
        with _guarded(self.path):
            self._db.close()


def open_sqlite(address: str) -> SqliteStore:
    """Open ``sqlite://PATH`` or ``sqlite://PATH?full=1``. Raises StoreError as the store does."""
    path, _, options = address.removeprefix("sqlite://").partition("?")
    return SqliteStore(path, full=options == "full=1")


def _edge(row: Row) -> Edge:
    return Edge._make((*row[:_PIN], row[_PIN] == 1, *row[_PIN + 1 :]))


def _record(row: Row) -> ForgetRecord:
    return ForgetRecord(_edge(row[3:]), str(row[0]), float(row[1]), float(row[2]))
