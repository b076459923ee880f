"""What is worth telling about what is in play: one step away, or by random walks that start there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory.days import AGENT, graphs, tell, use, vendor

from masim.errors import ConfigError
from masim.memory import Memory, MemoryConfig
from masim.memory.graph import Edge, FrozenGraph, ProfileGraph
from masim.memory.query import top_k
from masim.memory.relevance import DAMPING, RELEVANCES, visit_shares
from masim.units import DAY

NOW = 12 * DAY
WALKS = MemoryConfig(relevance="pagerank")


def link(src: str, dst: str, w: float = 1.0) -> Edge:
    """An edge touched just now: it has not decayed."""
    return Edge(src, "r", dst, w, NOW, 0.0, 4.0, 3.0, 1.0, 3)


def solved(weights: dict[tuple[str, str], float], start: str) -> dict[str, float]:
    """Return the shares of visits by solving the linear equations of the walk."""
    nodes = sorted({n for pair in weights for n in pair})
    a = np.zeros((len(nodes), len(nodes)))
    for (x, y), w in weights.items():
        i, j = nodes.index(x), nodes.index(y)
        a[i, j] += w
        a[j, i] += w
    step = a / a.sum(axis=1, keepdims=True)
    begin = np.array([float(n == start) for n in nodes])
    shares = np.linalg.solve(np.eye(len(nodes)) - DAMPING * step.T, (1.0 - DAMPING) * begin)
    return dict(zip(nodes, shares.tolist(), strict=True))


def test_visits_are_the_solution_of_the_walk() -> None:
    weights = {("a|1", "b|1"): 1.0, ("b|1", "c|1"): 3.0, ("c|1", "d|1"): 0.5, ("b|1", "d|1"): 2.0}
    edges = [link(*ends, w) for ends, w in weights.items()]
    found, expected = visit_shares(edges, ["a|1"], NOW, WALKS), solved(weights, "a|1")
    assert found == pytest.approx(expected, abs=1e-6)
    assert sum(found.values()) == pytest.approx(1.0)


def test_a_walk_of_two_nodes_by_hand() -> None:
    """It starts at a, stays with 15% and goes over with 85%: shares 1 / 1.85 and 0.85 / 1.85."""
    found = visit_shares([link("a|1", "b|1")], ["a|1"], NOW, WALKS)
    assert found == pytest.approx({"a|1": 1.0 / 1.85, "b|1": 0.85 / 1.85}, abs=1e-7)


def test_parallel_edges_and_both_directions_add_up() -> None:
    edges = [link("a|1", "b|1"), link("b|1", "a|1", 2.0), link("a|1", "c|1", 1.0)]
    assert visit_shares(edges, ["a|1"], NOW, WALKS) == pytest.approx(
        solved({("a|1", "b|1"): 3.0, ("a|1", "c|1"): 1.0}, "a|1"), abs=1e-6
    )


def test_what_has_faded_is_walked_less() -> None:
    fresh, old = link("a|1", "b|1"), link("a|1", "c|1")._replace(last_s=NOW - 5 * DAY)
    visits = visit_shares([fresh, old], ["a|1"], NOW, WALKS)
    assert visits["b|1"] > 2.0 * visits["c|1"]


def test_a_walk_finds_what_lies_two_steps_away() -> None:
    """One step away the rule `near` sees no difference between the two vendors at the far end; walks do."""
    tied = [link("task|o", "user|acme"), link("user|acme", vendor("a")), link(vendor("a"), "incident|late")]
    apart = [link("task|p", "user|zeta"), link("user|zeta", vendor("b")), link(vendor("b"), "incident|slow")]
    graph = ProfileGraph(FrozenGraph.of([*tied, *apart]))
    best = [edge.key for _, edge in top_k(graph, 3, NOW, WALKS, ["task|o"])]
    assert set(best) == {edge.key for edge in tied}
    ranks = {edge.dst: rank for rank, edge in top_k(graph, 9, NOW, MemoryConfig(), ["task|o"])}
    assert ranks["incident|late"] == ranks["incident|slow"]


@given(graphs, st.sampled_from(sorted(RELEVANCES)), st.lists(st.sampled_from([AGENT, vendor("a"), "user|acme"])))
def test_every_rule_keeps_to_what_lives(base: FrozenGraph, name: str, entities: list[str]) -> None:
    config = MemoryConfig(relevance=name)
    graph = ProfileGraph(base)
    ranked = top_k(graph, 1000, NOW, config, entities)
    assert {edge.key for _, edge in ranked} == {edge.key for edge in graph if edge.alive(NOW)}
    assert [rank for rank, _ in ranked] == sorted((rank for rank, _ in ranked), reverse=True)
    plain = {edge.key: rank for rank, edge in top_k(graph, 1000, NOW, config)}
    assert all(-1e-9 <= rank <= plain[edge.key] * (1 + 1e-9) for rank, edge in ranked)


@given(graphs, st.randoms(use_true_random=False))
def test_the_order_in_which_edges_came_does_not_matter(base: FrozenGraph, rng: object) -> None:
    edges = list(base.edges.values())
    rng.shuffle(edges)  # type: ignore[attr-defined]
    other = ProfileGraph()
    for edge in edges:
        other.put(edge)
    here = [vendor("a"), "user|acme"]
    assert top_k(ProfileGraph(base), 12, NOW, WALKS, here) == top_k(other, 12, NOW, WALKS, here)


def test_strangers_in_play_leave_every_edge_as_relevant() -> None:
    graph = ProfileGraph(FrozenGraph.of([link("a|1", "b|1"), link("b|1", "c|1", 0.5)]))
    assert top_k(graph, 9, NOW, WALKS, ["vendor|nobody"]) == top_k(graph, 9, NOW, WALKS)
    assert top_k(ProfileGraph(), 9, NOW, WALKS, ["vendor|nobody"]) == []


def test_a_replaced_vendor_is_gone_at_once() -> None:
    memory = Memory("ann", None, WALKS, 0.0)
    for name in "ab":
        use(memory, name, 60.0, order=f"o{name}")
    assert '"a"' in memory.card([vendor("a"), "user|acme"], 120.0).split("links:")[1]
    tell(memory, "replaced", "a", 120.0, detail="b")
    assert '"a"' not in memory.card([vendor("b"), "user|acme"], 120.0)


def test_the_card_goes_by_the_rule() -> None:
    cards = []
    for name in sorted(RELEVANCES):
        memory = Memory("ann", None, MemoryConfig(relevance=name), 0.0)
        for n in range(30):
            use(memory, f"v{n}", 60.0 * n, order=f"o{n}", shipper=f"s{n % 3}")
        cards.append(memory.card(["task|o1"], 2000.0))
        assert cards[-1] == memory.card(["task|o1"], 2000.0)
    assert cards[0] != cards[1]


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean 'pagerank'"):
        Memory("ann", None, MemoryConfig(relevance="pagerink"), 0.0)
