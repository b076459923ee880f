"""Drivers that record what they are asked: no Neo4j and no ArangoDB runs here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

Asked = tuple[str, Mapping[str, Any]]
Answer = Callable[[str, Mapping[str, Any]], Sequence[Sequence[Any]]]


def heads_only(text: str, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
    """Answer as an empty database would: the schema, heads of version 0, no rows."""
    if "MasimSchema" in text or "masim_meta" in text:
        return [[values["version"]]]
    if "MERGE (h:MasimMemory" in text:
        return [[0, "", ""]]
    return []


class FakeNeo4j:
    """Stands for the module ``neo4j``; ``log`` has the statements and the ends of transactions."""

    def __init__(self, answer: Answer = heads_only) -> None:
        self.log: list[Asked] = []
        self.addresses: list[tuple[Any, ...]] = []
        self._answer = answer
        self.exceptions = SimpleNamespace(Neo4jError=LookupError, DriverError=ConnectionError)
        self.GraphDatabase = SimpleNamespace(driver=self._driver)

    def _driver(self, url: str, **options: Any) -> FakeNeo4j:
        self.addresses.append((url, options["auth"]))
        return self

    def verify_connectivity(self) -> None:
        self.log.append(("CONNECT", {}))

    @contextmanager
    def session(self, database: str | None) -> Iterator[FakeNeo4j]:
        self.log.append(("SESSION", {"database": database}))
        yield self

    def execute_write(self, work: Callable[[Any], Any]) -> Any:
        try:
            found = work(self)
        except BaseException:
            self.log.append(("ROLLBACK", {}))
            raise
        self.log.append(("COMMIT", {}))
        return found

    def execute_read(self, work: Callable[[Any], Any]) -> Any:
        return work(self)

    def run(self, text: str, values: Mapping[str, Any]) -> list[dict[int, Any]]:
        self.log.append((text, values))
        return [dict(enumerate(row)) for row in self._answer(text, values)]

    def close(self) -> None:
        self.log.append(("CLOSE", {}))


class FakeArango:
    """Stands for the module ``arango``, its client, its database and its transactions."""

    def __init__(self, answer: Answer = heads_only) -> None:
        self.log: list[Asked] = []
        self._answer = answer
        self.exceptions = SimpleNamespace(ArangoError=LookupError)
        self.http = SimpleNamespace(DefaultHTTPClient=lambda **options: options)
        self.aql = self
        self.collections: dict[str, bool] = {}

    def ArangoClient(self, hosts: str, http_client: Any) -> FakeArango:
        self.log.append(("CONNECT", {"hosts": hosts}))
        return self

    def db(self, name: str, username: str, password: str) -> FakeArango:
        self.log.append(("DATABASE", {"name": name, "username": username, "password": password}))
        return self

    def has_collection(self, name: str) -> bool:
        return name in self.collections

    def create_collection(self, name: str, edge: bool) -> None:
        self.collections[name] = edge

    def collection(self, name: str) -> FakeArango:
        assert name in self.collections
        return self

    def add_index(self, data: Mapping[str, Any]) -> None:
        self.log.append(("INDEX", data))

    def begin_transaction(self, write: Sequence[str], exclusive: Sequence[str]) -> FakeArango:
        self.log.append(("BEGIN", {"write": write, "exclusive": exclusive}))
        return self

    def execute(self, text: str, bind_vars: Mapping[str, Any]) -> list[Any]:
        self.log.append((text, bind_vars))
        return [row[0] if len(row) == 1 else row for row in self._answer(text, bind_vars)]

    def commit_transaction(self) -> None:
        self.log.append(("COMMIT", {}))

    def abort_transaction(self) -> None:
        self.log.append(("ROLLBACK", {}))

    def close(self) -> None:
        self.log.append(("CLOSE", {}))
