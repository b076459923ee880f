"""Pins the statistics.

1. Wilson agrees with published values, also at 0 and n.
2. The cluster bootstrap covers, and is wider than Wilson when clusters are correlated.
3. Intervals over seeds: t, crossed, paired, IQM; equal values and single units give no interval.
4. Everything is deterministic.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from masim.analysis import stats


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (81, 263, 0.2553, 0.3662), (148, 148, 0.9747, 1.0)],
)
def test_wilson_matches_known_values(k: int, n: int, low: float, high: float) -> None:
    found = stats.wilson(k, n)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)


def test_wilson_of_nothing_is_unknown() -> None:
    assert not stats.wilson(0, 0).known


def test_cluster_bootstrap_covers() -> None:
    """40 episodes of 4 correlated agents: the 95% interval covers the truth about as often as it says."""
    rng, hits, runs = np.random.default_rng(5), 0, 200
    for seed in range(runs):
        p = rng.beta(2, 2, 40)
        found = stats.cluster_rate(rng.binomial(4, p).astype(float), np.full(40, 4.0), seed)
        hits += found.low <= 0.5 <= found.high
    assert 0.89 <= hits / runs <= 0.985


def test_few_clusters_get_a_t_interval_that_covers() -> None:
    rng, hits, runs = np.random.default_rng(6), 0, 400
    for _ in range(runs):
        found = stats.cluster_rate(rng.binomial(24, rng.beta(4, 4, 4)).astype(float), np.full(4, 24.0))
        hits += found.low <= 0.5 <= found.high
    assert found.method == "t over episodes"
    assert 0.9 <= hits / runs <= 0.99


def test_correlated_clusters_are_wider_than_independent_trials() -> None:
    won = np.array([4.0, 0.0] * 20)
    cluster, independent = stats.cluster_rate(won, np.full(40, 4.0)), stats.wilson(80, 160)
    assert cluster.high - cluster.low > 1.7 * (independent.high - independent.low)


def test_a_rate_of_zero_keeps_a_width() -> None:
    found = stats.cluster_rate(np.zeros(40), np.full(40, 4.0))
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(stats.wilson(0, 40).high)


@pytest.mark.parametrize("top", [np.zeros(12), np.ones(1)])
def test_no_interval_where_nothing_can_vary(top: stats.F64) -> None:
    assert not stats.cluster_ratio(top, np.ones(len(top))).known


def test_bootstrap_in_chunks_is_the_same_twice() -> None:
    rng = np.random.default_rng(0)
    top, bottom = rng.random(3000), np.ones(3000)
    first, second = (stats.cluster_ratio(top, bottom, seed=3) for _ in range(2))
    assert first == second
    assert first.low < top.mean() < first.high


def test_t_interval_matches_the_textbook() -> None:
    found = stats.t_interval([0.1, 0.2, 0.3])
    assert found.value == pytest.approx(0.2)
    assert found.high - found.value == pytest.approx(4.30265 * 0.1 / math.sqrt(3), abs=1e-5)


@pytest.mark.parametrize("values", [[], [0.4], [0.4, 0.4, 0.4]])
def test_t_interval_without_spread_is_unknown(values: list[float]) -> None:
    found = stats.t_interval(values)
    assert not found.known
    assert found.includes_zero


def test_crossed_interval_counts_seeds_and_episodes() -> None:
    """With equal seeds the episodes still vary; with equal episodes the seeds do."""
    rng = np.random.default_rng(1)
    episodes = np.tile(rng.random(30), (3, 1))
    seeds = np.repeat(rng.random((3, 1)), 30, axis=1)
    assert stats.crossed_interval(episodes).known
    assert stats.crossed_interval(seeds).high == pytest.approx(stats.t_interval(seeds[:, 0]).high)
    assert not stats.crossed_interval(np.ones((3, 30))).known


def test_crossed_interval_covers() -> None:
    rng, hits, runs = np.random.default_rng(8), 0, 400
    for _ in range(runs):
        values = rng.normal(size=(3, 1)) + 2 * rng.normal(size=(1, 25)) + rng.normal(size=(3, 25))
        found = stats.crossed_interval(values)
        hits += found.low <= 0.0 <= found.high
    assert hits / runs >= 0.93


def test_paired_difference_uses_shared_seeds_only() -> None:
    found = stats.paired_difference({0: 0.5, 1: 0.7, 2: 0.6, 9: 0.0}, {0: 0.2, 1: 0.3, 2: 0.2, 4: 1.0})
    assert found.n == 3
    assert found.value == pytest.approx(1.1 / 3)
    assert not found.includes_zero


def test_newcombe_has_a_width_where_nothing_varied() -> None:
    found = stats.newcombe(stats.wilson(40, 40), stats.wilson(0, 40))
    assert found.value == 1.0
    assert 0.8 < found.low < 1.0


def test_iqm_ignores_the_outer_quarters() -> None:
    assert stats.iqm([-100.0, 1.0, 2.0, 100.0]) == pytest.approx(1.5)
    assert stats.iqm([1.0, 2.0, 6.0]) == pytest.approx(3.0)


def test_seed_bootstrap_is_seeded() -> None:
    values = np.random.default_rng(4).random(12)
    assert stats.seed_bootstrap(values, resamples=300) == stats.seed_bootstrap(values, resamples=300)
    found = stats.seed_bootstrap(values, resamples=300)
    assert found.low < stats.iqm(values) < found.high


def test_the_interval_of_a_rate_stays_a_rate() -> None:
    few = stats.cluster_rate(np.array([0.0, 0.0, 1.0]), np.array([10.0, 10.0, 10.0]))
    many = stats.cluster_rate(np.array([10.0, 10.0, 9.0]), np.array([10.0, 10.0, 10.0]))
    assert few.low == 0.0 and few.high > few.value
    assert many.high == 1.0 and many.low < many.value
