"""Prints the numbers of a run as Markdown, from its ``metrics.json`` and ``run.json``.

Usage: ``python benchmarks/results_table.py runs/NAME``. The pages under ``docs/results`` are made with it.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from masim.analysis.arms import EMPTIED
from masim.analysis.stats import t_interval


def interval(estimate: dict, scale: float = 100.0, digits: int = 1) -> str:
    """Return ``66.8 [58.0, 75.5]``, or the value alone where there is no interval."""
    value, low, high = (estimate[key] for key in ("value", "low", "high"))
    if value is None:
        return "unknown"
    text = f"{scale * value:.{digits}f}"
    if low is None or high is None or math.isnan(low):
        return text
    return f"{text} [{scale * low:.{digits}f}, {scale * high:.{digits}f}]"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("run", type=Path)
    run = parser.parse_args().run
    head, found = (json.loads((run / name).read_text("utf-8")) for name in ("run.json", "metrics.json"))
    versions = ", ".join(f"{name} {version}" for name, version in head["versions"].items())
    print(f"* Started {head['started']}, finished {head['finished']}, status {head['status']}.")
    print(f"* Scenario {head['scenario']}, hash `{head['scenario_hash'][:12]}`, first training seed {head['seed']}.")
    print(f"* Versions: {versions}.\n")
    print("| agent | completion, % | safe completion, % | rests on |\n|---|---|---|---|")
    for arm in found["arms"]:
        top, safe = (arm["metrics"][name] for name in ("completion", "safe_completion"))
        rests = f"{arm['seeds']} seeds x " if arm["seeds"] > 1 else ""
        print(f"| {arm['arm']} | {interval(top)} | {interval(safe)} | {rests}{arm['episodes']} episodes |")
    print("\n| contrast | completion, points | safe completion, points |\n|---|---|---|")
    pairs: dict[tuple[str, str], dict[str, str]] = {}
    for item in found["comparisons"]:
        pairs.setdefault((item["a"], item["b"]), {})[item["metric"]] = interval(item["difference"])
    for (a, b), cells in pairs.items():
        print(f"| {a} minus {b} | {cells.get('completion', '')} | {cells.get('safe_completion', '')} |")
    print("\n| learner | all-failed share at the start, % | at the end, % | episodes per seed |\n|---|---|---|---|")
    for item in found["training"]:
        first, last = (100 * item[f"all_failed_{edge}"] for edge in ("first", "last"))
        print(f"| {item['arm']} | {first:.0f} | {last:.0f} | {item['episodes']:,} |")
    emptied(run)


def emptied(run: Path) -> None:
    """Print what emptied memories cost each trained agent, paired by campaign (the interval is over campaigns)."""
    frame = pd.read_parquet(run / "outcomes.parquet")
    rates = frame.groupby(["arm", "train_seed", "campaign_seed"])["completed"].mean()
    print("\n| trained agent | completion lost without its memory, points | campaigns |\n|---|---|---|")
    for arm, seed in dict.fromkeys((a, s) for a, s, _ in rates.index if (a + EMPTIED, s) in rates.index.droplevel(2)):
        lost = (rates[arm, seed] - rates[arm + EMPTIED, seed]).to_numpy()
        print(f"| {arm}, seed {seed} | {interval(asdict(t_interval(lost, unit='campaigns')))} | {len(lost)} |")


if __name__ == "__main__":
    main()
