"""How many replications are enough, and the interval of each metric.

The rule of the interval follows from the case: Wilson's where a metric is a rate with one trial per replication, the
bootstrap over replications where one holds several agents or orders, a t interval of the ratio where there are few.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from masim.analysis import stats
from masim.analysis.metrics import METRICS, Metric
from masim.analysis.stats import Estimate
from masim.errors import ConfigError
from masim.stress.replications import BATCH, MAX_REPLICATIONS

UNIT = "replications"
FIRST_LOOK = 100
GROWTH = 1.25
"""Each look comes after so many times the replications of the one before, so that there are few of them."""
LEAST = 20
"""Below this many replications an interval says too little to be worth a run."""
DEFAULT = 1000
MAX_UNTIL = 10_000


@dataclass(frozen=True, slots=True)
class Stop:
    """When to stop: after ``n`` replications, or earlier, when ``metric`` is known to ``half_width``.

    A run that stops when its interval is narrow has seen its data before it decided to stop: its interval covers a
    little less often than it says. Estimates are fine with that, a gate is not.

    Raises ConfigError on impossible values.
    """

    n: int = DEFAULT
    half_width: float | None = None
    metric: str = "safe_completion"

    def __post_init__(self) -> None:
        if not LEAST <= self.n <= MAX_REPLICATIONS:
            raise ConfigError("impossible --n", "--n", str(self.n), f"{LEAST} to {MAX_REPLICATIONS}")
        if self.half_width is not None and not 0.0 < self.half_width < 0.5:
            raise ConfigError("impossible --half-width", "--half-width", f"{self.half_width:g}", "between 0 and 0.5")

    def looks(self) -> frozenset[int]:
        """Return after how many replications the width is looked at; none where the number is fixed."""
        if self.half_width is None:
            return frozenset()
        found, at = [], FIRST_LOOK
        while at < self.n:
            found.append(at)
            at = -(-int(at * GROWTH) // BATCH) * BATCH
        return frozenset(found)

    def enough(self, rows: pd.DataFrame, seed: int) -> bool:
        """Return whether the interval is narrow enough."""
        found = estimate(rows, METRICS[self.metric], seed)
        return self.half_width is not None and found.known and (found.high - found.low) / 2 <= self.half_width


def estimate(rows: pd.DataFrame, metric: Metric, seed: int = 0) -> Estimate:
    """Return one metric over replications; ``seed`` feeds the bootstrap only."""
    top, bottom = rows[metric.top].to_numpy(float), rows[metric.bottom].to_numpy(float)
    if metric.is_rate and np.all(bottom == 1.0):
        return stats.wilson(int(top.sum()), len(top), unit=UNIT)
    if metric.is_share:
        return stats.cluster_rate(top, bottom, seed, unit=UNIT)
    found = stats.cluster_ratio(top, bottom, seed, unit=UNIT)
    scale = metric.scale
    scaled = replace(found, value=found.value * scale, low=found.low * scale, high=found.high * scale)
    return scaled.clipped(0.0, np.inf)


def estimates(rows: pd.DataFrame, seed: int = 0) -> Mapping[str, Estimate]:
    """Return every metric over the replications that there are."""
    return {name: estimate(rows, metric, seed) for name, metric in METRICS.items()}
