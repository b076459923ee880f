"""What SQLite adds to the contract: damaged, torn and foreign files, other schemas and a full disk are named."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from memory.days import days

import masim
from masim.errors import StoreError
from masim.memory import MemoryBook, MemoryConfig
from masim.memory.graph import Edge, GraphDelta
from masim.memory.store.sqlite import SqliteStore

EDGE = Edge("agent|a", "r", "vendor|v", 1.0, 2.0, 0.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.sqlite"


@pytest.mark.parametrize("text", [b"not a database at all" * 90, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_damaged_file_is_named(path: Path, text: bytes) -> None:
    path.write_bytes(text)
    with pytest.raises(StoreError, match=r"memory\.sqlite"):
        SqliteStore(path)


def test_a_torn_page_is_found(path: Path) -> None:
    store = SqliteStore(path)
    b = MemoryBook(["ann", "bob"], MemoryConfig(), store)
    days(b, 0, 6)
    store.close()
    data = bytearray(path.read_bytes())
    data[8192:12288] = b"\x07" * 4096
    path.write_bytes(bytes(data))
    with pytest.raises(StoreError, match=r"memory\.sqlite"):
        SqliteStore(path)


@pytest.mark.parametrize("found", ["0", "99"])
def test_another_schema_is_refused_and_left_alone(path: Path, found: str) -> None:
    SqliteStore(path).close()
    db = sqlite3.connect(path)
    db.execute("UPDATE meta SET value = ?", (found,))
    db.commit()
    db.close()
    with pytest.raises(StoreError, match=f"schema version.*{found}"):
        SqliteStore(path)


def test_another_database_is_not_ours(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE orders (id)")
    db.commit()
    db.close()
    with pytest.raises(StoreError, match="not a memory store"):
        SqliteStore(path)


def test_a_closed_store_says_so(path: Path) -> None:
    store = SqliteStore(path, full=True)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.load("a")
    with pytest.raises(StoreError):
        SqliteStore(path.parent / "absent" / "x.sqlite")


@pytest.mark.parametrize("length", [1, 100, 4096, 9000])
def test_a_truncated_file_is_named(path: Path, length: int) -> None:
    store = SqliteStore(path)
    days(MemoryBook(["ann", "bob"], MemoryConfig(), store), 0, 6)
    store.close()
    os.truncate(path, length)
    with pytest.raises(StoreError, match=r"memory\.sqlite.*fix: restore a copy"):
        SqliteStore(path)


def test_a_file_truncated_to_nothing_beside_its_log_is_named(path: Path, tmp_path: Path) -> None:
    store = SqliteStore(path)
    store.apply("a", GraphDelta((EDGE,)), 1)
    (tmp_path / "copy-wal").write_bytes(Path(f"{path}-wal").read_bytes())
    store.close()
    os.truncate(path, 0)
    (tmp_path / "copy-wal").rename(f"{path}-wal")
    with pytest.raises(StoreError, match="truncated"):
        SqliteStore(path)


FILLER = """
import resource, sys
from masim.errors import StoreError
from masim.memory.graph import Edge, GraphDelta
from masim.memory.store.sqlite import SqliteStore
store = SqliteStore(sys.argv[1])
version = 0
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
def batch(version):
    return GraphDelta(tuple(Edge("agent|a", "r", f"vendor|{i}", float(version), 0.0, 0.0) for i in range(400)))
try:
    for version in range(1, 1000):
        store.apply("a", batch(version), version)
except StoreError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(store.version("a"), version - 1)
store.apply("a", batch(version), version)
print(store.version("a"))
"""


def test_a_full_disk_is_named_and_loses_nothing(path: Path) -> None:
    """No file may grow beyond a limit, which SQLite meets as it meets a full disk; then there is space again."""
    environment = {**os.environ, "PYTHONPATH": str(Path(masim.__file__).parents[1])}
    command = [sys.executable, "-c", FILLER, str(path)]
    said = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=True).stdout.splitlines()
    assert "memory.sqlite" in said[0] and "nothing of this batch was stored" in said[0]
    stored, acknowledged = map(int, said[1].split())
    assert stored == acknowledged > 0 and int(said[2]) == acknowledged + 1
    store = SqliteStore(path)
    assert {e.w for e in store.load("a").edges.values()} == {float(acknowledged + 1)}
    store.close()
