"""Transient errors as a two-state Markov process in continuous time: good and bad spells of each vendor.

All endpoints of a vendor are in the same spell. A bad one lasts ``bad_mean`` on average and ``bad_share`` of the time
is bad; between two calls ``dt`` apart the state stays or changes as
``P(bad after dt | bad) = share + (1 - share) exp(-r dt)``, ``r = 1 / (bad_mean (1 - share))``. A call fails with
``good_p`` or ``bad_p``. The likelihood is the forward recursion of a hidden Markov chain, computed as a tree of 2x2
products so that it costs a few array operations. Where two states explain the errors no better than one (likelihood
ratio), or do not pin the numbers down, there is one ``p``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import stats
from scipy.optimize import Bounds, minimize
from scipy.special import expit, logit

from masim.arrays import F64
from masim.scenario.fit.apilog.curvature import curvature_errors
from masim.scenario.fit.apilog.estimates import Estimate, Z, share, transformed

MAX_BINS = 50_000
"""Calls of a long log are put together into at most this many bins of time."""
MIN_ERRORS = 12
"""With fewer errors nothing tells two states apart."""
TWO_STATES = float(stats.chi2.ppf(0.999, 3))
STARTS_S = (60.0, 600.0)
"""Mean lengths of bad spells from which the search starts."""
_LEAST, _MOST = [-9.0, 0.0], [3.0, 15.4]
"""Bounds of the logit of the bad share and of the logarithm of the mean length in seconds."""
MAX_WIDTH = 3.0
"""A half-interval beyond this on the logit or log scale is no information."""


@dataclass(frozen=True, slots=True)
class Bins:
    """Calls in order of time, vendor after vendor: time since the one before (inf: none), calls and errors by class."""

    dt_s: F64
    calls: F64
    errors: F64

    @property
    def n(self) -> int:
        """Number of calls."""
        return int(self.calls.sum())


@dataclass(frozen=True, slots=True)
class SpellFit:
    """Errors per call by class of endpoint (reads, writes). Without two states only ``good_p`` is known.

    ``why`` says why there is one state; empty: there are two.
    """

    good_p: tuple[Estimate, ...]
    bad_p: tuple[Estimate, ...]
    bad_share: Estimate | None
    bad_mean_s: Estimate | None
    why: str = ""


def make_bins(groups: Sequence[tuple[F64, F64, F64]], classes: int) -> tuple[Bins, float]:
    """Return bins of ``(t_s, class, error)`` per vendor, and their width in seconds (0: each call has its own)."""
    total = sum(len(t_s) for t_s, _, _ in groups)
    span = sum(float(t_s[-1] - t_s[0]) for t_s, _, _ in groups if len(t_s))
    width = span / MAX_BINS if total > MAX_BINS else 0.0
    parts = [_bin(*group, width, classes) for group in groups if len(group[0])]
    dt, calls, errors = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return Bins(dt, calls, errors), width


def _bin(t_s: F64, kind: F64, error: F64, width: float, classes: int) -> tuple[F64, F64, F64]:
    place = np.floor((t_s - t_s[0]) / width) if width else np.arange(len(t_s))
    _, index = np.unique(place, return_inverse=True)
    n = int(index[-1]) + 1
    middle = np.bincount(index, t_s, n) / np.bincount(index, minlength=n)
    calls = np.stack([np.bincount(index, (kind == c).astype(float), n) for c in range(classes)], axis=1)
    errors = np.stack([np.bincount(index, error * (kind == c), n) for c in range(classes)], axis=1)
    return np.concatenate([[np.inf], np.diff(middle)]), calls.astype(np.float64), errors.astype(np.float64)


def log_likelihood(bins: Bins, good: F64, bad: F64, bad_share: float, bad_mean_s: float) -> float:
    """Return the log-likelihood; ``good`` and ``bad`` hold one probability per class."""
    scores = np.stack([_emission(bins, good), _emission(bins, bad)])
    top = scores.max(axis=0)
    e_good, e_bad = np.exp(scores - top)
    keep = np.exp(-bins.dt_s / (bad_mean_s * (1.0 - bad_share)))
    to_bad, to_good = bad_share * (1.0 - keep), (1.0 - bad_share) * (1.0 - keep)
    # row: state before, column: state at the call; each weighted with what the call shows
    chain = np.array([[(1.0 - to_bad) * e_good, to_bad * e_bad], [to_good * e_good, (1.0 - to_good) * e_bad]])
    product, scale = _product(chain)
    start = np.array([1.0 - bad_share, bad_share])
    return float(np.log(max(float((start @ product).sum()), 1e-300)) + scale + top.sum())


def _emission(bins: Bins, p: F64) -> F64:
    p = np.clip(p, 1e-9, 1.0 - 1e-9)
    scored: F64 = bins.errors @ np.log(p) + (bins.calls - bins.errors) @ np.log1p(-p)
    return scored


def _product(chain: F64) -> tuple[F64, float]:
    """Return the product of the matrices ``chain[:, :, i]`` up to a factor, and the logarithm of that factor."""
    scale = 0.0
    while chain.shape[2] > 1:
        if chain.shape[2] % 2:
            chain = np.concatenate([chain, np.eye(2)[:, :, None]], axis=2)
        chain = np.einsum("ijn,jkn->ikn", chain[:, :, 0::2], chain[:, :, 1::2])
        size = np.maximum(chain.max(axis=(0, 1)), 1e-300)
        chain = chain / size
        scale += float(np.log(size).sum())
    return chain[:, :, 0], scale


def fit_spells(bins: Bins) -> SpellFit:
    """Fit two states, or one where the data tell no more; classes of endpoints apart where each has enough errors."""
    calls, errors = bins.calls.sum(axis=0), bins.errors.sum(axis=0)
    one = _one_state(errors, calls)
    if errors.sum() < MIN_ERRORS:
        return SpellFit(one, one, None, None, f"{errors.sum():g} errors are too few to tell good spells from bad ones")
    p = errors.sum() / calls.sum()
    single = float(errors.sum() * np.log(p) + (calls - errors).sum() * np.log1p(-p)) if p < 1.0 else 0.0
    common = _search(bins, [_start(p, mean, 1) for mean in STARTS_S])
    if 2.0 * (-common[1] - single) < TWO_STATES:
        return SpellFit(one, one, None, None, "two states explain the errors no better than one probability")
    theta = common[0]
    if bins.calls.shape[1] > 1 and errors.min() >= MIN_ERRORS:
        apart = _described(bins, _search(bins, [_split(theta, bins.calls.shape[1])])[0], one)
        if not apart.why:
            return apart
    return _described(bins, theta, one)


def _one_state(errors: F64, calls: F64) -> tuple[Estimate, ...]:
    return tuple(share(float(e), int(n)) for e, n in zip(errors, calls, strict=True))


def _start(p: float, mean_s: float, classes: int) -> F64:
    good, bad = min(0.3 * p, 0.2), min(max(10.0 * p, 0.3), 0.8)
    return np.array([*[logit(good)] * classes, *[logit(bad)] * classes, logit(0.05), np.log(mean_s)])


def _split(theta: F64, classes: int) -> F64:
    return np.array([*[theta[0]] * classes, *[theta[1]] * classes, *theta[2:]])


def _loss(bins: Bins, theta: F64) -> float:
    classes = (len(theta) - 2) // 2
    each = bins.calls.shape[1] // classes
    good, bad = np.repeat(expit(theta[:classes]), each), np.repeat(expit(theta[classes:-2]), each)
    return -log_likelihood(bins, good, bad, float(expit(theta[-2])), float(np.exp(theta[-1])))


def _search(bins: Bins, starts: Sequence[F64]) -> tuple[F64, float]:
    """Return the best parameters (logits and a logarithm) and their loss."""
    best: tuple[F64, float] | None = None
    for start in starts:
        bounds = Bounds(*(np.array([p] * (len(start) - 2) + rest) for p, rest in ((-14.0, _LEAST), (8.0, _MOST))))
        found = minimize(partial(_loss, bins), start, method="L-BFGS-B", bounds=bounds)
        if best is None or found.fun < best[1]:
            best = (np.asarray(found.x), float(found.fun))
    if best is None:
        raise ValueError("no start was given")
    return best


def _described(bins: Bins, theta: F64, one: tuple[Estimate, ...]) -> SpellFit:
    """Return the estimates with intervals from the curvature, or one state where that pins nothing down."""
    classes = (len(theta) - 2) // 2
    if theta[0] > theta[classes]:  # the names of the two states are exchanged
        swapped = np.log((1.0 - expit(theta[-2])) / expit(theta[-2]))
        theta = np.array([*theta[classes:-2], *theta[:classes], -theta[-2], theta[-1] + swapped])
    errors = curvature_errors(partial(_loss, bins), theta, 0.02)
    if errors is None or float(np.max(Z * errors[classes:])) > MAX_WIDTH:
        return SpellFit(one, one, None, None, "the log does not pin the lengths of bad spells down")
    ns = bins.calls.sum(axis=0).astype(int) if classes > 1 else [bins.n]
    half = Z * errors
    shares = [transformed(theta[i], half[i], int(ns[i % classes]), expit) for i in range(2 * classes)]
    repeat = bins.calls.shape[1] // classes
    good, bad = tuple(shares[:classes]) * repeat, tuple(shares[classes:]) * repeat
    bad_share = transformed(theta[-2], half[-2], bins.n, expit)
    mean = transformed(theta[-1], half[-1], bins.n, np.exp)
    return SpellFit(good, bad, bad_share, mean)
