"""Memories in Neo4j, by its official driver.

Each change is one transaction, so that the heads and what they show move together. The statements are those that
FalkorDB runs in masim's tests; against a Neo4j they are run when ``MASIM_NEO4J_URI`` names one.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from masim.memory.store.base import Head
from masim.memory.store.connect import address, driver, guarded, option, shown
from masim.memory.store.cypher import INDEXED, CypherStore, put_heads, touch_head
from masim.memory.store.temporal import Plan, Statement

UNIQUE = "id"
"""Nodes that are merged by this property need its constraint, or two writers at once could make two of them."""

_PATIENCE = {"connection_timeout": 5.0, "connection_acquisition_timeout": 10.0, "max_transaction_retry_time": 10.0}


class Neo4jStore(CypherStore):
    """A store in a database of Neo4j: ``neo4j://user:password@host:port?database=NAME``, or ``bolt://``.

    Raises StoreError when it is unreachable, refuses the password or has another schema.
    """

    def __init__(self, url: str, neo4j: ModuleType | None = None) -> None:
        neo4j = neo4j or driver("neo4j", "neo4j")
        parts = address(url)
        super().__init__(shown(parts))
        self._errors = (neo4j.exceptions.Neo4jError, neo4j.exceptions.DriverError)
        self._database = option(parts, "database") or None
        auth = (parts.username, parts.password or "") if parts.username else None
        with guarded((*self._errors, ValueError), self.where):
            self._driver: Any = neo4j.GraphDatabase.driver(self.where, auth=auth, **_PATIENCE)
        try:
            with guarded(self._errors, self.where):
                self._driver.verify_connectivity()
            for label, name in INDEXED:
                self._run(Statement(_index(label, name), {}), writes=True)
            self._check_schema()
        except BaseException:
            self._driver.close()
            raise

    def _run(self, statement: Statement, writes: bool = False) -> list[Sequence[Any]]:
        def work(transaction: Any) -> list[Sequence[Any]]:
            return _rows(transaction, statement)

        with guarded(self._errors, self.where), self._driver.session(database=self._database) as session:
            found: list[Sequence[Any]] = (session.execute_write if writes else session.execute_read)(work)
        return found

    def _run_all(self, statements: Sequence[Statement]) -> None:
        with guarded(self._errors, self.where), self._driver.session(database=self._database) as session:
            session.execute_write(lambda transaction: [_rows(transaction, each) for each in statements])

    def _change(self, agents: Sequence[str], plan: Plan) -> None:
        """Do everything in one transaction; the driver repeats it where the database says that it may."""

        def work(transaction: Any) -> None:
            ordered = sorted(agents)  # The same order of locks for every writer.
            found = {agent: Head._make(_rows(transaction, touch_head(agent))[0]) for agent in ordered}
            statements, heads = plan(found)
            for statement in statements:
                _rows(transaction, statement)
            if heads:
                _rows(transaction, put_heads(found, heads))

        with guarded(self._errors, self.where), self._driver.session(database=self._database) as session:
            session.execute_write(work)

    def _disconnect(self) -> None:
        self._driver.close()


def _rows(transaction: Any, statement: Statement) -> list[Sequence[Any]]:
    result = transaction.run(statement.text, dict(statement.parameters))
    return [list(row.values()) for row in result]


def _index(label: str, name: str) -> str:
    if name == UNIQUE:
        return f"CREATE CONSTRAINT masim_{label}_{name} IF NOT EXISTS FOR (n:{label}) REQUIRE n.{name} IS UNIQUE"
    return f"CREATE INDEX masim_{label}_{name} IF NOT EXISTS FOR (n:{label}) ON (n.{name})"
