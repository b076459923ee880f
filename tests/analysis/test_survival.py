"""Kaplan and Meier by hand, and by scipy.

1. Four runs of which one is cut off: steps worked out by hand.
2. Any mixture: the same curve as scipy's.
3. Medians: of complete times the usual one (the lower); infinite when half of the runs never got there.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from masim.analysis.survival import curve, median_interval, median_time, rank_of


def test_steps_by_hand() -> None:
    times, left = curve([10.0, 20.0, 20.0, 30.0], [True, False, True, True])
    assert times.tolist() == [10.0, 20.0, 30.0]
    assert left.tolist() == pytest.approx([3 / 4, 3 / 4 * 2 / 3, 0.0])


def test_the_curve_is_scipys() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 40):
        times, happened = rng.integers(1, 9, n).astype(float), rng.random(n) < 0.6
        data = scipy_stats.CensoredData(uncensored=times[happened], right=times[~happened])
        known = scipy_stats.ecdf(data).sf
        found, left = curve(times, happened)
        assert found.tolist() == known.quantiles.tolist()
        assert left.tolist() == pytest.approx(known.probabilities.tolist())
    assert [len(part) for part in curve([], [])] == [0, 0]


@pytest.mark.parametrize(
    ("times", "happened", "median"),
    [
        ([3.0, 1.0, 2.0], [True] * 3, 2.0),
        ([1.0, 2.0, 3.0, 4.0], [True] * 4, 2.0),
        ([5.0, 9.0, 9.0], [True, False, False], math.inf),
        ([5.0, 9.0, 9.0], [True, True, False], 9.0),
        ([4.0, 5.0, 9.0], [False, True, True], 5.0),
        ([7.0], [False], math.inf),
    ],
)
def test_medians(times: list[float], happened: list[bool], median: float) -> None:
    assert median_time(times, happened) == median


def test_intervals_may_end_at_never() -> None:
    found = median_interval([5.0, 6.0, 7.0, 50.0, 50.0], [True, True, True, False, False])
    assert (found.value, found.low, found.high) == (7.0, 5.0, math.inf)
    equal = median_interval([20.0] * 10, [True] * 10)
    assert (equal.value, equal.low, equal.high) == (20.0, 20.0, 20.0)
    assert not median_interval([20.0], [True]).known


@pytest.mark.parametrize(("q", "n", "index"), [(0.5, 4, 1), (0.025, 2000, 49), (0.975, 2000, 1949), (1.0, 7, 6)])
def test_a_quantile_is_one_of_the_values(q: float, n: int, index: int) -> None:
    assert rank_of(q, n) == index
