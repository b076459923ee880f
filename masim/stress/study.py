"""A stress test as a run folder: ``run.json, replications.parquet, stress.json``, and ``junit.xml`` with a gate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from masim.analysis.metrics import METRICS
from masim.analysis.stats import Estimate
from masim.errors import HarnessError
from masim.rollout.executors import run_jobs
from masim.rollout.io import RunFolder, new_folder, write_atomically
from masim.scenario.load import Scenario
from masim.stress.gate import Gate, Verdict, judged, junit
from masim.stress.replications import batches, play_batch
from masim.stress.rules import Stop, estimates
from masim.study.cast import Player, cast, check_fit, described
from masim.study.runs import Progress, RunOptions, head_of, opened, silent


@dataclass(frozen=True, slots=True)
class Stressed:
    """What came out: the folder, per agent the content of ``stress.json``, and the verdicts of the gates."""

    folder: Path
    arms: list[dict[str, Any]]
    verdicts: list[Verdict]


def stress_scenario(
    scenario: Scenario,
    agents: Sequence[str],
    stop: Stop,
    gates: Sequence[Gate],
    options: RunOptions,
    progress: Progress = silent,
) -> Stressed:
    """Replicate a scenario with each agent, on the same seeds, until the stop rule is content.

    Raises ScenarioError for an unknown agent, RunError for an unusable folder, HarnessError when our own machinery
    failed, :class:`~masim.study.runs.Interrupted` at Ctrl-C; the replications finished until then are in the folder.
    """
    players = cast(agents)
    check_fit(players, scenario.spec)
    config = {"stop": asdict(stop), "gates": [gate.text for gate in gates], "players": described(players)}
    head = head_of(scenario, "stress", options.seed, options.command, config)
    arms, verdicts = [], []
    with opened(new_folder("stress", scenario.id, options.out), head) as folder:
        for player in players:
            rows = _replicate(folder, scenario, player, stop, options, progress)
            found = estimates(rows, options.seed)
            arms.append(_described(player, rows, found))
            verdicts += judged(gates, player.arm, found)
        told = [{"gate": v.gate.text, "arm": v.arm, "passed": v.passed, "found": v.text} for v in verdicts]
        folder.write_json("stress.json", {"arms": arms, "gates": told})
        if gates:
            write_atomically(folder.path / "junit.xml", junit(verdicts, scenario.id).encode())
    return Stressed(folder.path, arms, verdicts)


def _replicate(
    folder: RunFolder, scenario: Scenario, player: Player, stop: Stop, options: RunOptions, progress: Progress
) -> pd.DataFrame:
    """Play one agent's replications, write them as they come, and return their sums (a few numbers for each)."""
    jobs = batches(scenario.spec, player.card, player.arm, player.train_seed, options.seed, stop.n)
    looks, parts, done = stop.looks(), [], 0
    progress(player.arm, 0, stop.n)
    for played in run_jobs(play_batch, list(jobs), options.workers, options.executor):
        if len(played.rows):
            head = {"arm": [player.arm] * len(played.rows), "train_seed": [player.train_seed] * len(played.rows)}
            folder.append(
                "replications", {**head, **{str(name): values.to_numpy() for name, values in played.rows.items()}}
            )
            parts.append(played.rows)
            done += len(played.rows)
        if played.failure:
            raise HarnessError(f"{player.arm}, {played.failure}")
        progress(player.arm, done, stop.n)
        if done in looks and stop.enough(pd.concat(parts, ignore_index=True), options.seed):
            break
    return pd.concat(parts, ignore_index=True)


def _described(player: Player, rows: pd.DataFrame, found: Mapping[str, Estimate]) -> dict[str, Any]:
    rates = [(name, metric) for name, metric in METRICS.items() if metric.is_rate]
    worst = {name: float((rows[metric.top] / rows[metric.bottom]).min()) for name, metric in rates}
    metrics = {name: _finite(estimate) for name, estimate in found.items()}
    return {
        "arm": player.arm,
        "train_seed": player.train_seed,
        "replications": len(rows),
        "metrics": metrics,
        "worst": worst,
    }


def _finite(estimate: Estimate) -> dict[str, Any]:
    values = asdict(estimate)
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}
