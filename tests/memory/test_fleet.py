"""Fleets: shared memory is read and never written, and two agents never see each other's graph.

1. What two agents learn, in one book over any store, never meets. 2. A shared graph is read beneath the own one.
3. Touching and forgetting shared edges changes the own graph alone. 4. Combining graphs does not depend on their order.
"""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st
from memory.days import edges, good_day, graphs, tell, use, vendor

from masim.memory import FrozenGraph, MemoryBook, MemoryConfig, node
from masim.memory.fleet import combined, merged
from masim.memory.graph import EMPTY
from masim.memory.store.base import GraphStore
from masim.units import DAY


def shared_memory() -> FrozenGraph:
    """What an agent of another campaign learned: aster is good, birch misses."""
    book = MemoryBook(["old"], MemoryConfig())
    for day in range(3):
        overlays = book.overlays(day * DAY)
        good_day(overlays["old"], ["aster"], day)
        tell(overlays["old"], "missed", "birch", day * DAY)
        book.commit(overlays)
    return combined([book.base("old")])


def test_two_agents_never_see_each_other(store: GraphStore) -> None:
    """Each agent uses vendors of its own; nothing that either can ask for names a vendor of the other."""
    agents = ["ann", "bob", "ann|x", "an"]
    book = MemoryBook(agents, MemoryConfig(), store, "camp")
    for day in range(3):
        overlays = book.overlays(day * DAY)
        for agent in agents:
            good_day(overlays[agent], [f"only-{agent}"], day, order=f"{agent}-")
        book.commit(overlays)
    again = MemoryBook(agents, MemoryConfig(), store, "camp")
    for agent in agents:
        others = [f"only-{other}" for other in agents if other != agent]
        memory = again.overlay(agent, 3 * DAY)
        seen = [str(again.base(agent).edges), str(again.archive(agent)), str(store.load(f"camp/{agent}"))]
        seen += [memory.card([vendor(v) for v in [f"only-{agent}", *others]], 3 * DAY).partition("\n")[0]]
        seen += [str(store.top_k(f"camp/{agent}", node("agent", agent), 99))]
        text = "".join(seen)
        assert f"only-{agent}" in text and not any(f"'vendor|{other}'" in text for other in others)
        for other in others:
            assert not memory.graph.out(vendor(other)) and not memory.graph.into(vendor(other))


def test_a_shared_memory_is_read_beneath_the_own_one() -> None:
    shared = shared_memory()
    book = MemoryBook(["ann", "bob"], MemoryConfig(), shared=shared)
    memory = book.overlay("ann", 3 * DAY)
    key = (node("agent", "ann"), "relies_on", vendor("aster"))
    assert memory.graph.get(key) is not None and memory.graph.get(("agent|old", "relies_on", vendor("aster"))) is None
    assert book.base("ann") == EMPTY
    before = str(shared)
    use(memory, "aster", 3 * DAY)
    book.commit({"ann": memory})
    assert str(shared) == before
    own = book.base("ann").edges[key]
    assert own.last_s == 3 * DAY and own.n == shared.edges[("agent|fleet", "relies_on", vendor("aster"))].n
    assert book.overlay("ann", 3 * DAY).graph.get(key) == own
    untouched = book.overlay("bob", 3 * DAY).graph.get((node("agent", "bob"), "relies_on", vendor("aster")))
    assert untouched is not None and untouched.last_s < 3 * DAY


def test_what_an_agent_forgot_stays_forgotten_until_the_fleet_learns_it_anew(store: GraphStore) -> None:
    shared = shared_memory()
    book = MemoryBook(["ann"], MemoryConfig(), store, shared=shared)
    memory = book.overlay("ann", 9 * DAY)
    gone = {record.edge.key for record in memory.end_episode(9 * DAY).forgotten}
    assert gone
    book.commit({"ann": memory})
    for again in (book, MemoryBook(["ann"], MemoryConfig(), store, shared=shared)):
        assert not gone & {edge.key for edge in again.overlay("ann", 9 * DAY).graph}
    fresh = FrozenGraph.of(edge._replace(last_s=10 * DAY) for edge in shared.edges.values())
    later = MemoryBook(["ann"], MemoryConfig(), store, shared=fresh)
    assert gone <= {edge.key for edge in later.overlay("ann", 9 * DAY).graph}


def test_an_emptied_book_has_no_shared_memory() -> None:
    assert not list(MemoryBook(["ann"], MemoryConfig(), shared=shared_memory()).emptied().overlay("ann", 0.0).graph)


@settings(max_examples=40, deadline=None)
@given(st.lists(graphs, max_size=4), st.randoms(use_true_random=False))
def test_combining_does_not_depend_on_order(found: list[FrozenGraph], rng: random.Random) -> None:
    shuffled = found[:]
    rng.shuffle(shuffled)
    assert combined(found) == combined(shuffled) == combined([combined(found), *shuffled])


@settings(max_examples=40, deadline=None)
@given(graphs, st.lists(edges(), max_size=20))
def test_own_edges_hide_shared_ones(own: FrozenGraph, others: list) -> None:
    view = merged(own, FrozenGraph.of(others), "ann")
    assert all(view.edges[key] == edge for key, edge in own.edges.items())
    assert (view.version, view.archived) == (own.version, own.archived)
    assert merged(own, EMPTY, "ann") is own
