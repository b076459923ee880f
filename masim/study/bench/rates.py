"""Calls and events per second against the peer, and how the cost of a call moves with the size of the world."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from masim.rollout.stream import TraceStream
from masim.sim.spec import WorldSpec
from masim.sim.trace import Trace
from masim.study.bench.drive import Played, play, traced, untraced
from masim.study.bench.measure import in_turn, ratios, spread
from masim.study.bench.peers import play_peer
from masim.study.bench.rules import play_rules
from masim.study.bench.sizes import Size, sized


def streamed(folder: Path) -> Callable[[int], Trace]:
    """Return traces whose rows go to Parquet files in a folder, one stream for all days."""
    stream = TraceStream(folder, "bench")
    return lambda day: stream.trace({"arm": "bench", "day": day})


def play_streamed(spec: WorldSpec, days: int, seed: int) -> Played:
    """Play with a trace that goes to files in a folder of its own, which is deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="masim-bench-") as folder:
        return play(spec, days, seed, streamed(Path(folder)))


def against_peer(peer: ModuleType, size: Size, rounds: int, seed: int) -> dict[str, Any]:
    """Return one row per way of tracing: both sides' rates, and the ratio of runs of the same round.

    The ``bound`` is that ratio of the rules alone: no way of simulating the calls can be above it.
    """
    spec = sized(size)
    subjects: Mapping[str, Callable[[], Played]] = {
        "peer off": partial(play_peer, peer, spec, seed, False),
        "masim off": partial(play, spec, 1, seed, untraced),
        "peer on": partial(play_peer, peer, spec, seed, True),
        "masim on": partial(play, spec, 1, seed, traced),
        "masim streamed": partial(play_streamed, spec, 1, seed),
        "rules alone": partial(play_rules, spec, seed),
    }
    found = in_turn(subjects, rounds)
    rates = {name: [one.calls_per_s for one in runs] for name, runs in found.items()}
    rows = []
    for trace, other in (("off", "off"), ("on", "on"), ("streamed", "on")):
        ours = found[f"masim {trace}"]
        rows.append(
            {
                "trace": trace,
                "calls_per_s": asdict(spread(rates[f"masim {trace}"])),
                "events_per_s": asdict(spread([one.events_per_s for one in ours])),
                "events_per_call": ours[0].events / ours[0].calls,
                "rows_per_call": ours[0].rows / ours[0].calls,
                "peer_calls_per_s": asdict(spread(rates[f"peer {other}"])),
                "ratio": asdict(ratios(rates[f"masim {trace}"], rates[f"peer {other}"])),
            }
        )
    return {
        "rows": rows,
        "rules_us_per_call": asdict(spread([1e6 / rate for rate in rates["rules alone"]])),
        "bound": asdict(ratios(rates["rules alone"], rates["peer off"])),
    }


def by_profile(profiles: Mapping[str, WorldSpec], rounds: int, seed: int) -> list[dict[str, Any]]:
    """Return one row per world: its rates with the trace on."""
    found = in_turn({name: partial(play, spec, 1, seed, traced) for name, spec in profiles.items()}, rounds)
    return [
        {
            "profile": name,
            "calls_per_s": asdict(spread([one.calls_per_s for one in runs])),
            "events_per_s": asdict(spread([one.events_per_s for one in runs])),
            "events_per_call": runs[0].events / runs[0].calls,
        }
        for name, runs in found.items()
    ]


def by_size(what: str, sizes: Mapping[int, Size], rounds: int, seed: int) -> list[dict[str, Any]]:
    """Return one row per size: the cost of a call over that of the first size, as ratios of the same round."""
    runs = {str(n): partial(play, sized(size), size.days, seed, traced) for n, size in sizes.items()}
    found = in_turn(runs, rounds)
    costs = {name: [one.seconds / one.calls for one in played] for name, played in found.items()}
    first = next(iter(costs.values()))
    return [
        {
            "what": what,
            "n": int(name),
            "calls": played[0].calls,
            "us_per_call": asdict(spread([1e6 * cost for cost in costs[name]])),
            "cost_ratio": asdict(ratios(costs[name], first)),
            "setup_s": spread([one.setup_s for one in played]).median,
        }
        for name, played in found.items()
    ]
