"""``masim bench env``: what the environment adapters cost, beside the two that one would write or take first.

Every figure is of one recorded day of the bundled workflow (see :mod:`masim.study.bench.episodes`) in the world of
``masim bench world`` with one order per agent: twelve endpoints, two legs, six carriers, six docks. A decision counts
only if the agent was asked; events are those of the world's clock; seconds are the processor seconds of all steps, with
observations, masks, infos and rewards as the adapter returns them by default, and no policy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any

from masim.env.aec import BookingAECEnv
from masim.env.parallel import BookingParallelEnv
from masim.env.ready import BookingReadyEnv
from masim.scenario.load import Scenario, load_scenario
from masim.study.bench.episodes import Run, play_aec, play_parallel, play_session, record, wait_30_s, workflow
from masim.study.bench.machine import machine
from masim.study.bench.measure import in_turn, ratios, spread
from masim.study.bench.peers import load_peer
from masim.study.bench.registry import BenchOptions, refuse
from masim.study.bench.sizes import BASE, Size, sized, with_rules_of
from masim.units import MINUTE

WHOLE_DAY = float("inf")
Plays = Mapping[str, Callable[[], Run]]


@dataclass(frozen=True, slots=True)
class Scale:
    """How long to measure. Peers are played for the first part of the day only: a tick goes on when nobody is ready."""

    rounds: int
    agents: tuple[int, ...]
    peer_s: float


AGENTS = 30
FULL = Scale(10, (1, 10, 100), 10 * MINUTE)
QUICK = Scale(1, (1, 3), MINUTE)


def bench_env(options: BenchOptions, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything and return it as one object."""
    refuse(options.days > 0, "--days", "env plays one day")
    scale = QUICK if options.quick else FULL
    peer = load_peer("peer_env", options.peers)
    scenario = world_of(AGENTS, options.scenario)
    result: dict[str, Any] = {"bench": "env", "seed": options.seed, "quick": options.quick, "machine": machine()}
    say("adapters")
    result["rates"] = rates(adapters(scenario, options.seed), scale.rounds)
    say("against the peers")
    result["peers"] = against(peer, scenario, scale, options.seed)
    say("agents")
    result["sizes"] = by_agents(scale, options)
    result["targets"] = [] if options.quick else targets(result)
    return result


def world_of(agents: int, rules: str = "") -> Scenario:
    """Return the benchmark's scenario with this many agents, one order each; ``rules``: of this other scenario."""
    spec = sized(Size(agents=agents, orders_per_agent=1))
    return replace(load_scenario(BASE), spec=with_rules_of(spec, rules) if rules else spec)


def adapters(scenario: Scenario, seed: int) -> Plays:
    """Return one play per adapter, each of a whole day."""
    event, everybody = BookingParallelEnv(scenario), BookingParallelEnv(scenario, sync="all")
    aec, ready = BookingAECEnv(scenario), BookingReadyEnv(scenario)
    day, together = (record(env, workflow, seed, WHOLE_DAY) for env in (event, everybody))
    waits = record(event, wait_30_s, seed, WHOLE_DAY)
    return {
        "session alone": partial(play_session, scenario.spec, day, seed),
        "parallel, sync=event": partial(play_parallel, event, day, seed, WHOLE_DAY),
        "parallel, sync=all": partial(play_parallel, everybody, together, seed, WHOLE_DAY),
        "ready agents alone": partial(play_parallel, ready, day, seed, WHOLE_DAY),
        "aec with last()": partial(play_aec, aec, day, seed, WHOLE_DAY, look=True),
        "aec raw": partial(play_aec, aec, day, seed, WHOLE_DAY),
        "aec raw, 30 s waits": partial(play_aec, aec, waits, seed, WHOLE_DAY),
    }


def rates(plays: Plays, rounds: int) -> list[dict[str, Any]]:
    """Return one row per play: means of plain runs."""
    return [
        {
            "what": name,
            "decisions_per_s": asdict(spread([run.decisions_per_s for run in runs])),
            "events_per_s": asdict(spread([run.events_per_s for run in runs])),
            "us_per_decision": 1e6 / spread([run.decisions_per_s for run in runs]).mean,
            "decisions": runs[0].decisions,
            "events": runs[0].events,
            "steps": runs[0].steps,
        }
        for name, runs in in_turn(plays, rounds).items()
    ]


def against(peer: ModuleType, scenario: Scenario, scale: Scale, seed: int) -> list[dict[str, Any]]:
    """Return one row per pair of ours and a peer: the ratio of their decisions per second, in the same round."""
    ours, naive = BookingParallelEnv(scenario), peer.Lockstep(scenario)
    everybody, aec, ready = BookingParallelEnv(scenario, sync="all"), BookingAECEnv(scenario), BookingReadyEnv(scenario)
    day, ticks, together = (record(env, workflow, seed, scale.peer_s) for env in (ours, naive, everybody))
    found = in_turn(
        {
            "parallel, sync=event": partial(play_parallel, ours, day, seed, scale.peer_s),
            "parallel, sync=all": partial(play_parallel, everybody, together, seed, scale.peer_s),
            "ready agents alone": partial(play_parallel, ready, day, seed, scale.peer_s),
            "aec raw": partial(play_aec, aec, day, seed, scale.peer_s),
            "lockstep": partial(play_parallel, naive, ticks, seed, scale.peer_s),
            "parallel_to_aec": partial(play_aec, peer.converted(scenario), day, seed, scale.peer_s, dummies=True),
        },
        max(1, scale.rounds // 2),
    )
    rate = {name: [run.decisions_per_s for run in runs] for name, runs in found.items()}
    pairs = (
        ("parallel, sync=event", "lockstep"),
        ("parallel, sync=all", "lockstep"),
        ("ready agents alone", "lockstep"),
        ("aec raw", "parallel_to_aec"),
    )
    return [
        {
            "what": name,
            "peer": other,
            "decisions_per_s": asdict(spread(rate[name])),
            "peer_decisions_per_s": asdict(spread(rate[other])),
            "ratio": asdict(ratios(rate[name], rate[other])),
            "peer_steps_per_decision": found[other][0].steps / found[other][0].decisions,
        }
        for name, other in pairs
    ]


def by_agents(scale: Scale, options: BenchOptions) -> list[dict[str, Any]]:
    """Return per adapter and number of agents what a decision costs."""
    rows = []
    for n in scale.agents:
        plays = adapters(world_of(n, options.scenario), options.seed)
        some = {name: plays[name] for name in ("parallel, sync=event", "parallel, sync=all", "ready agents alone")}
        rows += [{"agents": n} | row for row in rates(some, max(1, scale.rounds // 3))]
    return rows


def targets(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what was aimed at, beside what was measured."""
    rate = {row["what"]: row for row in result["rates"]}
    over = {row["what"]: row["ratio"]["median"] for row in result["peers"]}
    rows = []
    for name in ("parallel, sync=event", "parallel, sync=all"):
        rows += [
            (f"{name}: events/s", rate[name]["events_per_s"]["mean"], 100_000),
            (f"{name}: decisions/s", rate[name]["decisions_per_s"]["mean"], 30_000),
            (f"{name}: decisions/s over the lockstep wrapper's", over[name], 5),
        ]
    rows.append(("aec raw, 30 s waits: turns/s", rate["aec raw, 30 s waits"]["decisions_per_s"]["mean"], 80_000))
    rows.append(("aec raw: turns/s", rate["aec raw"]["decisions_per_s"]["mean"], 80_000))
    return [{"what": what, "figure": figure, "target": aim, "met": figure >= aim} for what, figure, aim in rows]
