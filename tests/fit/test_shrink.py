"""Shrinkage: a case by hand, the limits, and agreement with simulated vendors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from masim.scenario.fit.shrink import MIN_STRENGTH, fit_beta_prior


def test_by_hand() -> None:
    """Two vendors of ten: 2 and 8 late. ``p = .5``; spread ``10 * .09 * 2 / .25 = 7.2``; excess ``7.2 - 1 = 6.2``;

    room ``20 - 200 / 20 - 1 = 9``; ``kappa = 9 / 6.2 - 1 < 1``: the lower bound. With 4 and 6 late the spread is
    ``.8``, less than chance: the upper bound, 20 deliveries. With 3 and 7 it is ``3.2``: ``kappa = 9 / 2.2 - 1``.
    """
    assert fit_beta_prior([(2, 10), (8, 10)]).strength == MIN_STRENGTH
    assert fit_beta_prior([(4, 10), (6, 10)]).strength == 20.0
    prior = fit_beta_prior([(3, 10), (7, 10)])
    assert (prior.mean, prior.n, prior.vendors) == (0.5, 20, 2)
    assert prior.strength == pytest.approx(9 / 2.2 - 1)
    assert prior.shrink(3, 10) == pytest.approx((3 + 0.5 * 3.0909090909) / 13.0909090909)
    assert prior.shrink(0, 0) == 0.5


def test_moments_recover_a_known_prior() -> None:
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 80, size=4000)
    events = rng.binomial(sizes, rng.beta(0.2 * 12, 0.8 * 12, size=4000))
    prior = fit_beta_prior([(int(x), int(n)) for x, n in zip(events, sizes, strict=True)])
    assert prior.mean == pytest.approx(0.2, abs=0.01)
    assert prior.strength == pytest.approx(12, rel=0.1)


def test_nothing_to_fit() -> None:
    assert fit_beta_prior([]).mean == 0.0
    assert fit_beta_prior([(0, 0)]).shrink(0, 0) == 0.0
    assert fit_beta_prior([(0, 7), (0, 3)]).shrink(0, 5) == 0.0


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).map(lambda p: (min(p), max(p))), max_size=12))
def test_shrunk_lies_between_raw_and_mean(counts: list[tuple[int, int]]) -> None:
    prior = fit_beta_prior(counts)
    assert MIN_STRENGTH <= prior.strength <= max(MIN_STRENGTH, prior.n)
    for events, n in counts:
        if n:
            low, high = sorted((events / n, prior.mean))
            assert low - 1e-9 <= prior.shrink(events, n) <= high + 1e-9
