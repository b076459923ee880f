"""Memories as files: what is written is read, to the last bit, and no file fills the machine.

1. Any graph makes the round trip through JSON and GraphML, and from store to store. 2. Other programs read the GraphML.
3. Too large files are refused early, damaged and foreign ones with their name.
"""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import networkx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory.conftest import Opener
from memory.days import days
from memory.test_store_contract import wild_edges

from masim.errors import ConfigError, DataError, StoreError
from masim.memory import MemoryBook, MemoryConfig
from masim.memory.exchange.base import StoredGraph, read_graph, write_graphs
from masim.memory.exchange.files import export, load
from masim.memory.graph import Edge, ForgetRecord
from masim.memory.store.base import GraphStore
from masim.memory.store.sqlite import SqliteStore

EDGE = Edge("agent|a", "r", "vendor|v", 1.0, 2.0, 0.0)
SUFFIXES = pytest.mark.parametrize("suffix", [".json", ".graphml"])

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
records = st.builds(ForgetRecord, wild_edges, texts, st.floats(allow_nan=False, allow_infinity=False), st.just(0.1))
stored = st.builds(
    StoredGraph, texts, st.integers(1, 2**40),
    st.lists(wild_edges, max_size=5, unique_by=lambda e: e.key).map(lambda found: tuple(sorted(found))),
    st.lists(records, max_size=3).map(tuple),
)  # fmt: skip


@SUFFIXES
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs=st.lists(stored, min_size=1, max_size=3, unique_by=lambda graph: graph.agent))
def test_any_memory_makes_the_round_trip(tmp_path: Path, suffix: str, graphs: list[StoredGraph]) -> None:
    path = tmp_path / f"memory{suffix}"
    export(graphs, path)
    assert load(path) == graphs


@SUFFIXES
def test_a_memory_goes_from_store_to_store(opener: Opener, tmp_path: Path, suffix: str) -> None:
    source, path = SqliteStore(tmp_path / "source.sqlite"), tmp_path / f"memory{suffix}"
    book = MemoryBook(["ann", "bob"], MemoryConfig(), source, "camp")
    days(book, 0, 6)
    export([read_graph(source, agent) for agent in source.agents()], path)
    target = opener()
    write_graphs(target, load(path))
    again = MemoryBook(["ann", "bob"], MemoryConfig(), target, "camp")
    assert (again.version, again.digest(), again.archive("ann")) == (6, book.digest(), book.archive("ann"))
    with pytest.raises(StoreError, match="has a memory of 'camp/ann' already"):
        write_graphs(target, load(path))
    source.close()


def test_networkx_reads_the_graphml(store: GraphStore, tmp_path: Path) -> None:
    book = MemoryBook(["ann"], MemoryConfig(), store)
    overlays = book.overlays(0.0)
    overlays["ann"].graph.put(EDGE._replace(dst='vendor|"a" & <b>'))
    book.commit(overlays)
    export([read_graph(store, "/ann")], tmp_path / "m.graphml")
    graph = networkx.read_graphml(tmp_path / "m.graphml")
    ((_, target, values),) = graph.edges(data=True)
    assert target == 'vendor|"a" & <b>' and values["w"] == 1.0 and values["pin"] is False
    assert graph.nodes[target] == {"kind": "vendor", "name": '"a" & <b>'}


def write_large(path: Path, nodes: int) -> None:
    """A file as an exporter would write it, without making the graph first."""
    with path.open("w") as file:
        if path.suffix == ".json":
            row = json.dumps({**EDGE._asdict(), "invalid_at_s": None})
            file.write('{"format": "masim-memory", "version": 1, "graphs": [{"agent": "a", "version": 1, "edges": [')
            file.write(",".join([row] * nodes))
            file.write('], "archive": []}]}')
        else:
            file.write('<graphml><graph edgedefault="directed">')
            file.writelines(f'<node id="vendor|{i}"/>' for i in range(nodes))
            file.write("</graph></graphml>")


@SUFFIXES
def test_a_million_nodes_are_refused_before_they_fill_the_machine(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"large{suffix}"
    write_large(path, 1_000_000)
    tracemalloc.start()
    with pytest.raises(DataError, match=r"too large a memory to import.*at most 20,000 rows.*--limit"):
        load(path, 20_000)
    assert tracemalloc.get_traced_memory()[1] < 30 * 2**20
    tracemalloc.stop()
    path.unlink()


@SUFFIXES
def test_the_limit_is_exact(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"m{suffix}"
    export([StoredGraph("a", 1, (EDGE, EDGE._replace(dst="vendor|w")), (ForgetRecord(EDGE, "ttl", 0.0, 0.0),))], path)
    rows = 3 if suffix == ".json" else 6
    assert len(load(path, rows)[0].edges) == 2
    with pytest.raises(DataError, match=f"more than {rows - 1} nodes and edges"):
        load(path, rows - 1)


GOOD = {"format": "masim-memory", "version": 1}
ROW = {**EDGE._asdict(), "invalid_at_s": None}


def graph_of(*edges: object, **more: object) -> dict[str, object]:
    return {**GOOD, "graphs": [{"agent": "a", "version": 1, "edges": list(edges), "archive": [], **more}]}


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{", "[" * 100_000, '{"format": "else"}', json.dumps({**GOOD, "version": 2, "graphs": []}),
        json.dumps(graph_of({**ROW, "w": "1.0"})), json.dumps(graph_of({**ROW, "w": None})),
        json.dumps(graph_of({**ROW, "w": float("nan")})), json.dumps(graph_of({**ROW, "colour": 1})),
        json.dumps(graph_of(ROW, ROW)), json.dumps(graph_of(7)), json.dumps(graph_of(version=-1)),
        json.dumps(graph_of({**ROW, "w": 10**400})), json.dumps(graph_of({"src": "a"})),
        json.dumps(graph_of({**ROW, "rule": "ttl", "score": 0, "at_s": 0})), json.dumps({**GOOD, "graphs": {"a": 1}}),
    ],
)  # fmt: skip
def test_json_that_is_no_memory_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"bad\.json"):
        load(path)


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><graphml>&b;</graphml>'
EDGE_DATA = '<edge source="a" target="b"><data key="rel">r</data><data key="w">{}</data></edge>'


@pytest.mark.parametrize(
    "text",
    ["", "<graphml>", "<graphml></graphml>", BOMB, "<graphml><graph><edge/></graph></graphml>",
     "<graphml><graph></graph></graphml>", f"<graphml><graph>{EDGE_DATA.format('nan')}</graph></graphml>",
     f"<graphml><graph>{EDGE_DATA.format('one')}</graph></graphml>"],
)  # fmt: skip
def test_graphml_that_is_no_memory_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.graphml"
    path.write_text(text)
    with pytest.raises(DataError, match=r"bad\.graphml"):
        load(path)


def test_other_endings_and_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\.json, \.graphml"):
        load(tmp_path / "m.csv")
    with pytest.raises(DataError, match=r"none\.json"):
        load(tmp_path / "none.json")
    with pytest.raises(DataError, match="cannot be written"):
        export([], tmp_path / "absent" / "m.json")
    assert not list(tmp_path.iterdir())
