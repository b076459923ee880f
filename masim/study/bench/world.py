"""``masim bench world``: how fast the simulated world is, and what that depends on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from masim.study.bench.machine import machine
from masim.study.bench.peers import load_peer
from masim.study.bench.processes import memory, two_processes
from masim.study.bench.rates import against_peer, by_profile, by_size
from masim.study.bench.registry import BenchOptions
from masim.study.bench.sizes import Size, sized, with_rules_of

PROFILES = ("calm", "typical", "peak", "hostile")
BASE = Size()


@dataclass(frozen=True, slots=True)
class Scale:
    """How long to measure."""

    rounds: int
    pairs: int
    vendors: tuple[int, ...]
    agents: tuple[int, ...]
    days: tuple[int, ...]
    memory_days: tuple[int, ...]


FULL = Scale(10, 10, (10, 100, 1000), (1, 10, 100, 1000), (1, 5, 30), (1, 10, 100))
QUICK = Scale(1, 1, (10, 100), (1, 20), (1, 2), (1, 2))


def bench_world(options: BenchOptions, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything and return it as one object."""
    scale = QUICK if options.quick else FULL
    base = replace(BASE, orders_per_agent=10) if options.quick else BASE
    peer = load_peer("peer_world", options.peers)
    worlds = {name: sized(base, name) for name in PROFILES}
    if options.scenario:
        worlds[options.scenario] = with_rules_of(sized(base), options.scenario)
    result: dict[str, Any] = {"bench": "world", "seed": options.seed, "quick": options.quick, "machine": machine()}
    say("against the peer")
    result["peer"] = against_peer(peer, base, scale.rounds, options.seed)
    say("profiles")
    result["profiles"] = by_profile(worlds, scale.rounds, options.seed)
    say("sizes")
    orders = base.agents * base.orders_per_agent
    by_agents = {n: replace(base, agents=n, orders_per_agent=max(1, orders // n)) for n in scale.agents}
    # Five times the orders: a vendor's endpoints are set up at their first call, which is no cost of a call.
    many = replace(base, orders_per_agent=5 * base.orders_per_agent)
    result["sizes"] = [
        *by_size("vendors", {n: replace(many, vendors=n) for n in scale.vendors}, scale.rounds, options.seed),
        *by_size("agents", by_agents, scale.rounds, options.seed),
        *by_size("days", {n: replace(base, days=n) for n in scale.days}, max(1, scale.rounds // 3), options.seed),
    ]
    say("memory")
    days = [*scale.memory_days, *([options.days] if options.days else [])]
    result["memory"] = memory([replace(base, agents=10, days=n) for n in days], options.seed)
    say("two processes")
    result["processes"] = two_processes(
        replace(base, days=2), scale.pairs, options.seed, result["machine"]["load_average"]
    )
    return result
