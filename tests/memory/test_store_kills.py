"""kill -9 at random moments: no acknowledged batch is lost, no graph is corrupt, and the next writer goes on.

1. The writer dies, of every store. 2. The server dies under the writer. 3. Several processes write at once.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from memory.servers import RedisServer
from memory.writers import Writers

from masim.memory.store.registry import open_store

QUICK = 10
MANY = 50


def check_whole(address: str, acknowledged: int) -> None:
    store = open_store(address)
    found = [store.load(agent) for agent in "ab"]
    store.close()
    assert found[0].version == found[1].version >= acknowledged
    for graph in found:
        assert len(graph.edges) == (20 if graph.version else 0)
        assert {edge.w for edge in graph.edges.values()} <= {float(graph.version)}


def killed_often(address: str, times: int) -> int:
    """Kill a writer again and again, at random moments; returns what was acknowledged last."""
    rng = random.Random(7)
    acknowledged = 0
    with Writers() as writers:
        for _ in range(times):
            writers.begin(address)
            for _ in range(rng.randint(0, 12)):
                acknowledged = int(writers.line())
            time.sleep(rng.random() * 0.004)
            acknowledged = max(acknowledged, *writers.kill(), 0)
            check_whole(address, acknowledged)
    return acknowledged


def test_a_killed_writer_loses_no_acknowledged_batch(address: str) -> None:
    assert killed_often(address, QUICK) > QUICK


@pytest.mark.slow
def test_fifty_killed_writers_lose_no_acknowledged_batch(address: str) -> None:
    assert killed_often(address, MANY) > MANY


@pytest.mark.parametrize("times", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_a_killed_falkordb_loses_no_acknowledged_batch(own_falkordb: RedisServer, times: int) -> None:
    """The server is killed under its writer, which is told, and started again on what it had written."""
    address = own_falkordb.url("falkordb", "killed")
    rng = random.Random(8)
    acknowledged = 0
    with Writers() as writers:
        for _ in range(times):
            writers.begin(address)
            for _ in range(rng.randint(1, 12)):
                acknowledged = int(writers.line())
            time.sleep(rng.random() * 0.004)
            own_falkordb.kill()
            acknowledged = max(acknowledged, *writers.rest(), 0)
            own_falkordb.start()
            check_whole(address, acknowledged)
    assert acknowledged > times


MANY_WRITERS = """
import os, sys
from masim.memory.graph import Edge, GraphDelta
from masim.memory.store.registry import open_store
def write(agent):
    store = open_store(sys.argv[1])
    os.read(gate, 1)
    for version in range(1, 41):
        edge = Edge(f"agent|{agent}", "r", f"vendor|{version}", float(version), 0.0, 0.0)
        store.apply(agent, GraphDelta((edge,)), version)
    store.close()
gate, opened = os.pipe()
children = []
for i in range(3):
    children.append(os.fork())
    if children[-1] == 0:
        failed = 1
        try:
            write(f"w{i}")
            failed = 0
        finally:
            os._exit(failed)
os.write(opened, b"go!")
print(*(os.waitpid(child, 0)[1] for child in children))
"""


def test_processes_write_at_once_each_its_own_graph(address: str) -> None:
    open_store(address).close()
    root = Path(open_store.__code__.co_filename).parents[3]
    command = [sys.executable, "-c", MANY_WRITERS, address]
    assert subprocess.run(command, capture_output=True, text=True, cwd=root, check=True).stdout == "0 0 0\n"
    store = open_store(address)
    assert store.agents() == ["w0", "w1", "w2"]
    for i in range(3):
        graph = store.load(f"w{i}")
        assert graph.version == len(graph.edges) == 40
        assert {edge.src for edge in graph.edges.values()} == {f"agent|w{i}"}
    store.close()
