"""Memories in FalkorDB, a graph database that is a Redis module, by its native protocol.

Statements go as ``GRAPH.QUERY`` over a Redis connection: over Bolt, FalkorDB fails on requests above 4,096 bytes. They
go one by one and never in a MULTI block, which a FalkorDB that starts again cannot replay while a client knocks. How
long an acknowledged batch lasts is the server's setting: with ``appendonly yes`` and ``appendfsync always`` it survives
the death of the server's process and of the machine; with ``everysec`` a server that dies while its disk is slow loses
up to two seconds, which the log says when the store is opened.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from masim.memory.store.connect import address, driver, guarded, once, option, shown
from masim.memory.store.cypher import INDEXED, CypherStore
from masim.memory.store.temporal import Statement

TIMEOUT_S = 30.0
_log = logging.getLogger(__name__)


class FalkorStore(CypherStore):
    """A store in one graph of a FalkorDB server. Raises StoreError when it is unreachable or of another schema."""

    def __init__(self, url: str) -> None:
        redis = driver("redis", "falkordb")
        parts = address(url)
        super().__init__(shown(parts))
        self._errors = redis.exceptions.RedisError
        self._graph = f"masim:{option(parts, 'space', 'memory')}"
        self._db: Any = redis.Redis(
            host=parts.hostname, port=parts.port or 6379, username=parts.username, password=parts.password,
            socket_timeout=TIMEOUT_S, socket_connect_timeout=2.0, decode_responses=True, retry=once(redis),
        )  # fmt: skip
        with guarded(self._errors, self.where):
            if not self._db.exists(self._graph):
                self._index(redis.exceptions.ResponseError)
        self._check_schema()
        self._warn_of_loss()

    def _warn_of_loss(self) -> None:
        """Say when this server may lose what it acknowledged; one that hides its settings is taken as good."""
        try:
            found = self._db.config_get("append*")
        except self._errors:
            return
        if found.get("appendonly") != "yes":
            _log.warning("%s keeps nothing when its process ends: set appendonly yes", self.where)
        elif found.get("appendfsync") == "everysec":
            _log.warning("%s may lose two seconds when its process dies: set appendfsync always", self.where)

    def _index(self, refused: type[Exception]) -> None:
        for label, name in INDEXED:
            try:
                self._send("GRAPH.QUERY", Statement(f"CREATE INDEX FOR (n:{label}) ON (n.{name})", {}))
            except refused as exc:  # Two processes may open a new store at once.
                if "already indexed" not in str(exc):
                    raise

    def _send(self, command: str, statement: Statement) -> Any:
        return self._db.execute_command(command, self._graph, rendered(statement))

    def _run(self, statement: Statement, writes: bool = False) -> list[Sequence[Any]]:
        with guarded(self._errors, self.where):
            found: list[Sequence[Any]] = self._send("GRAPH.QUERY" if writes else "GRAPH.RO_QUERY", statement)[1]
        return found

    def _run_all(self, statements: Sequence[Statement]) -> None:
        """Send everything at once; the server works on one statement of a connection after the other."""
        with guarded(self._errors, self.where), self._db.pipeline(transaction=False) as pipe:
            for statement in statements:
                pipe.execute_command("GRAPH.QUERY", self._graph, rendered(statement))
            pipe.execute()

    def _disconnect(self) -> None:
        self._db.close()


def rendered(statement: Statement) -> str:
    """Return a statement as the protocol wants it: its parameters as literals in a head, apart from its text."""
    head = " ".join(f"{name}={literal(value)}" for name, value in statement.parameters.items())
    return f"CYPHER {head} {statement.text}" if head else statement.text


def literal(value: Any) -> str:
    """Return a parameter as a Cypher literal. Raises TypeError for anything but texts, numbers, lists and mappings."""
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{literal(part)}" for key, part in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ",".join(map(literal, value)) + "]"
    raise TypeError(f"not a parameter of a statement: {type(value).__name__}")
