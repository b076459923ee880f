"""The contract of every store, and what SQLite adds.

1. What was applied is loaded, by agent. 2. Applying again changes nothing; going back needs discard_after.
3. Save-load-sweep equals sweep-save-load. 4. Damaged files and other schemas are named. 5. kill -9 of a writer loses no
acknowledged batch.
"""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from memory.days import good_day, graphs, tell, use

import masim
from masim.errors import ConfigError, StoreError
from masim.memory import FrozenGraph, MemoryBook, MemoryConfig
from masim.memory.forget import sweep
from masim.memory.graph import Edge, GraphDelta, ProfileGraph
from masim.memory.store.base import GraphStore
from masim.memory.store.sqlite import SqliteStore
from masim.units import DAY

CONFIG = MemoryConfig(node_cap=8, node_floor=6)
KILLS = 8


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[GraphStore]:
    opened = SqliteStore(path)
    yield opened
    opened.close()


def days(b: MemoryBook, first: int, last: int) -> None:
    for day in range(first, last):
        overlays = b.overlays(day * DAY)
        good_day(overlays["ann"], [f"c{day % 3}", "dock"], day)
        use(overlays["bob"], "c9", day * DAY)
        tell(overlays["bob"], "missed", "c9", day * DAY)
        overlays["bob"].end_episode(day * DAY)
        b.commit(overlays)


def test_a_book_comes_back_as_it_was(store: GraphStore) -> None:
    b = MemoryBook(["ann", "bob"], MemoryConfig(), store, "camp")
    days(b, 0, 5)
    again = MemoryBook(["ann", "bob"], MemoryConfig(), store, "camp")
    assert (again.version, again.digest()) == (5, b.digest())
    assert again.base("ann") == b.base("ann")
    assert again.archive("ann") == b.archive("ann")
    assert again.overlay("ann", 5 * DAY).key(5 * DAY) == b.overlay("ann", 5 * DAY).key(5 * DAY)
    assert MemoryBook(["ann", "bob"], MemoryConfig(), store, "other").version == 0


def test_a_resume_goes_back_and_repeats_the_same_future(store: GraphStore) -> None:
    b = MemoryBook(["ann", "bob"], MemoryConfig(), store)
    days(b, 0, 3)
    third = b.digest()
    days(b, 3, 6)
    sixth = b.digest()
    b.discard_after(3)
    assert (b.version, b.digest()) == (3, third)
    days(b, 3, 6)
    assert b.digest() == sixth
    with pytest.raises(ConfigError, match="no such version"):
        b.discard_after(9)


def test_agents_are_apart_and_absolute_values_repeat(store: GraphStore) -> None:
    edge = Edge("agent|a", "r", "vendor|v", 1.0, 2.0, 0.0)
    for _ in range(2):
        store.apply("a", GraphDelta((edge,)), 1)
    store.apply("b", GraphDelta((edge._replace(w=9.0),)), 1)
    assert list(store.load("a").edges.values()) == [edge] == store.top_k("a", "agent|a", 3)
    assert store.load("nobody") == FrozenGraph()
    store.apply("a", GraphDelta((), (edge.key,)), 2)
    assert store.top_k("a", "agent|a", 3) == [] and store.load("b").edges[edge.key].w == 9.0
    with pytest.raises(StoreError, match="goes back"):
        store.apply("a", GraphDelta((edge,)), 1)
    store.discard_after("a", 1)
    assert list(store.load("a").edges.values()) == [edge]


def test_a_batch_of_many_agents_is_all_or_none(store: GraphStore) -> None:
    edge = Edge("agent|a", "r", "vendor|v", 1.0, 2.0, 0.0)
    store.apply("b", GraphDelta((edge,)), 5)
    with pytest.raises(StoreError, match="goes back"):
        store.apply_all({"a": GraphDelta((edge,)), "b": GraphDelta((edge,))}, 4)
    assert store.version("a") == 0 and store.load("a") == FrozenGraph()


def test_compaction_keeps_the_present_and_what_may_be_resumed(store: GraphStore) -> None:
    b = MemoryBook(["ann", "bob"], MemoryConfig(), store)
    days(b, 0, 4)
    fourth = b.digest()
    days(b, 4, 9)
    for agent in ("/ann", "/bob"):
        store.compact(agent, 4)
    assert MemoryBook(["ann", "bob"], MemoryConfig(), store).digest() == b.digest()
    b.discard_after(4)
    assert b.digest() == fourth


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs)
def test_save_load_sweep_equals_sweep_save_load(base: FrozenGraph) -> None:
    now = 13 * DAY
    store = SqliteStore(":memory:")
    store.apply("early", GraphDelta(tuple(base.edges.values())), 1)
    loaded = ProfileGraph(store.load("early"))
    sweep(loaded, now, CONFIG)
    swept = ProfileGraph(base)
    sweep(swept, now, CONFIG)
    store.apply("late", GraphDelta(tuple(base.edges.values())), 1)
    store.apply("late", swept.delta(), 2)
    assert sorted(loaded) == list(store.load("late").edges.values())
    assert store.archive("late") == loaded.log
    store.close()


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


WRITER = """
import sys
from masim.memory.graph import Edge, GraphDelta
from masim.memory.store.sqlite import SqliteStore
store = SqliteStore(sys.argv[1])
version = store.version("a")
while True:
    version += 1
    batch = GraphDelta(tuple(Edge("agent|a", "r", f"vendor|{i}", float(version), 0.0, 0.0) for i in range(40)))
    store.apply_all({"a": batch, "b": batch}, version)
    sys.stdout.write(f"{version}\\n")
    sys.stdout.flush()
"""


def test_kill_9_loses_no_acknowledged_batch(path: Path) -> None:
    rng = random.Random(7)
    acknowledged = 0
    environment = {**os.environ, "PYTHONPATH": str(Path(masim.__file__).parents[1])}
    for _ in range(KILLS):
        command = [sys.executable, "-c", WRITER, str(path)]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert writer.stdout is not None
        lines = [writer.stdout.readline() for _ in range(rng.randint(1, 60))]
        writer.kill()
        rest = writer.stdout.read().splitlines(keepends=True)
        writer.wait()
        writer.stdout.close()
        acknowledged = max(acknowledged, *(int(line) for line in lines + rest if line.endswith("\n")))
        store = SqliteStore(path)
        graphs_now = [store.load(agent) for agent in "ab"]
        store.close()
        assert graphs_now[0].version == graphs_now[1].version >= acknowledged
        for graph in graphs_now:
            assert {e.w for e in graph.edges.values()} == {float(graph.version)} and len(graph.edges) == 40
