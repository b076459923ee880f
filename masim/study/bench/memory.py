"""``masim bench memory``: what a profile graph and its stores cost at 200 nodes and 2,000 edges.

A step is three touches of edges drawn at random, with half a simulated minute between steps. Beside it runs, in turn,
the loop that one would write first: decay every edge at every step and prune what is light. Medians are of single steps
by the wall clock, since a step is too short for the processor's clock; means are processor seconds over all steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from masim.memory.config import MemoryConfig
from masim.memory.features import FeatureView
from masim.memory.forget.sweep import sweep
from masim.memory.graph import Edge, EdgeKey, FrozenGraph, GraphDelta, ProfileGraph
from masim.memory.store.base import GraphStore
from masim.memory.store.registry import open_store
from masim.memory.update import half_life_s, touch
from masim.rng import Noise
from masim.study.bench.machine import machine
from masim.study.bench.measure import in_turn, spread
from masim.study.bench.registry import BenchOptions, refuse
from masim.units import DAY, MINUTE

NODES, EDGES = 200, 2_000
TOUCHES = 3
STEP_S = MINUTE / 2
AGENT = "bench/agent"


@dataclass(frozen=True, slots=True)
class Scale:
    """How often to measure."""

    rounds: int
    steps: int
    naive: int
    stored: int
    loads: int
    long: int


FULL = Scale(5, 20_000, 400, 4_000, 40, 1_000_000)
QUICK = Scale(1, 64, 4, 20, 2, 640)
Say = Callable[[str], None]
Timed = tuple[float, float]
"""Median and mean microseconds."""


def bench_memory(options: BenchOptions, say: Say) -> dict[str, Any]:
    """Measure everything and return it as one object."""
    refuse(options.days > 0, "--days", "memory plays no days")
    refuse(bool(options.scenario), "--scenario", "memory plays no scenario")
    scale = QUICK if options.quick else FULL
    result: dict[str, Any] = {"bench": "memory", "seed": options.seed, "quick": options.quick, "machine": machine()}
    graph = graph_of(options.seed)
    say("steps of the graph")
    result["graph"] = graph_rows(graph, scale, options.seed)
    say(f"{scale.long:,} steps")
    result["long"] = long_run(graph, scale.long, options.seed)
    result["stores"] = list(store_rows(graph, scale, options, say))
    result["targets"] = [] if options.quick else targets(result)
    return result


def graph_of(seed: int) -> FrozenGraph:
    """Return a graph of 200 nodes and 2,000 edges: older than the grace, used lately, with some success."""
    noise = Noise(seed, "bench/memory")
    nodes = ["agent|a", *(f"user|{i}" for i in range(20)), *(f"task|{i}" for i in range(49))]
    nodes += [f"tool|{i}" for i in range(30)] + [f"vendor|{i}" for i in range(100)]
    edges: dict[EdgeKey, Edge] = {}
    for i in range(EDGES):
        key = (nodes[i % NODES], "r", nodes[(i + 1 + 19 * (i // NODES)) % NODES])
        draw = noise.uniform("edge", i)
        edges[key] = Edge(*key, 0.5 + draw, -DAY * draw, -9 * DAY, 4.0, 1.0 + round(2 * draw), 1.0, 3, -9 * DAY)
    return FrozenGraph.of(edges.values())


def touched(graph: FrozenGraph, steps: int, seed: int) -> list[tuple[EdgeKey, ...]]:
    """Return the edges that each step touches, drawn beforehand."""
    keys = list(graph.edges)
    drawn = Noise(seed, "bench/memory").generator("steps").integers(len(keys), size=(steps, TOUCHES))
    return [tuple(keys[i] for i in row) for row in drawn.tolist()]


def graph_rows(base: FrozenGraph, scale: Scale, seed: int) -> list[dict[str, Any]]:
    """Return microseconds per step: without sweeps, with those of two rules, of the naive loop, and per features."""
    steps = touched(base, scale.steps, seed)
    subjects: dict[str, Callable[[], Timed]] = {
        "three touches": lambda: lazy(base, steps, "none", sweeps=False),
        "with sweeps, threshold": lambda: lazy(base, steps, "threshold"),
        "with sweeps, recommended": lambda: lazy(base, steps, "recommended"),
        "naive decay and prune": lambda: naive(base, steps[: scale.naive]),
        "features": lambda: featured(base, steps[: max(1, scale.steps // 20)]),
    }
    found = in_turn(subjects, scale.rounds)
    return [
        {
            "what": what,
            "us_median": median(step for step, _ in runs),
            "us_mean": asdict(spread([mean for _, mean in runs])),
        }
        for what, runs in found.items()
    ]


def lazy(base: FrozenGraph, steps: Sequence[tuple[EdgeKey, ...]], rule: str, sweeps: bool = True) -> Timed:
    """Return the median and the mean microseconds of a step on an overlay, sweeping every 32 steps."""
    config = MemoryConfig(policy=rule)
    graph = ProfileGraph(base)
    every = config.sweep_every if sweeps else len(steps) + 1
    began = time.process_time()
    singles = []
    for n, keys in enumerate(steps):
        now_s = n * STEP_S
        start = time.perf_counter()
        for key in keys:
            touch(graph, key, now_s, config, False)
        singles.append(time.perf_counter() - start)
        if n % every == every - 1:
            sweep(graph, now_s, config)
    return 1e6 * median(singles), 1e6 * (time.process_time() - began) / len(steps)


def naive(base: FrozenGraph, steps: Sequence[tuple[EdgeKey, ...]]) -> Timed:
    """Return the same for the loop that decays every edge at every step and prunes the light ones."""
    config = MemoryConfig()
    weights = {key: edge.w for key, edge in base.edges.items()}
    halves = {key: half_life_s(edge, config) for key, edge in base.edges.items()}
    began = time.process_time()
    singles = []
    for keys in steps:
        start = time.perf_counter()
        for key in keys:
            weights[key] = weights.get(key, 0.0) + config.touch
        for key in list(weights):
            weights[key] *= 2.0 ** (-STEP_S / halves[key])
            if weights[key] < config.theta * 0.01:
                del weights[key]
        singles.append(time.perf_counter() - start)
    return 1e6 * median(singles), 1e6 * (time.process_time() - began) / len(steps)


def featured(base: FrozenGraph, steps: Sequence[tuple[EdgeKey, ...]]) -> Timed:
    """Return the microseconds of the features of a graph that was touched since they were last asked for."""
    config = MemoryConfig()
    graph, view = ProfileGraph(base), FeatureView(config.half_life_s)
    view.read(graph, 0.0)
    singles, spent_s = [], 0.0
    for n, keys in enumerate(steps):
        for key in keys:
            touch(graph, key, n * STEP_S, config, False)
        began, start = time.process_time(), time.perf_counter()
        view.read(graph, n * STEP_S, [keys[0][0]])
        singles.append(time.perf_counter() - start)
        spent_s += time.process_time() - began
    return 1e6 * median(singles), 1e6 * spent_s / len(steps)


def long_run(base: FrozenGraph, total: int, seed: int) -> dict[str, float]:
    """Return the processor microseconds per step, sweeps included, of the first and the last tenth of a long run."""
    part = touched(base, max(1, total // 100), seed)
    config = MemoryConfig()
    graph = ProfileGraph(base)
    tenths = []
    for tenth in range(10):
        began = time.process_time()
        for n, keys in enumerate(part * 10):
            now_s = (tenth * len(part) * 10 + n) * STEP_S
            for key in keys:
                touch(graph, key, now_s, config, False)
            if n % config.sweep_every == config.sweep_every - 1:
                sweep(graph, now_s, config)
        tenths.append(1e6 * (time.process_time() - began) / (len(part) * 10))
    return {"steps": 100 * len(part), "us_first": tenths[0], "us_last": tenths[-1]}


def store_rows(base: FrozenGraph, scale: Scale, options: BenchOptions, say: Say) -> Iterator[dict[str, Any]]:
    """Yield what each store takes for a step of three edges and to load the graph, in wall time."""
    steps = touched(base, scale.stored, options.seed)
    with TemporaryDirectory(prefix="masim-bench-") as folder:
        addresses = {
            "sqlite, NORMAL": f"{folder}/normal.sqlite",
            "sqlite, FULL": f"sqlite://{folder}/full.sqlite?full=1",
        }
        addresses |= {address.partition("://")[0]: address for address in options.stores}
        for name, address in addresses.items():
            say(f"store {name}")
            store = open_store(address)
            try:
                yield {"store": name, **stored(store, base, steps, scale.loads)}
            finally:
                store.close()


def stored(
    store: GraphStore, base: FrozenGraph, steps: Sequence[tuple[EdgeKey, ...]], loads: int
) -> dict[str, dict[str, float]]:
    """Measure one store, which keeps the graph of an agent of the benchmark's afterwards."""
    version = store.claim(AGENT).version + 1
    store.apply(AGENT, GraphDelta(tuple(base.edges.values())), version)
    writes, reads = [], []
    for n, keys in enumerate(steps, 1):
        edges = (base.edges[key]._replace(w=float(n), last_s=n * STEP_S) for key in dict.fromkeys(keys))
        batch = GraphDelta(tuple(edges))
        start = time.perf_counter()
        store.apply(AGENT, batch, version + n)
        writes.append(1e6 * (time.perf_counter() - start))
    store.compact(AGENT, version + len(steps))
    for _ in range(loads):
        start = time.perf_counter()
        store.load(AGENT)
        reads.append(1e3 * (time.perf_counter() - start))
    return {"step_us": _quantiles(writes), "load_ms": _quantiles(reads)}


def _quantiles(values: Sequence[float]) -> dict[str, float]:
    ordered = sorted(values)
    parts = {name: ordered[int(share * (len(ordered) - 1))] for name, share in (("p10", 0.1), ("p90", 0.9))}
    return {"median": median(ordered), "mean": sum(ordered) / len(ordered), **parts}


def targets(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what was aimed at, beside what was measured; less is better but for the ratio and its like."""
    graph = {row["what"]: row for row in result["graph"]}
    sqlite = next(row for row in result["stores"] if row["store"] == "sqlite, NORMAL")
    recommended = graph["with sweeps, recommended"]["us_mean"]["median"]
    most = [
        ("step of three touches, median us", graph["three touches"]["us_median"], 5.0),
        ("step with sweeps by threshold, mean us", graph["with sweeps, threshold"]["us_mean"]["median"], 25.0),
        ("step with sweeps by recommended, mean us", recommended, 60.0),
        ("features, median us", graph["features"]["us_median"], 10.0),
        ("step in SQLite at NORMAL, median us", sqlite["step_us"]["median"], 40.0),
        ("load of 2,000 edges from SQLite, median ms", sqlite["load_ms"]["median"], 15.0),
        ("cost of a step, last tenth over first", result["long"]["us_last"] / result["long"]["us_first"], 1.1),
    ]
    rows = [{"what": what, "figure": figure, "target": aim, "met": figure <= aim} for what, figure, aim in most]
    ratio = graph["naive decay and prune"]["us_mean"]["median"] / recommended
    return [*rows, {"what": "naive loop over recommended", "figure": ratio, "target": 8.0, "met": ratio >= 8.0}]
