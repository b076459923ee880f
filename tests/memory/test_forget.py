"""What a sweep may and may not remove.

1. A sweep is idempotent and does not depend on the order of edges. 2. A hub of equal edges keeps them. 3. The cap has
hysteresis and never costs protected nodes. 4. Each clause fires for its reason. 5. Dry runs and restore.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory.days import AGENT, graphs, vendor

from masim.errors import ConfigError
from masim.memory import FrozenGraph, Memory, MemoryBook, MemoryConfig, MemoryEvent
from masim.memory.forget.base import Snapshot
from masim.memory.forget.registry import POLICIES, policy
from masim.memory.forget.sweep import sweep
from masim.memory.graph import Edge, ProfileGraph
from masim.units import DAY

CONFIG = MemoryConfig(node_cap=8, node_floor=6)
ROOMY = MemoryConfig()
NOW = 12 * DAY


def an_edge(
    dst: str = vendor("a"), w: float = 1.0, idle_days: float = 0.0, born_days_ago: float = 10.0, **more: float
) -> Edge:
    edge = Edge(AGENT, "r", dst, w, NOW - idle_days * DAY, NOW - born_days_ago * DAY, episodes=3)
    return edge._replace(**more)


def rules(*edges: Edge) -> dict[str, str]:
    report = sweep(ProfileGraph(FrozenGraph.of(edges)), NOW, ROOMY)
    return {record.edge.dst: record.rule for record in report.forgotten}


def holds(edge: Edge, now_s: float) -> bool:
    """Be the truth of a world in which every other vendor has changed."""
    return edge.dst not in (vendor("a"), vendor("c"), vendor("e"))


@given(graphs, st.sampled_from([CONFIG, ROOMY]), st.sampled_from(sorted(set(POLICIES) - {"random"})))
def test_a_second_sweep_at_once_removes_nothing(base: FrozenGraph, config: MemoryConfig, rule: str) -> None:
    graph, config = ProfileGraph(base), replace(config, policy=rule, edge_cap=10)
    sweep(graph, NOW, config, truth=holds)
    assert sweep(graph, NOW, config, truth=holds).forgotten == ()


@given(graphs, st.randoms(use_true_random=False), st.sampled_from(sorted(POLICIES)))
def test_the_order_of_edges_does_not_matter(base: FrozenGraph, rng: random.Random, rule: str) -> None:
    config = replace(CONFIG, policy=rule, edge_cap=10)
    shuffled = list(base.edges.values())
    rng.shuffle(shuffled)
    other = ProfileGraph()
    for edge in shuffled:
        other.put(edge)
    graph = ProfileGraph(base)
    first, second = sweep(graph, NOW, config, truth=holds), sweep(other, NOW, config, truth=holds)
    assert {r.edge.key for r in first.forgotten} == {r.edge.key for r in second.forgotten}
    assert sorted(graph) == sorted(other)


@given(graphs, st.sampled_from(sorted(POLICIES)))
def test_no_rule_takes_a_pin(base: FrozenGraph, rule: str) -> None:
    forgotten = sweep(ProfileGraph(base), NOW, replace(ROOMY, policy=rule, edge_cap=3), truth=holds).forgotten
    assert not any(record.edge.pin for record in forgotten)


@given(graphs, st.integers(0, 3))
def test_random_takes_as_many_as_the_default_and_others(base: FrozenGraph, seed: int) -> None:
    edges = tuple(base.edges.values())
    drawn = policy("random")(Snapshot(edges, NOW, MemoryConfig(seed=seed)))
    assert len(drawn) == min(len(policy("recommended")(Snapshot(edges, NOW, ROOMY))), sum(not e.pin for e in edges))


def test_random_draws_by_its_seed() -> None:
    edges = tuple(an_edge(vendor(f"v{i}"), w=0.01 if i < 6 else 1.0) for i in range(24))
    draws = [
        frozenset(v.edge.dst for v in policy("random")(Snapshot(edges, NOW, MemoryConfig(seed=n)))) for n in (1, 2)
    ]
    assert len(draws[0]) == len(draws[1]) == 6 and draws[0] != draws[1]


def forgets(rule: str, *edges: Edge, **settings: float) -> set[str]:
    config = MemoryConfig(policy=rule, **settings)  # type: ignore[arg-type]
    report = sweep(ProfileGraph(FrozenGraph.of(edges)), NOW, config, truth=holds)
    return {record.edge.dst.removeprefix("vendor|") for record in report.forgotten}


def test_the_other_rules_do_what_their_names_say() -> None:
    old, fresh = an_edge(vendor("old"), idle_days=3.0, successes=5.0, n=5.0), an_edge(vendor("fresh"))
    assert forgets("ttl", old, fresh) == {"old"}
    assert forgets("ttl", old, fresh, idle_s=4 * DAY) == set()
    assert forgets("exponential", old, fresh) == {"old"}, "its successes do not stretch this half-life"
    assert forgets("exponential", old, fresh, half_life_s=2 * DAY) == set()
    crowd = [an_edge(vendor(f"v{i}")) for i in range(25)]
    assert len(forgets("threshold", *crowd)) == 25, "the bare rule loses every spoke of a hub of equals"
    assert forgets("threshold", *crowd[:19]) == set()
    assert forgets("threshold", an_edge(vendor("small"), w=0.1), an_edge(vendor("big"), w=9.0)) == {"small"}


def test_the_capped_rules_keep_the_recent_and_the_frequent() -> None:
    often = an_edge(vendor("often"), idle_days=5.0, episodes=9)
    late = an_edge(vendor("late"), idle_days=1.0, episodes=1)
    pinned = an_edge(vendor("pinned"), idle_days=9.0, pin=True)
    assert forgets("lru", often, late, edge_cap=1) == {"often"}
    assert forgets("lfu", often, late, edge_cap=1) == {"late"}
    assert forgets("lru", often, late, pinned, edge_cap=2) == {"often"}, "a pin takes a place"
    assert forgets("lru", often, late, pinned, edge_cap=3) == set()


def test_the_oracle_forgets_what_is_untrue_and_nothing_else() -> None:
    stale, true = an_edge(vendor("a"), successes=9.0, n=9.0), an_edge(vendor("b"), w=0.01, idle_days=9.0)
    assert forgets("oracle", stale, true) == {"a"}
    with pytest.raises(ConfigError, match="nobody supplied it"):
        MemoryBook(["ann"], MemoryConfig(policy="oracle"))
    with pytest.raises(ConfigError, match="nobody supplied it"):
        Memory("ann", None, MemoryConfig(policy="oracle"), 0.0)
    memory = MemoryBook(["ann"], MemoryConfig(policy="oracle"), truth=holds).overlay("ann", 0.0)
    for name in "ab":
        memory.observe(MemoryEvent("used", 0.0, name))
    memory.end_episode(DAY)
    assert {edge.dst for edge in memory.graph if edge.src == AGENT} == {vendor("b")}


def test_a_hub_of_equal_edges_keeps_them() -> None:
    spokes = [an_edge(vendor(f"v{i}")) for i in range(30)]
    rivals = [e._replace(src=f"user|u{i}") for e in spokes for i in range(30)]
    assert rules(*spokes, *rivals) == {}


def test_what_is_dwarfed_at_both_ends_goes() -> None:
    small = an_edge(w=0.4)
    strong = [an_edge(vendor(f"v{i}"), w=9.0) for i in range(3)]
    crowd = [an_edge(w=9.0)._replace(src=f"user|u{i}") for i in range(3)]
    assert rules(small, *strong, *crowd) == {vendor("a"): "share"}
    assert rules(small, *strong) == {}


@pytest.mark.parametrize(
    ("edge", "rule"),
    [
        (an_edge(invalid_at_s=NOW - DAY), "invalidated"),
        (an_edge(ttl_s=DAY, idle_days=2.0), "ttl"),
        (an_edge(ttl_s=3 * DAY, idle_days=2.0, episodes=1), ""),
        (an_edge(episodes=1, idle_days=1.5), "uncorroborated"),
        (an_edge(episodes=1, idle_days=0.5), ""),
        (an_edge(w=0.3, idle_days=2.5), "score"),
        (an_edge(w=0.01, idle_days=1.9, successes=1.0, n=1.0), ""),
        (an_edge(w=0.01, idle_days=2.1, successes=1.0, n=1.0), "score"),
        (an_edge(w=0.01, born_days_ago=1.9), ""),
        (an_edge(w=0.01, pin=True), ""),
    ],
)
def test_each_clause_has_its_reason(edge: Edge, rule: str) -> None:
    assert rules(edge, an_edge(vendor("b"))).get(vendor("a"), "") == rule


def test_the_cap_has_hysteresis_and_spares_what_is_protected() -> None:
    config = MemoryConfig(policy="none", node_cap=20, node_floor=15)
    edges = [an_edge(vendor(f"v{i:02d}"), w=0.01 * (i + 1)) for i in range(19)]
    graph = ProfileGraph(FrozenGraph.of(edges))
    assert sweep(graph, NOW, config).forgotten == ()
    graph.put(an_edge(vendor("pinned"), w=0.001, pin=True))
    graph.put(an_edge("task|open", w=0.001))
    graph.put(an_edge(vendor("won"), w=0.001, n=1.0, successes=1.0))
    report = sweep(graph, NOW, config, open_nodes=["task|open"])
    assert len(graph.nodes()) == report.nodes == 15
    assert {vendor("pinned"), vendor("won"), "task|open", AGENT} <= graph.nodes()
    assert {r.edge.dst for r in report.forgotten} == {vendor(f"v{i:02d}") for i in range(8)}
    assert {r.rule for r in report.forgotten} == {"cap"}


def test_none_forgets_nothing() -> None:
    graph = ProfileGraph(FrozenGraph.of([an_edge(w=0.0, idle_days=9.0)]))
    assert sweep(graph, NOW, MemoryConfig(policy="none")).forgotten == ()


def test_a_dry_run_reports_and_keeps() -> None:
    graph = ProfileGraph(FrozenGraph.of([an_edge(w=0.01)]))
    report = sweep(graph, NOW, ROOMY, dry_run=True)
    assert report.dry_run and len(report.forgotten) == 1 and report.edges == 0
    assert len(list(graph)) == 1


def test_restore_takes_an_edge_back_from_the_log_and_from_the_archive() -> None:
    edge = an_edge(w=0.01)
    graph = ProfileGraph(FrozenGraph.of([edge]))
    sweep(graph, NOW, ROOMY)
    later = ProfileGraph(graph.base.apply(graph.delta(), 1))
    assert graph.restore(edge.key) and list(graph) == [edge]
    assert later.restore(edge.key) and list(later) == [edge]
    assert not later.restore(("agent|ann", "r", "vendor|never"))


def test_unknown_policy_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="recommended"):
        policy("recomended")
    names = "recommended none ttl lru lfu exponential threshold random oracle"
    assert list(POLICIES) == names.split()


@pytest.mark.parametrize(
    "bad",
    [{"half_life_s": 0.0}, {"node_cap": 5}, {"sweep_every": 0}, {"theta": -1.0}, {"idle_s": 0.0}, {"edge_cap": 0}],
)
def test_impossible_settings_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"memory\."):
        MemoryConfig(**bad)  # type: ignore[arg-type]
