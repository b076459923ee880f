"""The Redis cache: it is used, it is never trusted, and it may die.

1. A warm graph comes from Redis, a cold one fills it. 2. A cache that is behind, ahead or of another history is a miss.
3. A Redis that dies or hangs in mid-run is a degraded mode that says so; nothing acknowledged is lost; it recovers.
"""

from __future__ import annotations

import importlib
import logging
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from memory.days import days
from memory.servers import RedisServer, missing_redis, start_redis

import masim.memory.store.redis as module
from masim.errors import StoreError
from masim.memory import FrozenGraph, MemoryBook, MemoryConfig
from masim.memory.graph import Edge, ForgetRecord, GraphDelta
from masim.memory.store.redis import RedisCache
from masim.memory.store.registry import open_store
from masim.memory.store.sqlite import SqliteStore

EDGE = Edge("agent|a", "r", "vendor|v", 1.0, 2.0, 0.0)


class Counting(SqliteStore):
    """Counts the graphs that are read from the file."""

    loads = 0

    def load(self, agent: str) -> FrozenGraph:
        self.loads += 1
        return super().load(agent)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis of one test alone, which may kill it."""
    if missing_redis():
        pytest.skip(missing_redis())
    started = start_redis(tmp_path / "redis")
    yield started
    started.kill()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRY_S", 0.0)


def cache_of(server: RedisServer, path: Path, space: str = "x") -> tuple[RedisCache, Counting]:
    durable = Counting(path / "memory.sqlite")
    return RedisCache(server.url("redis", space), durable), durable


def test_a_warm_graph_is_read_from_redis(redis_server: RedisServer, tmp_path: Path) -> None:
    cache, durable = cache_of(redis_server, tmp_path, "warm")
    record = ForgetRecord(EDGE._replace(dst="vendor|x"), "ttl", 0.5, 3.0)
    cache.apply("a", GraphDelta((EDGE,)), 1)
    assert cache.load("a").edges == {EDGE.key: EDGE} and durable.loads == 1
    other = EDGE._replace(dst="vendor|w", w=0.1)
    cache.apply("a", GraphDelta((other,), (EDGE.key,), (record,)), 2)
    warm = cache.load("a")
    assert durable.loads == 1
    assert warm == durable.load("a") == FrozenGraph.of([other], [record], 2)
    again, second = cache_of(redis_server, tmp_path, "warm")
    assert again.load("a") == warm and second.loads == 0
    cache.close()
    again.close()


def test_a_cache_of_another_history_is_not_read(redis_server: RedisServer, tmp_path: Path) -> None:
    """The file goes on without Redis to a graph of the same version with other content."""
    cache, durable = cache_of(redis_server, tmp_path, "history")
    cache.apply("a", GraphDelta((EDGE,)), 1)
    cache.apply("a", GraphDelta((EDGE._replace(w=5.0),)), 2)
    assert cache.load("a").edges[EDGE.key].w == 5.0
    durable.discard_after("a", 1)
    durable.apply("a", GraphDelta((EDGE._replace(w=7.0),)), 2)
    assert cache.load("a").edges[EDGE.key].w == 7.0
    durable.apply("a", GraphDelta((EDGE._replace(w=8.0),)), 3)
    cache.apply("a", GraphDelta((EDGE._replace(dst="vendor|u"),)), 4)
    assert cache.load("a") == durable.load("a")
    client = importlib.import_module("redis").Redis(port=redis_server.port, password=redis_server.password)
    client.hset("{masim:history:a}:edges", "anything", "no edge")
    client.close()
    assert cache.load("a") == durable.load("a")
    cache.close()


def test_redis_dies_in_mid_run_and_comes_back(
    server: RedisServer, tmp_path: Path, at_once: None, caplog: pytest.LogCaptureFixture
) -> None:
    cache, durable = cache_of(server, tmp_path)
    book = MemoryBook(["ann", "bob"], MemoryConfig(), cache)
    days(book, 0, 2)
    cache.load("/ann")
    with caplog.at_level(logging.WARNING):
        server.kill()
        days(book, 2, 4)
    assert "does not answer" in cache.degraded and caplog.text.count("the durable store goes on without it") == 1
    assert cache.version("/ann") == 4 and cache.load("/ann").edges == book.base("ann").edges
    server.start()
    with caplog.at_level(logging.WARNING):
        days(book, 4, 5)
    assert cache.degraded == "" and caplog.text.count("answers again") == 1
    assert cache.load("/ann").edges == book.base("ann").edges
    loads = durable.loads
    days(book, 5, 6)
    assert cache.load("/ann").edges == book.base("ann").edges and durable.loads == loads
    cache.close()
    assert MemoryBook(["ann", "bob"], MemoryConfig(), SqliteStore(durable.path)).digest() == book.digest()


def test_a_redis_that_hangs_is_waited_for_once(
    server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TIMEOUT_S", 0.05)
    monkeypatch.setattr(module, "RETRY_S", 3600.0)
    cache, _ = cache_of(server, tmp_path)
    cache.apply("a", GraphDelta((EDGE,)), 1)
    os.kill(server.pid, signal.SIGSTOP)
    for version in range(2, 5):
        cache.apply("a", GraphDelta((EDGE._replace(w=float(version)),)), version)
    assert "imeout" in cache.degraded and cache.load("a").edges[EDGE.key].w == 4.0
    cache.close()


def test_without_redis_it_begins_degraded(server: RedisServer, tmp_path: Path) -> None:
    server.kill()
    store = open_store(server.url("redis", "x", f"&durable={tmp_path}/memory.sqlite"))
    assert isinstance(store, RedisCache) and store.degraded
    store.apply("a", GraphDelta((EDGE,)), 1)
    assert store.load("a").version == 1
    store.close()


def test_a_wrong_password_and_no_durable_store_are_errors(redis_server: RedisServer, tmp_path: Path) -> None:
    good = redis_server.url("redis", "x", f"&durable={tmp_path}/memory.sqlite")
    with pytest.raises(StoreError, match="cannot be used") as error:
        open_store(good.replace(redis_server.password, "wrongpw"))
    assert "wrongpw" not in str(error.value)
    with pytest.raises(StoreError, match="needs a durable store"):
        open_store(redis_server.url("redis", "x"))
