"""What sweeps and features compute with columns is what plain loops, written from the definitions, come to."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory.days import graphs

from masim.memory.config import MemoryConfig
from masim.memory.features import BUCKETS, FEATURES, LOCAL_EDGES, TYPE_PAIRS, FeatureView
from masim.memory.forget.registry import policy
from masim.memory.forget.sweep import sweep
from masim.memory.graph import Edge, EdgeKey, FrozenGraph, ProfileGraph
from masim.memory.update import touch
from masim.units import DAY, HOUR

NOW = 12 * DAY
CONFIG = MemoryConfig(edge_cap=30)
KINDS = ("agent", "user", "task", "tool", "vendor", "strategy", "incident")


def crowd(seed: int, n: int = 150) -> list[Edge]:
    """Return edges of all ages and merits between few nodes."""
    rng = random.Random(seed)
    edges: dict[EdgeKey, Edge] = {}
    for _ in range(n):
        ends = [f"{rng.choice(KINDS)}|{rng.randrange(6)}" for _ in range(2)]
        key = (ends[0], rng.choice("rq"), ends[1])
        born = rng.uniform(0.0, 12.0) * DAY
        last = rng.uniform(born, NOW)
        trials = rng.randrange(6)
        good = rng.uniform(0.0, trials)
        edge = Edge(*key, rng.uniform(0.01, 2.0), last, born, float(trials), good * rng.randrange(2), 0.0)
        edge = edge._replace(episodes=rng.randrange(1, 4), pin=rng.random() < 0.05)
        if rng.random() < 0.2:
            edge = edge._replace(ttl_s=rng.uniform(0.5, 4.0) * DAY, successes=0.0)
        if rng.random() < 0.05:
            edge = edge._replace(invalid_at_s=rng.uniform(born, 1.1 * NOW))
        edges[key] = edge
    return list(edges.values())


# -- the plain loops ----------------------------------------------------------------------------------------------


def half_life(edge: Edge, config: MemoryConfig) -> float:
    return edge.ttl_s or config.half_life_s * (1.0 + math.log(1.0 + edge.successes))


def weight(edge: Edge, now_s: float, config: MemoryConfig) -> float:
    return edge.w * 2.0 ** (-max(0.0, now_s - edge.last_s) / half_life(edge, config))


def quality(edge: Edge) -> float:
    return 0.5 if edge.ttl_s else (edge.successes + 1.0) / (edge.n + 2.0)


def slow_score(edge: Edge, now_s: float, config: MemoryConfig) -> float:
    return weight(edge._replace(w=min(1.0, edge.w)), now_s, config) * 2.0 * quality(edge)


def slow_recommended(edges: Sequence[Edge], now_s: float, config: MemoryConfig) -> dict[EdgeKey, str]:
    found = {}
    for edge in edges:
        idle = now_s - edge.last_s
        recent = edge.successes > 0 and idle <= config.success_window_s and edge.invalid_at_s > now_s
        if edge.pin or now_s - edge.first_s <= config.grace_s or recent:
            continue
        if edge.invalid_at_s <= now_s:
            found[edge.key] = "invalidated"
        elif edge.ttl_s:
            if idle > edge.ttl_s:
                found[edge.key] = "ttl"
        elif edge.episodes <= 1 and edge.successes <= 0 and idle > config.episode_s:
            found[edge.key] = "uncorroborated"
        elif slow_score(edge, now_s, config) < config.theta:
            found[edge.key] = "score"
        elif all(dwarfed(edge, beside, now_s, config) for beside in neighbours(edge, edges)):
            found[edge.key] = "share"
    return found


def neighbours(edge: Edge, edges: Sequence[Edge]) -> tuple[list[Edge], list[Edge]]:
    return [e for e in edges if e.src == edge.src], [e for e in edges if e.dst == edge.dst]


def dwarfed(edge: Edge, beside: Sequence[Edge], now_s: float, config: MemoryConfig) -> bool:
    own, weights = weight(edge, now_s, config), [weight(e, now_s, config) for e in beside]
    return own < config.share * sum(weights) and own < 0.5 * max(weights)


def slow_threshold(edges: Sequence[Edge], now_s: float, config: MemoryConfig) -> dict[EdgeKey, str]:
    found = {}
    for edge in edges:
        total = sum(weight(e, now_s, config) for e in edges if e.src == edge.src)
        if not edge.pin and weight(edge, now_s, config) < config.share * total:
            found[edge.key] = "share"
    return found


def slow_exponential(edges: Sequence[Edge], now_s: float, config: MemoryConfig) -> dict[EdgeKey, str]:
    def left(edge: Edge) -> float:
        return float(min(1.0, edge.w) * 2.0 ** (-max(0.0, now_s - edge.last_s) / config.half_life_s))

    return {edge.key: "faded" for edge in edges if not edge.pin and left(edge) < config.theta}


def slow_ttl(edges: Sequence[Edge], now_s: float, config: MemoryConfig) -> dict[EdgeKey, str]:
    return {edge.key: "idle" for edge in edges if not edge.pin and now_s - edge.last_s > config.idle_s}


def slow_lru(edges: Sequence[Edge], now_s: float, config: MemoryConfig) -> dict[EdgeKey, str]:
    pinned = [edge for edge in edges if edge.pin]
    loose = sorted((e for e in edges if not e.pin), key=lambda e: (e.last_s, e.episodes, e.key), reverse=True)
    return {edge.key: "least recent" for edge in loose[max(0, config.edge_cap - len(pinned)) :]}


SLOW = {
    "recommended": slow_recommended,
    "threshold": slow_threshold,
    "exponential": slow_exponential,
    "ttl": slow_ttl,
    "lru": slow_lru,
}


@pytest.mark.parametrize("rule", SLOW)
@pytest.mark.parametrize("seed", range(12))
def test_a_rule_forgets_what_its_definition_says(rule: str, seed: int) -> None:
    edges, config = crowd(seed), replace(CONFIG, policy=rule, node_cap=10_000)
    report = sweep(ProfileGraph(FrozenGraph.of(edges)), NOW, config)
    assert {record.edge.key: record.rule for record in report.forgotten} == SLOW[rule](edges, NOW, config)
    left = [edge for edge in edges if edge.key not in {record.edge.key for record in report.forgotten}]
    assert (report.edges, report.nodes) == (len(left), len({n for e in left for n in (e.src, e.dst)}))


def test_the_crowd_meets_every_clause() -> None:
    """The comparison above would say little if some clause never fired."""
    clauses = {rule for seed in range(12) for rule in slow_recommended(crowd(seed), NOW, CONFIG).values()}
    assert clauses == {"invalidated", "ttl", "uncorroborated", "score", "share"}


@pytest.mark.parametrize("rule", ["recommended", "threshold"])
def test_sweeps_follow_what_changes_between_them(rule: str) -> None:
    """The columns are kept from sweep to sweep; a graph built anew at the same moment loses the same edges."""
    config, rng = replace(CONFIG, policy=rule, node_cap=10_000), random.Random(3)
    graph = ProfileGraph(FrozenGraph.of(crowd(0)))
    for hour in range(40):
        now = NOW + hour * 3 * HOUR
        keys = [edge.key for edge in graph] + [("agent|0", "r", f"vendor|{100 + hour}")]
        for key in rng.sample(keys, min(5, len(keys))):
            touch(graph, key, now, config, new_episode=True)
        if rng.random() < 0.3 and graph.log:
            graph.restore(graph.log[-1].edge.key)
        anew = ProfileGraph(FrozenGraph.of(list(graph)))
        assert sweep(graph, now, config).forgotten == sweep(anew, now, config).forgotten
        assert sorted(graph) == sorted(anew)


# -- features -----------------------------------------------------------------------------------------------------


def slow_features(edges: Sequence[Edge], now_s: float, entities: Sequence[str], config: MemoryConfig) -> list[float]:
    at = math.floor(now_s / HOUR) * HOUR
    pairs = [[0.0, 0.0, 0.0, 0.0] for _ in TYPE_PAIRS]
    hashed, local = [0.0] * BUCKETS, []
    for edge in edges:
        idle = max(0.0, at - edge.last_s)
        alive = edge.w > 0.0 and (not edge.ttl_s or idle <= edge.ttl_s)
        value = min(1.0, weight(edge, at, config)) if alive else 0.0
        fresh, q, sign = 2.0 ** (-idle / DAY), quality(edge), -1.0 if edge.ttl_s else 1.0
        kinds = (edge.src.partition("|")[0], edge.dst.partition("|")[0])
        at_pair = pairs[TYPE_PAIRS.index(kinds) if kinds in TYPE_PAIRS else -1]
        for n, more in enumerate((float(alive), value, value * q, value * fresh)):
            at_pair[n] += more
        code = int.from_bytes(hashlib.blake2b("\x1f".join(edge.key).encode(), digest_size=4).digest(), "little")
        code %= 2 * BUCKETS
        hashed[code // 2] += value * q * sign * (-1.0 if code % 2 else 1.0)
        rank = slow_score(edge, at, config) / 2.0 if alive else 0.0
        if rank > 0.0 and (edge.src in entities or edge.dst in entities):
            local.append((-rank, min(1.0, weight(edge, at, config)), q, fresh, sign))
    best = [number for row in sorted(local)[:LOCAL_EDGES] for number in row[1:]]
    out = []
    for count, total, good, recent in pairs:
        out += [math.log1p(count) / 4.0, math.log1p(total) / 4.0]
        out += [good / total, recent / total] if total > 0.0 else [0.0, 0.0]
    return out + best + [0.0] * (4 * LOCAL_EDGES - len(best)) + hashed


@settings(max_examples=40)
@given(st.integers(0, 1000), st.lists(st.tuples(st.integers(0, 10**6), st.floats(0.0, 90.0)), max_size=20))
def test_features_follow_what_changes(seed: int, changes: list[tuple[int, float]]) -> None:
    """Touched, removed, restored, and read in between, within an hour and across hours."""
    graph, view = ProfileGraph(FrozenGraph.of(crowd(seed, 60))), FeatureView(CONFIG.half_life_s)
    now, entities = NOW, ["vendor|1", "agent|2"]
    view.read(graph, now, entities)
    for choice, minutes in changes:
        now += minutes * 60.0
        keys = sorted(edge.key for edge in graph) or [("agent|0", "r", "vendor|0")]
        key = keys[choice % len(keys)]
        match choice % 4:
            case 0:
                graph.remove(key, "test", 0.0, now)
            case 1 if graph.log:
                graph.restore(graph.log[choice % len(graph.log)].edge.key)
            case 2:
                touch(graph, ("agent|2", "new", f"vendor|{choice}"), now, CONFIG, new_episode=True)
            case _:
                touch(graph, key, now, CONFIG, new_episode=True)
        seen = view.read(graph, now, entities)
        assert seen.shape == (FEATURES,)
        np.testing.assert_allclose(seen, slow_features(list(graph), now, entities, CONFIG), atol=2e-6)
        anew = ProfileGraph(FrozenGraph.of(list(graph)))
        np.testing.assert_array_equal(seen, FeatureView(CONFIG.half_life_s).read(anew, now, entities))


def test_a_reading_is_an_array_of_its_own() -> None:
    graph, view = ProfileGraph(FrozenGraph.of(crowd(1))), FeatureView(CONFIG.half_life_s)
    first = view.read(graph, NOW, ["vendor|1"])
    kept = first.copy()
    touch(graph, ("agent|2", "new", "vendor|1"), NOW, CONFIG, new_episode=True)
    second = view.read(graph, NOW, ["vendor|1"])
    np.testing.assert_array_equal(first, kept)
    assert not np.array_equal(first, second)


@given(graphs)
def test_a_rule_may_be_asked_with_edges_alone(base: FrozenGraph) -> None:
    from masim.memory.forget.base import Snapshot

    edges = list(base.edges.values())
    verdicts = policy("recommended")(Snapshot(edges, NOW, CONFIG))
    assert {v.edge.key: v.rule for v in verdicts} == slow_recommended(edges, NOW, CONFIG)
