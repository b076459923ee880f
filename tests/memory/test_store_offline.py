"""What Neo4j and ArangoDB are asked, read from recording drivers; no server of theirs runs here.

1. Names and ids are parameters, never part of a statement, and each statement uses exactly its parameters. 2. Nodes
come before edges and heads last, in one transaction, or nothing at all. 3. Keys are ``agent|kind|name``. 4. What needs
a missing package says which extra brings it; what cannot be reached says so and keeps the password to itself.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any, cast

import pytest
from memory.fakes import Asked, FakeArango, FakeNeo4j, heads_only

from masim.errors import MissingExtraError, StoreError
from masim.memory.graph import Edge, ForgetRecord, GraphDelta
from masim.memory.store.arango import AQL, ArangoStore
from masim.memory.store.cypher import CYPHER
from masim.memory.store.neo4j import Neo4jStore
from masim.memory.store.registry import STORES, open_store
from masim.memory.store.temporal import ROWS_PER_STATEMENT, Dialect, TemporalStore

EVIL = "x'}) DETACH DELETE n //"
EDGE = Edge("agent|a", "relies", f"vendor|{EVIL}", 1.0, 2.0, 0.0)
BATCH = GraphDelta((EDGE,), (("agent|a", "relies", "vendor|gone"),), (ForgetRecord(EDGE, "ttl", 0.5, 3.0),))
NEO4J, ARANGO = "neo4j://me:secret@127.0.0.1:1?database=fleet", "arango://me:secret@127.0.0.1:1/fleet"


def neo4j_store() -> tuple[TemporalStore, FakeNeo4j]:
    fake = FakeNeo4j()
    return Neo4jStore(NEO4J, cast(ModuleType, fake)), fake


def arango_store() -> tuple[TemporalStore, FakeArango]:
    fake = FakeArango()
    return ArangoStore(ARANGO, cast(ModuleType, fake)), fake


BOTH = pytest.mark.parametrize(
    "make, dialect, sign", [(neo4j_store, CYPHER, r"\$(\w+)"), (arango_store, AQL, r"@(\w+)")], ids=["neo4j", "arango"]
)
Make = Callable[[], tuple[TemporalStore, Any]]


def statements(log: list[Asked]) -> list[Asked]:
    return [(text, values) for text, values in log if " " in text and not text.startswith("CREATE")]


@BOTH
def test_every_statement_takes_its_parameters_and_no_text(make: Make, dialect: Dialect, sign: str) -> None:
    store, fake = make()
    store.apply(EVIL, BATCH, 1)
    for ask in (lambda: store.load(EVIL), lambda: store.archive(EVIL), lambda: store.top_k(EVIL, f"vendor|{EVIL}", 3),
                lambda: store.discard_after(EVIL, 1), lambda: store.compact(EVIL, 1), store.agents):  # fmt: skip
        ask()
    asked = statements(fake.log)
    assert len(asked) > 15
    for text, values in asked:
        assert set(re.findall(sign, text)) == set(values), text
        assert "DETACH" not in text and "gone" not in text and "'a'" not in text
    assert any(EVIL in str(values) for _, values in asked)


@BOTH
def test_a_batch_is_one_transaction_nodes_first_heads_last(make: Make, dialect: Dialect, sign: str) -> None:
    store, fake = make()
    store.claim("a")
    fake.log.clear()
    store.apply("a", BATCH, 1)
    texts = [text for text, _ in fake.log if text not in ("SESSION", "BEGIN")]
    assert texts[1:5] == [dialect.put_nodes, dialect.close_edges, dialect.put_edges, dialect.put_archive]
    assert "MasimMemory" in texts[0] + texts[5] or "masim_memory" in texts[0] + texts[5]
    assert texts[6:] == ["COMMIT"]
    values = dict(statements(fake.log))
    assert [row["id"] for row in values[dialect.put_nodes]["rows"]] == ["a|agent|a", f"a|vendor|{EVIL}"]
    ends = [(row["src"], row["rel"], row["dst"]) for row in values[dialect.close_edges]["rows"]]
    assert ends == [("a|agent|a", "relies", f"a|vendor|{EVIL}"), ("a|agent|a", "relies", "a|vendor|gone")]
    assert values[dialect.put_edges]["rows"][0]["w"] == 1.0 and values[dialect.put_edges]["version"] == 1


@BOTH
def test_what_is_refused_is_rolled_back_and_writes_nothing(make: Make, dialect: Dialect, sign: str) -> None:
    store, fake = make()
    is_head = re.compile(r"MERGE .h:MasimMemory|FOR h .*stamp]")
    taken = [[7, "somebody", "somebody.1"]]
    fake._answer = lambda text, values: taken if is_head.search(text) else heads_only(text, values)
    fake.log.clear()
    with pytest.raises(StoreError, match="owned by another"):
        store.apply("a", BATCH, 8)
    texts = [text for text, _ in fake.log]
    assert texts[-1] == "ROLLBACK" and not {dialect.put_nodes, dialect.put_edges} & set(texts)


@BOTH
def test_large_batches_go_in_parts(make: Make, dialect: Dialect, sign: str) -> None:
    store, fake = make()
    edges = tuple(EDGE._replace(dst=f"vendor|{i}") for i in range(ROWS_PER_STATEMENT + 1))
    store.apply("a", GraphDelta(edges), 1)
    sizes = [len(values["rows"]) for text, values in statements(fake.log) if text == dialect.put_edges]
    assert sizes == [ROWS_PER_STATEMENT, 1]


def test_the_drivers_get_address_user_and_database() -> None:
    _, neo4j = neo4j_store()
    assert neo4j.addresses == [("neo4j://127.0.0.1:1", ("me", "secret"))]
    assert ("SESSION", {"database": "fleet"}) in neo4j.log
    assert any("REQUIRE n.id IS UNIQUE" in text for text, _ in neo4j.log)
    _, arango = arango_store()
    assert arango.log[0] == ("CONNECT", {"hosts": "http://127.0.0.1:1"})
    assert arango.log[1] == ("DATABASE", {"name": "fleet", "username": "me", "password": "secret"})
    assert arango.collections == {"masim_memory": False, "masim_profile": False, "masim_edge": True,
                                  "masim_forgotten": False, "masim_meta": False}  # fmt: skip


@pytest.mark.parametrize("url", [NEO4J, ARANGO, "falkordb://:secret@127.0.0.1:1"])
def test_an_unreachable_server_is_named_without_its_password(url: str) -> None:
    pytest.importorskip({"falkordb": "redis"}.get(url.partition(":")[0], url.partition(":")[0]))
    with pytest.raises(StoreError, match=r"127\.0\.0\.1:1.*cannot be used") as error:
        open_store(url)
    assert "secret" not in str(error.value)


EXTRAS = {scheme: "neo4j" if scheme in ("neo4j+s", "bolt") else scheme for scheme in STORES}


@pytest.mark.parametrize("scheme", [scheme for scheme in STORES if scheme != "sqlite"])
def test_a_missing_driver_names_its_extra(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def absent(name: str, package: str | None = None) -> ModuleType:
        if name in ("redis", "neo4j", "arango"):
            raise ImportError(name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(MissingExtraError, match=rf"pip install 'masim\[{EXTRAS[scheme]}\]'"):
        open_store(f"{scheme}://127.0.0.1:1")


@pytest.mark.parametrize("address", ["mongo://127.0.0.1", "neo4j://", "redis://host:port", "falkordb://h:99999"])
def test_addresses_that_are_none_are_refused(address: str) -> None:
    with pytest.raises(StoreError):
        open_store(address)
