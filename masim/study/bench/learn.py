"""``masim bench learn``: what scoring a step table costs, beside the loop that one would write first.

The table is made up: eight rollouts a group, 25 decisions a rollout, a dozen states and four views of the memory. What
is timed is everything between a table and the advantages of its decisions: checks, units, comparisons, the gate,
penalties. The loop beside it (:mod:`masim.study.bench.loop`) does all of that for GiGPO, row by row, with dictionaries.
Trainings from scratch on worlds with known answers follow (:mod:`masim.study.bench.training`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any

import numpy as np

from masim.rollout.types import StepTable
from masim.study.bench.loop import columns_of, looped
from masim.study.bench.machine import machine
from masim.study.bench.measure import in_turn, spread
from masim.study.bench.registry import BenchOptions, refuse
from masim.study.bench.training import training

T, G, STATES, VIEWS = 25, 8, 12, 4
Say = Callable[[str], None]
CASES: dict[str, dict[str, Any]] = {
    "grpo": {"estimator": "grpo"},
    "gigpo": {"estimator": "gigpo"},
    "progpo on grpo": {"progpo": {}},
    "progpo on gigpo, step form": {"estimator": "gigpo", "progpo": {"form": "step"}},
    "hgpo, four levels": {"estimator": "hgpo"},
    "gagpo": {"estimator": "gagpo"},
    "graphgpo": {"estimator": "graphgpo"},
    "segments by anchor": {"unit": {"name": "segment", "segment_len": 5}, "compare": "anchor"},
}


@dataclass(frozen=True, slots=True)
class Scale:
    """How much to measure."""

    rounds: int
    rows: int
    long: int


FULL = Scale(5, 1_000_000, 10_000_000)
QUICK = Scale(1, 2_000, 20_000)


def bench_learn(options: BenchOptions, say: Say) -> dict[str, Any]:
    """Measure everything and return it as one object."""
    refuse(options.days > 0, "--days", "scoring plays no days")
    refuse(bool(options.scenario), "--scenario", "scoring plays no scenario")
    refuse(bool(options.stores), "--store", "scoring reads no memory")
    scale = QUICK if options.quick else FULL
    result: dict[str, Any] = {"bench": "learn", "seed": options.seed, "quick": options.quick, "machine": machine()}
    say(f"{scale.rows:,} decisions")
    table = made_up(scale.rows, options.seed)
    subjects = {name: partial(scored, table, case) for name, case in CASES.items()}
    rows = columns_of(table)
    found = in_turn({**subjects, "the loop, gigpo": partial(timed, partial(looped, rows))}, scale.rounds)
    result["decisions"] = len(table)
    result["rates"] = [{"what": name, "s": asdict(spread(runs))} for name, runs in found.items()]
    say(f"{scale.long:,} decisions")
    result["growth"] = growth(table, made_up(scale.long, options.seed))
    say("training on worlds with known answers")
    result["training"] = training(options.seed, options.quick)
    result["targets"] = [] if options.quick else [*targets(result), *result["training"]]
    return result


def made_up(n: int, seed: int) -> StepTable:
    """Return a table of about ``n`` decisions whose states and outcomes are drawn at random."""
    draw = np.random.default_rng(seed)
    samples = max(G, n // (T * G) * G)
    n = samples * T
    sample, turn = np.repeat(np.arange(samples), T), np.tile(np.arange(T), samples)
    key = draw.integers(0, STATES, n).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # as wide as digests are
    after = np.append(key[1:], key[:1])
    zero = {f.name: np.zeros(n, np.int64) for f in fields(StepTable) if f.default is not None}
    flags = {name: np.zeros(n, bool) for name in ("subtask_end", "terminated", "truncated", "masked")}
    given: dict[str, Any] = {
        "group_id": sample // G, "scenario_seed": sample // G, "rollout_id": sample, "turn": turn,
        "event_id": np.arange(n), "event_time_s": 30.0 * turn, "logp": np.full(n, -1.0), "valid": np.ones(n, bool),
        "obs_key": key, "next_obs_key": after, "obs_key_exact": key, "next_obs_key_exact": after,
        "memory_key": draw.integers(0, VIEWS, n).astype(np.uint64), "r_pen": np.full(n, -0.1),
        "r_out": np.where(turn == T - 1, (draw.random(samples) < 0.2)[sample], 0.0),
    }  # fmt: skip
    return StepTable(**{**zero, **flags, **given})


def scored(table: StepTable, case: dict[str, Any]) -> float:
    """Return the processor seconds of scoring a table."""
    from masim.learn.advantages.assemble import advantages
    from masim.learn.config import from_mapping

    config = from_mapping(case)
    return timed(lambda: advantages(table, config))


def timed(run: Callable[[], object]) -> float:
    """Return the processor seconds of one call."""
    began = time.process_time()
    run()
    return time.process_time() - began


def growth(small: StepTable, large: StepTable) -> list[dict[str, Any]]:
    """Return what a decision costs in a table ten times as long, over what it costs in the short one.

    Both are scored part by part (:mod:`masim.learn.advantages.parts`): arrays of ten million entries are too large for
    any cache, and the kernel clears their pages anew for every one of them. ``ratio`` is of all processor seconds,
    ``ratio_user`` without those of the kernel.
    """
    rows = []
    for name in ("gigpo", "hgpo, four levels", "progpo on grpo"):
        (user, all_), (user_large, all_large) = (cost(table, CASES[name]) for table in (small, large))
        ratios = {"ratio": all_large / all_, "ratio_user": user_large / user}
        rows.append({"what": name, "decisions": len(large), "us": 1e6 * all_large, **ratios})
    return rows


def cost(table: StepTable, case: dict[str, Any]) -> tuple[float, float]:
    """Return the least user and processor seconds per decision of three runs."""
    from masim.learn.advantages.parts import scored_in_parts
    from masim.learn.config import from_mapping

    runs, config = [], from_mapping(case)
    for _ in range(3):
        before = os.times()
        scored_in_parts(table, config)
        after = os.times()
        user = after.user - before.user
        runs.append((user / len(table), (user + after.system - before.system) / len(table)))
    return max(min(user for user, _ in runs), 1e-12), max(min(all_ for _, all_ in runs), 1e-12)


def targets(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what was aimed at, beside what was measured: seconds for a million decisions, and ratios."""
    seconds = {row["what"]: row["s"]["median"] for row in result["rates"]}
    aims = [("gigpo", 0.5), ("progpo on grpo", 0.5), ("progpo on gigpo, step form", 0.5), ("hgpo, four levels", 2.0)]
    rows = [{"what": f"{name}, s", "figure": seconds[name], "target": aim} for name, aim in aims]
    for row in result["growth"]:
        for name, part in (("ratio", "cost"), ("ratio_user", "cost without the kernel's")):
            rows.append(
                {"what": f"{row['what']}, {part}, over ten times the table", "figure": row[name], "target": 1.25}
            )
    rows = [{**row, "met": row["figure"] <= row["target"]} for row in rows]
    ratio = seconds["the loop, gigpo"] / seconds["gigpo"]
    return [*rows, {"what": "the loop over gigpo", "figure": ratio, "target": 8.0, "met": ratio >= 8.0}]
