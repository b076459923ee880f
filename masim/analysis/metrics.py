"""Numbers per arm from the outcome and trace tables of a run.

A *sample* is (episode, agent): it is complete when all its orders are. What is replicated is the episode, or the
campaign where a run plays several days of one (they share hidden facts and memories), or the training seed where an
arm has several. Money is US dollars here, because people read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from masim.analysis import stats
from masim.analysis.stats import Estimate

EPISODE = ["arm", "train_seed", "episode"]
INSTANCE = ["campaign_seed", "day"]
LATENCY_QUANTILES = {"p50_s": (0.5, 2), "p95_s": (0.95, 20), "p99_s": (0.99, 100)}
"""Quantile and the fewest answers for which it is worth stating."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A ratio of two summed sample columns, times ``scale``."""

    label: str
    unit: str
    top: str
    bottom: str
    scale: float
    better: str
    """``higher``, ``lower`` or empty."""
    meaning: str

    @property
    def is_share(self) -> bool:
        """Whether it lies in [0, 1]."""
        return self.unit.startswith("share")

    @property
    def is_rate(self) -> bool:
        """Whether it is a share of samples, and so lies in [0, 1] with one trial per sample."""
        return self.bottom == "samples"


METRICS: Mapping[str, Metric] = {
    "completion": Metric(
        "completion", "share", "completed", "samples", 1, "higher", "samples (episode, agent) with all orders completed"
    ),
    "safe_completion": Metric(
        "safe completion", "share", "safe", "samples", 1, "higher",
        "completed within budget, without a duplicate booking or an unsupported claim",
    ),
    "otif": Metric(
        "on time, in full", "share of orders", "completed_orders", "orders", 1, "higher",
        "orders with every leg delivered within its window",
    ),
    "legs_delivered": Metric(
        "legs delivered", "share of legs", "legs_delivered", "legs", 1, "higher", "legs delivered of all legs ordered"
    ),
    "cost_per_completed_order": Metric(
        "cost per completed order", "USD", "cost_cents", "completed_orders", 0.01, "lower",
        "all money spent, failures included, divided by completed orders",
    ),
    "duplicates_per_1000_orders": Metric(
        "duplicates", "per 1,000 orders", "duplicates", "orders", 1000, "lower", "bookings made twice for one purpose"
    ),
    "orphans_per_1000_orders": Metric(
        "orphans", "per 1,000 orders", "orphans", "orders", 1000, "lower", "bookings left behind that nobody uses"
    ),
    "unsupported_claims_per_1000_orders": Metric(
        "unsupported claims", "per 1,000 orders", "unsupported_claims", "orders", 1000, "lower",
        "orders declared done that the world says are not",
    ),
    "decisions_per_order": Metric(
        "decisions", "per order", "decisions", "orders", 1, "", "decisions taken, waiting included"
    ),
    "calls_per_order": Metric("calls", "per order", "calls", "orders", 1, "", "API calls sent"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """All numbers of one arm (an agent, or a learner over its training seeds)."""

    arm: str
    episodes: int
    """Different instances played."""
    campaigns: int
    """Different campaigns among them."""
    seeds: int
    """Training seeds, 0 where nothing was trained."""
    samples: int
    orders: int
    metrics: Mapping[str, Estimate]
    failures: Mapping[str, int]
    """Orders by why they were not completed."""
    worst: Mapping[str, float]
    """Lowest share over the replications (episodes, or campaigns of several days), of every metric that is a rate."""

    @property
    def replications(self) -> tuple[int, str]:
        """How many different replications ``worst`` is the worst of, and what one is called."""
        return (self.campaigns, "campaign") if self.episodes > self.campaigns else (self.episodes, "episode")


def sample_table(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Return one row per sample (arm, train_seed, episode, agent) with its sums and ``completed``/``safe`` as 0/1."""
    rows = outcomes.assign(completed_orders=outcomes["completed"].astype("int64"), orders=1)
    grouped = rows.groupby([*EPISODE, "agent"], sort=True, observed=True)
    sums = ["completed_orders", "orders", "cost_cents", "duplicates", "orphans", "unsupported_claims"]
    table = grouped[[*sums, "legs_delivered", "legs"]].sum()
    table[["completed", "safe"]] = grouped[["completed", "safe"]].all().astype("int64")
    table[["decisions", "calls"]] = grouped[["decisions", "calls"]].max()
    table[INSTANCE] = grouped[INSTANCE].first()
    return table.assign(samples=1).reset_index()


def arm_summaries(outcomes: pd.DataFrame, seed: int = 0) -> list[ArmSummary]:
    """Return the summary of every arm, in order of first appearance. ``seed`` feeds the bootstrap only."""
    if outcomes.empty:
        return []
    samples = sample_table(outcomes)
    return [_arm_summary(arm, outcomes, samples, seed) for arm in outcomes["arm"].drop_duplicates()]


def _arm_summary(arm: str, outcomes: pd.DataFrame, samples: pd.DataFrame, seed: int) -> ArmSummary:
    orders, own = outcomes[outcomes["arm"] == arm], samples[samples["arm"] == arm]
    failures = orders.loc[~orders["completed"], "failure"].replace("", "unknown").value_counts()
    return ArmSummary(
        arm=arm,
        episodes=len(own[INSTANCE].drop_duplicates()),
        campaigns=own["campaign_seed"].nunique(),
        seeds=int(own.loc[own["train_seed"] >= 0, "train_seed"].nunique()),
        samples=len(own),
        orders=len(orders),
        metrics={name: estimate(own, metric, seed) for name, metric in METRICS.items()},
        failures={str(reason): int(count) for reason, count in failures.items()},
        worst={name: _worst(own, metric) for name, metric in METRICS.items() if metric.is_rate},
    )


def estimate(samples: pd.DataFrame, metric: Metric, seed: int = 0) -> Estimate:
    """Return one metric of one arm's samples: over training seeds when there are several, else over episodes."""
    if samples["train_seed"].nunique() > 1:
        found = _over_seeds(samples, metric)
    else:
        found = _over_clusters(samples, metric, seed)
    scaled = Estimate(
        found.value * metric.scale, found.low * metric.scale, found.high * metric.scale, found.n, found.unit,
        found.method,
    )  # fmt: skip
    return scaled.clipped(0.0, 1.0 if metric.is_share else np.inf)


def _worst(samples: pd.DataFrame, metric: Metric) -> float:
    columns, _ = cluster_unit(samples)
    sums = samples.groupby(columns, sort=True)[[metric.top, metric.bottom]].sum()
    return float((sums[metric.top] / sums[metric.bottom]).min())


def cluster_unit(samples: pd.DataFrame) -> tuple[list[str], str]:
    """Return the columns that name a cluster of one arm, and what a cluster is called."""
    days = samples.groupby("campaign_seed")["day"].nunique()
    return (["campaign_seed"], "campaigns") if (days > 1).any() else (INSTANCE, "episodes")


def _over_clusters(samples: pd.DataFrame, metric: Metric, seed: int) -> Estimate:
    columns, unit = cluster_unit(samples)
    sums = samples.groupby(columns, sort=True)[list(dict.fromkeys([metric.top, metric.bottom]))].sum()
    top, bottom = sums[metric.top].to_numpy(float), sums[metric.bottom].to_numpy(float)
    if metric.is_share:
        return stats.cluster_rate(top, bottom, seed, unit=unit)
    return stats.cluster_ratio(top, bottom, seed, unit=unit)


def _over_seeds(samples: pd.DataFrame, metric: Metric) -> Estimate:
    """Seeds as the unit; episodes count too when all seeds met the same ones and the metric is a rate."""
    grid = rate_grid(samples, metric.top) if metric.is_rate else None
    if grid is not None and grid.shape[1] > 1:
        flat = float(grid.to_numpy().mean())
        if flat in (0.0, 1.0):
            return stats.wilson(grid.shape[1] if flat else 0, grid.shape[1])
        return stats.crossed_interval(grid.to_numpy(float))
    sums = samples.groupby("train_seed")[[metric.top, metric.bottom]].sum()
    sums = sums[sums[metric.bottom] > 0]
    return stats.t_interval((sums[metric.top] / sums[metric.bottom]).to_numpy(float))


def rate_grid(samples: pd.DataFrame, column: str) -> pd.DataFrame | None:
    """Return the share per (train_seed, cluster), seeds down, or None unless all seeds met the same clusters."""
    columns, _ = cluster_unit(samples)
    grid = samples.pivot_table(index="train_seed", columns=columns, values=column, aggfunc="mean")
    return None if grid.isna().to_numpy().any() else grid


def latency_table(trace: pd.DataFrame) -> pd.DataFrame:
    """Return ``arm, verb, vendor, n, p50_s, p95_s, p99_s`` from the answers. A quantile of too few answers is nan.

    A row with an empty ``vendor`` is the verb over all vendors; below it stands one row per vendor.
    """
    answers = trace[(trace["event"] == "answer") & trace["latency_s"].notna()]
    rows = []
    for (arm, verb), group in answers.groupby(["arm", "verb"], sort=True, observed=True):
        rows.append({"arm": arm, "verb": verb, "vendor": "", **_latency(group)})
        named = group[group["vendor"] != ""]
        for vendor, own in named.groupby("vendor", sort=True, observed=True):
            rows.append({"arm": arm, "verb": verb, "vendor": vendor, **_latency(own)})
    return pd.DataFrame(rows, columns=["arm", "verb", "vendor", "n", *LATENCY_QUANTILES])


def _latency(answers: pd.DataFrame) -> dict[str, float]:
    latency = answers["latency_s"].to_numpy(float)
    quantiles = {
        name: float(np.quantile(latency, q)) if len(latency) >= fewest else np.nan
        for name, (q, fewest) in LATENCY_QUANTILES.items()
    }
    return {"n": len(latency), **quantiles}


def fault_class(cause_id: str) -> str:
    """Return the class of a cause id: what stands before the first colon."""
    return cause_id.partition(":")[0] or "unlabelled"


def fault_table(trace: pd.DataFrame) -> pd.DataFrame:
    """Return ``arm, fault, causes, hits``: different causes injected, and how often one of them struck."""
    faults = trace[trace["event"] == "fault"]
    if faults.empty:
        return pd.DataFrame(columns=["arm", "fault", "causes", "hits"])
    faults = faults.assign(fault=faults["cause_id"].map(fault_class))
    hits = faults.groupby(["arm", "fault"], sort=True).size().rename("hits")
    causes = faults.drop_duplicates([*EPISODE, "cause_id"]).groupby(["arm", "fault"], sort=True).size()
    return pd.concat([causes.rename("causes"), hits], axis=1).reset_index()
