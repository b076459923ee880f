"""1. Lazy decay equals decay at every step. 2. A touch adds .25, credit .75 R. 3. Time never runs backwards."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masim.memory import MemoryConfig, update
from masim.memory.graph import Edge, ProfileGraph
from masim.memory.query import success

CONFIG = MemoryConfig(half_life_s=100.0)
KEY = ("agent|ann", update.RELIES_ON, "vendor|a")
_acts = st.lists(st.tuples(st.integers(0, 60), st.sampled_from(["touch", "good", "bad"])), min_size=1, max_size=30)


@given(_acts)
def test_lazy_equals_naive(acts: list[tuple[int, str]]) -> None:
    graph = ProfileGraph()
    update.touch(graph, KEY, 0.0, CONFIG, True)
    naive, s, now = CONFIG.touch, 0.0, 0
    for wait, act in acts:
        for _ in range(wait):
            naive *= 2.0 ** (-1.0 / (100.0 * (1.0 + log(1.0 + s))))
        now += wait
        if act == "touch":
            update.touch(graph, KEY, now, CONFIG, False)
            naive += 0.25
        else:
            update.credit(graph, KEY, float(act == "good"), now, CONFIG)
            naive += 0.75 * (act == "good")
            s += act == "good"
    edge = graph.get(KEY)
    assert edge is not None
    assert update.effective_weight(edge, now, CONFIG) == pytest.approx(naive, rel=1e-9)
    assert edge.n == edge.successes + edge.failures == sum(act != "touch" for _, act in acts)


def test_success_share_is_laplace() -> None:
    edge = Edge("a", "r", "b", 1.0, 0.0, 0.0, n=4.0, successes=3.0)
    assert success(edge) == pytest.approx(4 / 6)
    assert success(edge._replace(ttl_s=5.0)) == 0.5


def test_credit_of_a_forgotten_edge_brings_nothing_back() -> None:
    graph = ProfileGraph()
    update.credit(graph, KEY, 1.0, 5.0, CONFIG)
    assert list(graph) == []


def test_late_news_never_lowers_the_clock() -> None:
    graph = ProfileGraph()
    update.touch(graph, KEY, 100.0, CONFIG, True)
    edge = update.touch(graph, KEY, 50.0, CONFIG, False)
    assert edge.last_s == 100.0
    assert edge.w == 0.5


def test_a_functional_fact_closes_its_predecessor_and_only_that() -> None:
    graph = ProfileGraph()
    for t, name in enumerate("ab"):
        update.state(graph, ("task|o", update.SERVED_BY, f"vendor|{name}"), float(t), CONFIG, True)
    update.touch(graph, ("task|o", update.VIA, "vendor|a"), 1.0, CONFIG, True)
    assert {(e.rel, e.dst) for e in graph} == {("served_by", "vendor|b"), ("via", "vendor|a")}
    assert [(r.edge.dst, r.rule, r.edge.invalid_at_s) for r in graph.log] == [("vendor|a", "closed", 1.0)]


def test_the_newest_fact_wins_in_any_order_of_arrival() -> None:
    graph = ProfileGraph()
    update.state(graph, ("task|o", update.SERVED_BY, "vendor|new"), 9.0, CONFIG, True)
    update.state(graph, ("task|o", update.SERVED_BY, "vendor|old"), 3.0, CONFIG, True)
    assert [e.dst for e in graph] == ["vendor|new"]
