"""How much common random numbers buy: the variance of A - B between two agents, on other seeds and on the same ones.

Draws are keyed, so two agents that play the same instance meet the same orders, latencies, errors and late trucks
wherever they do the same. What they share cancels in their difference. A ratio of 3 means that a comparison on the
same seeds needs a third of the episodes for the same interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from masim.errors import ConfigError
from masim.policy.card import AgentCard
from masim.rng import Noise
from masim.rollout.evaluate import CampaignJob, play_campaign
from masim.rollout.executors import run_jobs
from masim.sim.spec import WorldSpec

METRICS = ("completed", "cost_cents", "calls", "decisions")
"""Each is an episode's mean over its orders."""
MIN_PAIRS = 20
RESAMPLES = 2_000
LEVEL = 0.95
F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PairedVariance:
    """One metric of two agents: Var(A - B) on independent seeds over Var(A - B) on the same seeds."""

    metric: str
    difference: float
    """Mean of A - B on the same seeds."""
    independent: float
    same: float
    ratio: float
    """``inf`` when A - B is the same in every pair, ``nan`` when it is so on independent seeds too."""
    low: float
    high: float
    """Bootstrap interval of the ratio over pairs."""
    pairs: int


def paired_variance(
    spec: WorldSpec, a: AgentCard, b: AgentCard, pairs: int = 400, seed: int = 1, workers: int = 1
) -> tuple[PairedVariance, ...]:
    """Play ``pairs`` first days with A, with B on the same seeds, and with B on others; compare every metric.

    Raises ConfigError for fewer than 20 pairs and what :func:`masim.rollout.executors.run_jobs` raises.
    """
    if pairs < MIN_PAIRS:
        raise ConfigError("too few pairs for a variance", "pairs", str(pairs), f"at least {MIN_PAIRS}")
    same, others = range(pairs), range(pairs, 2 * pairs)
    a_same = _play(spec, a, same, seed, workers)
    b_same = _play(spec, b, same, seed, workers)
    b_others = _play(spec, b, others, seed, workers)
    return tuple(
        _compare(metric, a_same[metric] - b_same[metric], a_same[metric] - b_others[metric], seed) for metric in METRICS
    )


def _play(spec: WorldSpec, card: AgentCard, numbers: Sequence[int], seed: int, workers: int) -> dict[str, F64]:
    """Return per metric one value per episode."""
    jobs = [CampaignJob(spec, card, card.name, 100_000 * seed + i, 1, i, policy_seed=seed) for i in numbers]
    outcomes = [rows.outcomes for rows in run_jobs(play_campaign, jobs, workers)]
    return {m: np.array([np.mean([float(row[m]) for row in orders]) for orders in outcomes]) for m in METRICS}


def _compare(metric: str, same_P: F64, independent_P: F64, seed: int) -> PairedVariance:
    """Set the two variances side by side. Axis P: pairs."""
    n = len(same_P)
    independent, same = float(independent_P.var(ddof=1)), float(same_P.var(ddof=1))
    ratio = low = high = math.inf if independent > 0.0 else math.nan
    if same > 0.0:
        rng = Noise(seed, "crn").generator("bootstrap", metric)
        same_R, independent_R = (_variances(x, rng.integers(0, n, (RESAMPLES, n))) for x in (same_P, independent_P))
        ratios = np.divide(independent_R, same_R, out=np.full(RESAMPLES, np.inf), where=same_R > 0.0)
        ratio = independent / same
        low, high = np.quantile(ratios, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2], method="nearest").tolist()
    return PairedVariance(metric, float(same_P.mean()), independent, same, ratio, low, high, n)


def _variances(values_P: F64, index_RP: npt.NDArray[np.int64]) -> F64:
    return np.asarray(values_P[index_RP].var(axis=1, ddof=1))
