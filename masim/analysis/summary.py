"""``metrics.json``: everything a run's tables say, with intervals, and which arm differs from which.

Schema 1: ``arms`` [{arm, episodes, campaigns, seeds, samples, orders, metrics {name: estimate}, failures {reason:
orders}, worst {name: share}}], ``comparisons`` [{a, b, metric, difference: estimate}], ``latency`` [{arm, verb,
vendor, n, p50_s, p95_s, p99_s}] (an empty vendor is all of them), ``faults`` [{arm, fault, causes, hits}],
``recovery`` [{arm, outages, recovered, median_s, worst_s}], ``repeats`` [{arm, calls, repeated, share, per_order,
longest}], ``training`` [{arm, seeds, updates, episodes, all_failed_first, all_failed_last, wall_s}].
An estimate is {value, low, high, n, unit, method}; null stands for "cannot be known from this run".
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from masim.analysis import metrics, stats
from masim.analysis.arms import EMPTIED
from masim.analysis.load import RunData, load_run
from masim.analysis.metrics import ArmSummary
from masim.analysis.recovery import recovery_table
from masim.analysis.repeats import repeats_table
from masim.analysis.stats import Estimate

ALARM = "_alarm"
"""Ends the names of the training log's alarms (:mod:`masim.learn.monitors`)."""
SCHEMA = 1
ARM_ORDER = ("null", "random", "naive", "scripted", "workflow", "untrained")
"""Fixed order of well-known arms, weakest idea first; learners and others follow."""
COMPARED = ("completion", "safe_completion")
_EDGE_UPDATES = 5
"""First and last updates that "at the start" and "at the end" of training average over."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """``a - b`` of one metric."""

    a: str
    b: str
    metric: str
    difference: Estimate


@dataclass(frozen=True, slots=True)
class Training:
    """What training looked like for one arm, averaged over its seeds. Shares lie in [0, 1]; nan is unknown."""

    arm: str
    seeds: int
    updates: int
    episodes: int
    all_failed_first: float
    all_failed_last: float
    wall_s: float
    alarms: Mapping[str, float]
    """Alarm -> share of updates in which it rang; only those that did."""


@dataclass(frozen=True, slots=True)
class Summary:
    """All that is derived from one run."""

    arms: Sequence[ArmSummary]
    comparisons: Sequence[Comparison]
    training: Sequence[Training]
    latency: pd.DataFrame
    faults: pd.DataFrame
    recovery: pd.DataFrame
    repeats: pd.DataFrame

    def arm(self, name: str) -> ArmSummary | None:
        """Return the arm of that name, or None."""
        return next((arm for arm in self.arms if arm.arm == name), None)

    @property
    def learners(self) -> list[str]:
        """Arms that were trained in this run."""
        return [training.arm for training in self.training]


def summarise(run_dir: Path | str) -> dict[str, Any]:
    """Write ``metrics.json`` of a run folder (whole or not at all) and return its content.

    Raises RunError as :func:`masim.analysis.load.load_run` does.
    """
    run = load_run(run_dir)
    content = as_json(summary_of(run))
    file = run.path / "metrics.json"
    scratch = file.with_suffix(".json.part")
    scratch.write_text(json.dumps(content, indent=2, sort_keys=True, allow_nan=False) + "\n", encoding="utf-8")
    os.replace(scratch, file)
    return content


def summary_of(run: RunData) -> Summary:
    """Return everything that the tables of a loaded run say. Deterministic: the bootstrap takes the run's seed."""
    arms = sorted(metrics.arm_summaries(run.outcomes, run.meta.seed), key=lambda arm: arm_rank(arm.arm))
    training = [_training(str(arm), rows) for arm, rows in run.train.groupby("arm", sort=False)]
    training.sort(key=lambda item: arm_rank(item.arm))
    learners = [item.arm for item in training]
    samples = metrics.sample_table(run.outcomes)
    return Summary(
        arms=arms,
        comparisons=[
            Comparison(a, b, name, difference(samples, a, b, metrics.METRICS[name].top, run.meta.seed))
            for a, b in _pairs([arm.arm for arm in arms], learners)
            for name in COMPARED
        ],
        training=training,
        latency=metrics.latency_table(run.trace),
        faults=metrics.fault_table(run.trace),
        recovery=recovery_table(run.trace),
        repeats=repeats_table(run.trace),
    )


def arm_rank(arm: str) -> tuple[int, str]:
    """Sort key: well-known arms first, in their fixed order, then the others by name."""
    return (ARM_ORDER.index(arm) if arm in ARM_ORDER else len(ARM_ORDER), arm)


def _pairs(arms: Sequence[str], learners: Sequence[str]) -> list[tuple[str, str]]:
    """Name the contrasts beforehand, by role and never by result.

    Learners against the untrained policy, against one another, against themselves with emptied memories, and against
    the hand-written agents; without learners each arm against the first one.
    """
    trained = [arm for arm in learners if arm in arms]
    if not trained:
        return [(arm, arms[0]) for arm in arms[1:]]
    heads = [(b, a) for i, a in enumerate(trained) for b in trained[i + 1 :]]
    given = [arm for arm in ("untrained", "scripted", "workflow", "random") if arm in arms]
    against = [(arm, other) for other in given for arm in trained]
    from_zero = [pair for pair in against if pair[1] == "untrained"]
    emptied = [(arm, arm + EMPTIED) for arm in trained if arm + EMPTIED in arms]
    return from_zero + heads + emptied + [pair for pair in against if pair[1] != "untrained"]


def difference(samples: pd.DataFrame, a: str, b: str, column: str, seed: int = 0) -> Estimate:
    """Return the difference of two arms' rates, paired as far as the run allows.

    Same training seeds and same episodes on both sides (or one side without seeds): crossed over seeds and episodes.
    One row on either side: paired by episode. No shared episodes: paired by seed, or unknown. Where no difference
    varies, Newcombe's interval from Wilson's.
    """
    left, right = (samples[samples["arm"] == arm] for arm in (a, b))
    grids = metrics.rate_grid(left, column), metrics.rate_grid(right, column)
    paired = _paired_grid(*grids)
    if paired is None:
        return stats.paired_difference(_seed_means(left, column), _seed_means(right, column))
    if np.ptp(paired.to_numpy(float)) == 0.0:
        rates = (float(side[column].mean()) for side in (left, right))
        return stats.newcombe(*(stats.wilson(round(rate * paired.shape[1]), paired.shape[1]) for rate in rates))
    return _of_grid(paired, seed)


def _seed_means(samples: pd.DataFrame, column: str) -> dict[int, float]:
    """Return one value per training seed."""
    means = samples.groupby("train_seed")[column].mean()
    return {int(seed): float(value) for seed, value in zip(means.index, means, strict=True)}


def _paired_grid(left: pd.DataFrame | None, right: pd.DataFrame | None) -> pd.DataFrame | None:
    """Return left - right per (seed, cluster); a side with one row stands against every seed of the other."""
    if left is None or right is None:
        return None
    shared = left.columns.intersection(right.columns)
    if len(shared) < 2:
        return None
    left, right = left[shared], right[shared]
    if len(right) == 1:
        return left - right.to_numpy()
    if len(left) == 1:
        return right.rsub(left.to_numpy()[0], axis="columns")
    seeds = left.index.intersection(right.index)
    return left.loc[seeds] - right.loc[seeds] if len(seeds) > 1 else None


def _of_grid(grid: pd.DataFrame, seed: int) -> Estimate:
    """Return the mean of a grid of differences with its interval, kept inside [-1, 1]."""
    values = grid.to_numpy(float)
    if len(grid) > 1:
        return stats.crossed_interval(values).clipped(-1.0, 1.0)
    unit = "episodes" if grid.columns.nlevels > 1 else "campaigns"
    found = stats.cluster_ratio(values[0], values[0] * 0 + 1, seed, unit=unit)
    return Estimate(found.value, found.low, found.high, found.n, unit, f"paired bootstrap over {unit}")


def _training(arm: str, rows: pd.DataFrame) -> Training:
    """Summarise the updates of one arm. ``wall_s`` is summed over updates and averaged over seeds."""
    updates = rows.groupby("update")["all_failed"].mean().sort_index()
    spent = ["wall_s"] if "wall_s" in rows else [name for name in rows.columns if name.endswith("_wall_s")]
    wall = rows.groupby("train_seed")[spent].sum().sum(axis=1).mean() if spent else math.nan
    return Training(
        arm=arm,
        seeds=int(rows["train_seed"].nunique()),
        updates=len(updates),
        episodes=int(rows["episodes"].max()),
        all_failed_first=float(updates.head(_EDGE_UPDATES).mean()),
        all_failed_last=float(updates.tail(_EDGE_UPDATES).mean()),
        wall_s=float(wall),
        alarms=_alarms(rows),
    )


def _alarms(rows: pd.DataFrame) -> dict[str, float]:
    shares = {name: float(rows[name].mean()) for name in rows.columns if name.endswith(ALARM)}
    return {name.removesuffix(ALARM): share for name, share in shares.items() if share > 0.0}


def as_json(summary: Summary) -> dict[str, Any]:
    """Return the content of ``metrics.json``: plain values, null for nan."""
    content = {
        "schema": SCHEMA,
        "arms": [asdict(arm) for arm in summary.arms],
        "comparisons": [asdict(comparison) for comparison in summary.comparisons],
        "training": [asdict(training) for training in summary.training],
        "latency": summary.latency.to_dict("records"),
        "faults": summary.faults.to_dict("records"),
        "recovery": summary.recovery.to_dict("records"),
        "repeats": summary.repeats.to_dict("records"),
    }
    return {key: _plain(value) for key, value in content.items()}


def _plain(value: Any) -> Any:
    """Replace what JSON does not know: nan and infinity by null, numpy scalars by Python's."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
