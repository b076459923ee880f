"""The stores that the contract tests run on, each with the reason when it cannot."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
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


def _falkordb(request: pytest.FixtureRequest, path: Path) -> str:
    server: RedisServer = request.getfixturevalue("falkordb_server")
    return server.url("falkordb", f"t{next(_spaces)}")


ADDRESSES = {"sqlite": _sqlite, "falkordb": _falkordb}


@pytest.fixture(params=ADDRESSES)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty store of each kind lies."""
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
