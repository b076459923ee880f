"""Memories in ArangoDB, by its official driver.

Each change is one stream transaction that locks the heads. The statements are asserted in masim's tests, and run when
``MASIM_ARANGO_URL`` names a server. Keys of documents are digests: names may hold what keys may not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from masim.errors import StoreError
from masim.memory.store.base import SCHEMA_VERSION, Head, check_schema
from masim.memory.store.codec import unplain
from masim.memory.store.connect import address, driver, guarded, option, shown
from masim.memory.store.temporal import Dialect, Plan, Statement, TemporalStore, agent_id

HEADS, PROFILES, EDGES, FORGOTTEN, META = (
    "masim_memory", "masim_profile", "masim_edge", "masim_forgotten", "masim_meta",
)  # fmt: skip
CHANGE_TRIES = 5
CONFLICT = 1200
"""Error number of a write that met another one; the transaction may be repeated."""
_MINE = "FOR h IN masim_memory FILTER h._key == SHA256(@agent) AND h.owner == @owner "
_ENDS = (
    "FOR row IN @rows LET a = CONCAT('masim_profile/', SHA256(row.src))"
    " LET b = CONCAT('masim_profile/', SHA256(row.dst))"
)
_OWN = "FOR e IN masim_edge FILTER e.agent == @agent"

AQL = Dialect(
    put_nodes=(
        f"{_MINE}FOR row IN @rows INSERT {{_key: SHA256(row.id), id: row.id, agent: @agent, kind: row.kind,"
        " name: row.name} INTO masim_profile OPTIONS {overwriteMode: 'replace'}"
    ),
    close_edges=(
        f"{_MINE}{_ENDS} FOR e IN masim_edge FILTER e._from == a AND e._to == b AND e.rel == row.rel"
        " AND e.until == @open AND e.version < @version UPDATE e WITH {until: @version} IN masim_edge"
    ),
    put_edges=(
        f"{_MINE}{_ENDS} INSERT {{_key: SHA256(CONCAT_SEPARATOR('\\n', row.src, row.rel, row.dst, @version)), _from: a,"
        " _to: b, agent: @agent, rel: row.rel, dst: row.dst, version: @version, until: @open, w: row.w, data: row.data}"
        " INTO masim_edge OPTIONS {overwriteMode: 'replace'}"
    ),
    put_archive=(
        f"{_MINE}FOR row IN @rows INSERT {{_key: SHA256(row.id), id: row.id, agent: @agent, version: @version,"
        " position: row.position, data: row.data} INTO masim_forgotten OPTIONS {overwriteMode: 'replace'}"
    ),
    edges=f"{_OWN} AND e.version <= @version AND e.until > @version RETURN e.data",
    top=(
        "FOR e IN masim_edge FILTER e._from == CONCAT('masim_profile/', SHA256(@id)) AND e.version <= @version"
        " AND e.until > @version SORT e.w DESC, e.rel, e.dst LIMIT @k RETURN e.data"
    ),
    archive=(
        "FOR f IN masim_forgotten FILTER f.agent == @agent AND f.version <= @version"
        " SORT f.version DESC, f.position DESC LIMIT @k RETURN f.data"
    ),
    wipe=(
        f"{_MINE}{_OWN} AND e.version > @version REMOVE e IN masim_edge",
        f"{_MINE}FOR f IN masim_forgotten FILTER f.agent == @agent AND f.version > @version"
        " REMOVE f IN masim_forgotten",
    ),
    reopen=(f"{_MINE}{_OWN} AND e.until > @version AND e.until < @open UPDATE e WITH {{until: @open}} IN masim_edge"),
    compact=f"{_MINE}{_OWN} AND e.until <= @keep REMOVE e IN masim_edge",
    sweep_nodes=(
        f"{_MINE}FOR n IN masim_profile FILTER n.agent == @agent"
        " FILTER LENGTH(FOR e IN masim_edge FILTER e._from == n._id OR e._to == n._id LIMIT 1 RETURN 1) == 0"
        " REMOVE n IN masim_profile"
    ),
)
_HEAD = "FOR h IN masim_memory FILTER h._key == SHA256(@agent) RETURN [h.version, h.owner, h.stamp]"
_PUT_HEAD = (
    "INSERT {_key: SHA256(@agent), id: @agent, version: @version, owner: @owner, stamp: @stamp}"
    " INTO masim_memory OPTIONS {overwriteMode: 'replace'}"
)
_AGENTS = "FOR h IN masim_memory FILTER h.version > 0 RETURN h.id"
_SCHEMA = (
    "UPSERT {_key: 'schema'} INSERT {_key: 'schema', version: @version} UPDATE {} IN masim_meta RETURN NEW.version"
)


class ArangoStore(TemporalStore):
    """A store in a database of ArangoDB: ``arango://user:password@host:port/DATABASE?tls=1``.

    Raises StoreError when it is unreachable, refuses the password or has another schema.
    """

    def __init__(self, url: str, arango: ModuleType | None = None) -> None:
        arango = arango or driver("arango", "arango")
        parts = address(url)
        super().__init__(AQL, shown(parts))
        self._errors = (arango.exceptions.ArangoError, ConnectionError, OSError)
        scheme = "https" if option(parts, "tls") == "1" else "http"
        patient = arango.http.DefaultHTTPClient(request_timeout=30, retry_attempts=0)
        host = f"{scheme}://{parts.hostname}:{parts.port or 8529}"
        self._client = arango.ArangoClient(hosts=host, http_client=patient)
        with guarded(self._errors, self.where):
            self._db: Any = self._client.db(
                parts.path.strip("/") or "_system", username=parts.username or "root", password=parts.password or ""
            )
            self._prepare()

    def _prepare(self) -> None:
        for name in (HEADS, PROFILES, EDGES, FORGOTTEN, META):
            if not self._db.has_collection(name):
                self._db.create_collection(name, edge=name == EDGES)
        for name in (PROFILES, EDGES, FORGOTTEN):
            self._db.collection(name).add_index({"type": "persistent", "fields": ["agent"]})
        found = _rows(self._db, Statement(_SCHEMA, {"version": SCHEMA_VERSION}))
        check_schema(found[0], self.where)

    def _change(self, agents: Sequence[str], plan: Plan) -> None:
        with guarded(self._errors, self.where):
            if not any(self._tried(agents, plan) for _ in range(CHANGE_TRIES)):
                raise StoreError("too many writers at the same memory", self.where, "", "", "give each graph one owner")

    def _tried(self, agents: Sequence[str], plan: Plan) -> bool:
        """Do everything in one transaction; False when it met another one."""
        transaction = self._db.begin_transaction(write=[PROFILES, EDGES, FORGOTTEN], exclusive=[HEADS])
        try:
            found = {agent: self._found(transaction, agent) for agent in agents}
            statements, heads = plan(found)
            for statement in [*statements, *(_put_head(agent, head) for agent, head in heads.items())]:
                _rows(transaction, statement)
            transaction.commit_transaction()
        except BaseException as exc:
            transaction.abort_transaction()
            if getattr(exc, "error_code", None) == CONFLICT:
                return False
            raise
        return True

    @staticmethod
    def _found(db: Any, agent: str) -> Head:
        return next(map(Head._make, _rows(db, Statement(_HEAD, {"agent": agent_id(agent)}))), Head())

    def _read(self, statement: Statement) -> list[str]:
        with guarded(self._errors, self.where):
            return _rows(self._db, statement)

    def _head(self, agent: str) -> Head:
        with guarded(self._errors, self.where):
            return self._found(self._db, agent)

    def agents(self) -> list[str]:
        """Return the agents with a stored version, in order."""
        self._require_open()
        with guarded(self._errors, self.where):
            return sorted(map(unplain, _rows(self._db, Statement(_AGENTS, {}))))

    def _disconnect(self) -> None:
        self._client.close()


def _rows(db: Any, statement: Statement) -> list[Any]:
    values: Mapping[str, Any] = dict(statement.parameters)
    return list(db.aql.execute(statement.text, bind_vars=values))


def _put_head(agent: str, head: Head) -> Statement:
    return Statement(_PUT_HEAD, {"agent": agent_id(agent), **head._asdict()})
