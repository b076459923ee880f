"""What a sweep may and may not remove.

1. A sweep is idempotent and does not depend on the order of edges. 2. A hub of equal edges keeps them. 3. The cap has
hysteresis and never costs protected nodes. 4. Each clause fires for its reason. 5. Dry runs and restore.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory.days import AGENT, graphs, vendor

from masim.errors import ConfigError
from masim.memory import FrozenGraph, MemoryConfig
from masim.memory.forget import POLICIES, policy, sweep
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


@given(graphs, st.sampled_from([CONFIG, ROOMY]))
def test_a_second_sweep_at_once_removes_nothing(base: FrozenGraph, config: MemoryConfig) -> None:
    graph = ProfileGraph(base)
    sweep(graph, NOW, config)
    assert sweep(graph, NOW, config).forgotten == ()


@given(graphs, st.randoms(use_true_random=False))
def test_the_order_of_edges_does_not_matter(base: FrozenGraph, rng: random.Random) -> None:
    shuffled = list(base.edges.values())
    rng.shuffle(shuffled)
    other = ProfileGraph()
    for edge in shuffled:
        other.put(edge)
    graph = ProfileGraph(base)
    first, second = sweep(graph, NOW, CONFIG), sweep(other, NOW, CONFIG)
    assert {r.edge.key for r in first.forgotten} == {r.edge.key for r in second.forgotten}
    assert sorted(graph) == sorted(other)


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
    assert set(POLICIES) >= {"recommended", "none"}


@pytest.mark.parametrize("bad", [{"half_life_s": 0.0}, {"node_cap": 5}, {"sweep_every": 0}, {"theta": -1.0}])
def test_impossible_settings_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"memory\."):
        MemoryConfig(**bad)  # type: ignore[arg-type]
