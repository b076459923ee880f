"""The stores that the contract tests run on, each with the reason when it cannot."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from memory.servers import RedisServer, missing_falkordb, missing_redis, start_falkordb, start_redis

from masim.memory.store.base import GraphStore
from masim.memory.store.registry import open_store

Opener = Callable[[], GraphStore]
_spaces = itertools.count()


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    if missing_redis():
        pytest.skip(missing_redis())
    server = start_redis(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


@pytest.fixture(scope="session")
def falkordb_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    if missing_falkordb():
        pytest.skip(missing_falkordb())
    server = start_falkordb(tmp_path_factory.mktemp("falkordb"))
    yield server
    server.kill()


@pytest.fixture
def own_falkordb(tmp_path: Path) -> Iterator[RedisServer]:
    """A FalkorDB of one test alone, which may kill it."""
    if missing_falkordb():
        pytest.skip(missing_falkordb())
    server = start_falkordb(tmp_path / "falkordb")
    yield server
    server.kill()


def _sqlite(request: pytest.FixtureRequest, path: Path) -> str:
    return str(path / "memory.sqlite")


def _redis(request: pytest.FixtureRequest, path: Path) -> str:
    server: RedisServer = request.getfixturevalue("redis_server")
    return server.url("redis", f"t{next(_spaces)}", f"&durable={path}/memory.sqlite")


def _falkordb(request: pytest.FixtureRequest, path: Path) -> str:
    server: RedisServer = request.getfixturevalue("falkordb_server")
    return server.url("falkordb", f"t{next(_spaces)}")


def _live(request: pytest.FixtureRequest, path: Path) -> str:
    """A server of the user's, for tests alone: it is emptied."""
    address = os.environ[LIVE[request.param]]
    with closing(open_store(address)) as store:
        for agent in store.agents():
            store.claim(agent)
            store.discard_after(agent, 0)
    return address


LIVE = {"neo4j": "MASIM_NEO4J_URI", "arango": "MASIM_ARANGO_URL"}
ADDRESSES = {"sqlite": _sqlite, "redis": _redis, "falkordb": _falkordb}
ADDRESSES |= {kind: _live for kind, variable in LIVE.items() if variable in os.environ}


@pytest.fixture(params=ADDRESSES)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty store of each kind lies; Neo4j and ArangoDB where the environment names one."""
    return ADDRESSES[request.param](request, tmp_path)


@pytest.fixture
def opener(address: str) -> Iterator[Opener]:
    """Opens the same store again and again; all are closed at the end."""
    with ExitStack() as stack:

        def opened() -> GraphStore:
            store = open_store(address)
            stack.callback(store.close)
            return store

        yield opened


@pytest.fixture
def store(opener: Opener) -> GraphStore:
    return opener()
