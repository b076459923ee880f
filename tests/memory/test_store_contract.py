"""The contract of every store; it runs on all that this machine can open.

1. What was applied is loaded, by agent, to the last bit. 2. Applying again changes nothing; going back needs
discard_after and repeats the same future. 3. Two agents are never mixed, whatever their names. 4. A graph has one
owner, and versions are compared and set. 5. Save-load-sweep equals sweep-save-load. 6. A closed store says so.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory.conftest import Opener
from memory.days import days, graphs

from masim.errors import ConfigError, StoreError
from masim.memory import FrozenGraph, MemoryBook, MemoryConfig
from masim.memory.forget.sweep import sweep
from masim.memory.graph import NEVER, Edge, ForgetRecord, GraphDelta, ProfileGraph
from masim.memory.store.base import GraphStore, Head
from masim.units import DAY

CONFIG = MemoryConfig(node_cap=8, node_floor=6)
EDGE = Edge("agent|a", "r", "vendor|v", 1.0, 2.0, 0.0)
_names = itertools.count()
properties = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


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
    edge = EDGE
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
    edge = EDGE
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


@properties
@given(graphs)
def test_save_load_sweep_equals_sweep_save_load(store: GraphStore, base: FrozenGraph) -> None:
    now = 13 * DAY
    early, late = (f"{name}{next(_names)}" for name in ("early", "late"))
    store.apply(early, GraphDelta(tuple(base.edges.values())), 1)
    loaded = ProfileGraph(store.load(early))
    sweep(loaded, now, CONFIG)
    swept = ProfileGraph(base)
    sweep(swept, now, CONFIG)
    store.apply(late, GraphDelta(tuple(base.edges.values())), 1)
    store.apply(late, swept.delta(), 2)
    assert sorted(loaded) == list(store.load(late).edges.values())
    assert store.archive(late) == loaded.log


_numbers = st.floats(allow_nan=False, allow_infinity=False)
_counts = st.floats(0.0, 1e9)
_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
wild_edges = st.builds(
    Edge, _texts, _texts, _texts, _numbers, _numbers, _numbers, _counts, _counts, _counts, st.integers(0, 2**31),
    _numbers, st.one_of(st.just(NEVER), _numbers), st.booleans(), _numbers,
)  # fmt: skip


@properties
@given(st.lists(wild_edges, max_size=6, unique_by=lambda e: e.key), st.lists(wild_edges, max_size=3), _texts)
def test_any_text_and_any_number_comes_back_exactly(
    store: GraphStore, found: list[Edge], closed: list[Edge], agent: str
) -> None:
    name = f"{next(_names)}{agent}"
    records = tuple(ForgetRecord(edge, "ttl", 0.1 + 0.2, edge.w) for edge in closed)
    store.apply(name, GraphDelta(tuple(found), (), records), 1)
    assert store.load(name) == FrozenGraph.of(found, records, 1)
    assert store.archive(name) == list(records)
    assert name in store.agents()
    for edge in found:
        leaving = [e for e in found if e.src == edge.src]
        assert sorted(store.top_k(name, edge.src, 9)) == sorted(leaving)


def test_top_k_is_by_weight_then_by_key(store: GraphStore) -> None:
    weights = {"a": 1.0, "b": 3.0, "c": 1.0, "d": 2.0}
    edges = tuple(EDGE._replace(dst=f"vendor|{name}", w=w) for name, w in weights.items())
    store.apply("a", GraphDelta(edges), 1)
    assert [e.dst[-1] for e in store.top_k("a", "agent|a", 3)] == ["b", "d", "a"]


def test_names_that_look_like_keys_stay_apart(store: GraphStore) -> None:
    """``a`` with node ``b|c`` and ``a|b`` with node ``c`` must not meet in one key."""
    pairs = [("a", "b|c"), ("a|b", "c"), ("a\\u007cb", "c"), ("a'b", "c'"), ("a\\", "|c")]
    for w, (agent, node_id) in enumerate(pairs):
        store.apply(agent, GraphDelta((Edge(node_id, "r", node_id, float(w), 0.0, 0.0),)), 1)
    for w, (agent, node_id) in enumerate(pairs):
        assert [e.w for e in store.load(agent).edges.values()] == [w]
        assert [e.w for e in store.top_k(agent, node_id, 9)] == [w]


def test_a_large_batch_is_stored_whole(store: GraphStore) -> None:
    edges = tuple(EDGE._replace(dst=f"vendor|{i}", w=float(i)) for i in range(2500))
    store.apply("a", GraphDelta(edges), 1)
    store.apply("a", GraphDelta((), tuple(e.key for e in edges[:1200])), 2)
    assert store.load("a").edges == {e.key: e for e in sorted(edges[1200:])}


def test_a_graph_has_one_owner(opener: Opener) -> None:
    first, second = opener(), opener()
    assert first.claim("a").version == 0
    first.apply("a", GraphDelta((EDGE,)), 1)
    with pytest.raises(StoreError, match="owned by another"):
        second.apply("a", GraphDelta(), 2)
    with pytest.raises(StoreError, match="owned by another"):
        second.discard_after("a", 0)
    second.apply("b", GraphDelta((EDGE,)), 1)
    assert second.claim("a").version == 1
    both = {"c": GraphDelta(), "a": GraphDelta()}
    changes: list[Callable[[], None]] = [
        lambda: first.apply("a", GraphDelta(), 2),
        lambda: first.apply_all(both, 2),
        lambda: first.discard_after("a", 0),
        lambda: first.compact("a", 1),
    ]
    for change in changes:
        with pytest.raises(StoreError, match="owned by another"):
            change()
    assert second.head("a").version == first.version("a") == 1
    assert first.version("c") == 0


def test_versions_are_compared_and_set(opener: Opener) -> None:
    """Who works on an old version cannot overwrite what another committed meanwhile, not even as the new owner."""
    first, second = opener(), opener()
    first.apply("a", GraphDelta((EDGE,)), 1)
    first.apply("a", GraphDelta((EDGE._replace(w=7.0),)), 2)
    second.claim("a")
    with pytest.raises(StoreError, match="another writer was first"):
        second.apply("a", GraphDelta((EDGE._replace(w=8.0),)), 2)
    second.apply("a", GraphDelta((EDGE._replace(w=9.0),)), 3)
    assert [e.w for e in first.load("a").edges.values()] == [9.0]


def test_a_closed_store_gives_its_graphs_free(opener: Opener) -> None:
    first, second = opener(), opener()
    first.apply("a", GraphDelta((EDGE,)), 1)
    assert first.head("a").owner != ""
    first.close()
    assert second.head("a").owner == ""
    second.apply("a", GraphDelta(), 2)
    with pytest.raises(StoreError, match="closed"):
        first.load("a")
    first.close()


def test_a_stamp_tells_graphs_of_equal_version_apart(store: GraphStore) -> None:
    assert store.head("a") == Head()
    store.apply("a", GraphDelta((EDGE,)), 1)
    store.apply("a", GraphDelta((EDGE,)), 2)
    old = store.head("a")
    store.discard_after("a", 1)
    store.apply("a", GraphDelta(), 2)
    assert store.head("a").version == old.version and store.head("a").stamp != old.stamp
    before = store.head("a")
    store.discard_after("a", 2)
    store.compact("a", 1)
    assert store.head("a") == before


def test_what_cannot_be_stored_is_refused_and_nothing_with_it(store: GraphStore) -> None:
    store.apply("a", GraphDelta((EDGE,)), 1)
    with pytest.raises(StoreError):
        store.apply_all({"b": GraphDelta((EDGE,)), "a": GraphDelta((EDGE._replace(w=float("nan")),))}, 2)
    with pytest.raises(StoreError, match="Unicode"):
        store.apply_all({"b": GraphDelta((EDGE,)), "a": GraphDelta((EDGE._replace(dst="vendor|\ud800"),))}, 2)
    assert store.version("a") == 1 and store.load("b") == FrozenGraph()
