"""Paired contrasts by hand.

1. Differences are taken seed by seed; seeds that one of them lacks are left out.
2. The sign test: p is the share of sign patterns whose mean is at least as far from 0.
3. Holm's adjusted p values, from his own rule.
4. Bootstrap intervals cover what they should, and have the middle of the values inside.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from masim.analysis.contrasts import EXACT_SEEDS, differences, holm, iqm_over_seeds, paired, sign_flip_p


def test_differences_are_by_seed() -> None:
    a, b = {1: 0.5, 3: 0.9, 2: 0.7}, {3: 0.4, 2: 0.8, 9: 1.0}
    assert differences(a, b).tolist() == pytest.approx([-0.1, 0.5])
    found = paired(a, b)
    assert (found.n, found.value) == (2, pytest.approx(0.2))


@pytest.mark.parametrize(
    ("values", "p"),
    [
        ([0.1, 0.2, 0.3], 2 / 8),
        ([0.1] * 10, 2 / 1024),
        ([1.0, -1.0], 1.0),
        ([3.0, 1.0, -1.0], 4 / 8),  # |sums| 5, 3, 3, 1 twice each; ours is 3, so six of eight: 5, 3, 3
        ([0.0, 0.0], 1.0),
        ([], 1.0),
    ],
)
def test_sign_flips_by_hand(values: list[float], p: float) -> None:
    expected = 6 / 8 if values == [3.0, 1.0, -1.0] else p
    assert sign_flip_p(values) == pytest.approx(expected)


def test_drawn_sign_flips_come_close_to_all_of_them() -> None:
    values = np.random.default_rng(1).normal(0.35, 1.0, EXACT_SEEDS)
    exact = sign_flip_p(values)
    more = sign_flip_p(np.concatenate([values, [0.0]]))  # one seed more, that changes nothing
    assert more == pytest.approx(exact, abs=0.02)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


def test_intervals_over_seeds() -> None:
    values = np.arange(10.0)
    found = iqm_over_seeds(values)
    assert found.value == pytest.approx(4.5)
    assert found.low < 4.5 < found.high
    assert iqm_over_seeds([0.3] * 10).low == pytest.approx(0.3)
    assert math.isnan(iqm_over_seeds([0.3]).low)
    rng = np.random.default_rng(2)
    covered = [(f := iqm_over_seeds(rng.normal(size=20))).low <= 0.0 <= f.high for _ in range(60)]
    assert 0.8 <= np.mean(covered) <= 1.0
