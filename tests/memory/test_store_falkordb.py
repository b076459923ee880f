"""What FalkorDB adds to the contract: a server that may lose what it acknowledged is named when it is opened."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from memory.servers import RedisServer, missing_falkordb, start_falkordb

from masim.errors import StoreError
from masim.memory.store.registry import open_store


def test_a_server_that_may_lose_batches_is_named(
    falkordb_server: RedisServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    open_store(falkordb_server.url("falkordb", "safe")).close()
    assert not caplog.records
    lax = start_falkordb(tmp_path / "lax", "everysec")
    try:
        with caplog.at_level(logging.WARNING):
            open_store(lax.url("falkordb", "lax")).close()
    finally:
        lax.kill()
    assert "may lose two seconds" in caplog.text and lax.password not in caplog.text


def test_a_plain_redis_is_no_falkordb(redis_server: RedisServer) -> None:
    if missing_falkordb():
        pytest.skip(missing_falkordb())
    with pytest.raises(StoreError, match=r"cannot be used \(unknown command"):
        open_store(redis_server.url("falkordb", "x"))


def test_another_schema_version_is_refused(falkordb_server: RedisServer) -> None:
    import redis

    address = falkordb_server.url("falkordb", "schema")
    open_store(address).close()
    client = redis.Redis(port=falkordb_server.port, password=falkordb_server.password)
    client.execute_command("GRAPH.QUERY", "masim:schema", "MATCH (s:MasimSchema) SET s.version = 99")
    client.close()
    with pytest.raises(StoreError, match=r"schema version.*99"):
        open_store(address)
