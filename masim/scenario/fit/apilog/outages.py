"""Outages in a log: runs of server errors over all endpoints of a vendor, and what they say about gaps and lengths.

A run is an outage when so many errors in a row hardly come from bad spells. Its true ends lie between the last answer
before it and its first error, and between its last error and the next answer, so its length is known within bounds:
the log-normal of the lengths is fitted to these (interval-censored likelihood).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, log

import numpy as np
from scipy import stats
from scipy.optimize import minimize
from scipy.special import ndtr

from masim.arrays import F64, Bool
from masim.scenario.fit.apilog.calls import Calls
from masim.scenario.fit.apilog.cells import TIMEOUT
from masim.scenario.fit.apilog.curvature import curvature_errors
from masim.scenario.fit.apilog.estimates import Estimate, Z, transformed

MIN_RUN = 6
"""Errors in a row that make an outage, at least."""
CHANCE = 0.05
"""Probability that bad spells alone make one run of the demanded length anywhere in the log."""
MIN_LENGTHS = 5
"""With fewer outages the spread of their lengths is taken from public uptime histories."""
KNOWN_SIGMA = 1.02
MIN_PAUSE_S = 900.0
PAUSE_FACTOR = 20.0
"""A pause without calls counts as watched time up to 15 min or 20 times the median pause, whichever is more."""
TOO_THIN_P = 0.97
"""Above this probability of an error in bad spells no run is long enough to be an outage."""


@dataclass(frozen=True, slots=True)
class Outage:
    """One run of errors of a vendor: bounds of its length in seconds, and its calls."""

    vendor: str
    start_s: float
    shortest_s: float
    longest_s: float
    calls: int


@dataclass(frozen=True, slots=True)
class OutageFit:
    """Outages of all vendors together; ``gap_s`` and ``length_s`` are ``None`` where the log shows none.

    ``watched_s`` is the time that vendors were watched, ``run`` the number of errors in a row that was
    demanded, and ``shortest_seen_s`` how long an outage must be to hold so many calls.
    """

    outages: tuple[Outage, ...]
    watched_s: float
    run: int
    shortest_seen_s: float
    gap_s: Estimate | None
    length_s: Estimate | None
    sigma: Estimate | None


def demanded_run(bad_p: float, errors: int) -> int:
    """Return how many errors in a row bad spells with this probability hardly make, starting at any of the errors."""
    p = min(max(bad_p, 1e-6), TOO_THIN_P)
    return max(MIN_RUN, ceil(log(CHANCE / max(errors, 1)) / log(p)))


@dataclass(frozen=True, slots=True)
class Watch:
    """How closely the vendors were watched: seconds of all together, and the median pause between calls."""

    watched_s: float
    pause_s: float


def find_outages(calls: Calls, run: int) -> tuple[tuple[Outage, ...], Bool, Watch]:
    """Return the outages, which calls lie in one, and how closely the vendors were watched."""
    inside = np.zeros(len(calls.t_s), bool)
    found: list[Outage] = []
    watched, pauses = 0.0, [0.0]
    for vendor in calls.vendors:
        rows = np.flatnonzero(calls.of(vendor=vendor) & (calls.code != TIMEOUT) & (calls.code != 429))
        t_s, error = calls.t_s[rows], calls.code[rows] >= 500
        if len(t_s) > 1:
            watched += _watched_s(t_s)
            pauses.append(float(np.median(np.diff(t_s))))
        for first, last in _runs(error, run):
            inside[rows[first : last + 1]] = True
            found.append(_outage(vendor, t_s, first, last))
    return tuple(found), inside, Watch(watched, float(np.median(pauses[1:] or pauses)))


def _runs(error: Bool, run: int) -> list[tuple[int, int]]:
    """Return first and last index of each run of at least ``run`` errors."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], error.astype(np.int8), [0]])))
    return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2) if b - a >= run]


def _outage(vendor: str, t_s: F64, first: int, last: int) -> Outage:
    before = t_s[first] if first == 0 else t_s[first - 1]
    after = t_s[last] if last + 1 == len(t_s) else t_s[last + 1]
    shortest = max(float(t_s[last] - t_s[first]), 1e-3)
    return Outage(vendor, float(t_s[first]), shortest, max(float(after - before), shortest * 1.001), last - first + 1)


def _watched_s(t_s: F64) -> float:
    """Return the time in which a vendor was watched: a long pause without calls counts in part only."""
    pauses = np.diff(t_s)
    return float(np.minimum(pauses, max(MIN_PAUSE_S, PAUSE_FACTOR * float(np.median(pauses)))).sum())


def fit_outages(outages: tuple[Outage, ...], watch: Watch, run: int) -> OutageFit:
    """Fit gaps (exponential) and lengths (log-normal); those that were too short to be seen are allowed for."""
    n, shortest_s = len(outages), (run - 1) * watch.pause_s
    if not n:
        return OutageFit((), watch.watched_s, run, shortest_s, None, None, None)
    length, sigma = _lengths(outages, shortest_s)
    seen = 1.0 if sigma is None else _seen(log(length.value), sigma.value, shortest_s)
    up_s = seen * max(watch.watched_s - sum(o.shortest_s for o in outages), 1.0)
    bounds = [2.0 * up_s / stats.chi2.ppf(p, 2 * n + extra) for p, extra in ((0.975, 2), (0.025, 0))]
    gap = Estimate(up_s / n, float(bounds[0]), float(bounds[1]), n)
    return OutageFit(outages, watch.watched_s, run, shortest_s, gap, length, sigma)


def _seen(mu: float, sigma: float, shortest_s: float) -> float:
    """Return the share of outages that are long enough to be seen."""
    return max(0.05, float(ndtr((mu - log(max(shortest_s, 1e-3))) / sigma)))


def _lengths(outages: tuple[Outage, ...], shortest_s: float) -> tuple[Estimate, Estimate | None]:
    """Return median (seconds) and sigma of the lengths; sigma is ``None`` with fewer than :data:`MIN_LENGTHS`.

    The likelihood is that of lengths within bounds, given that each was long enough to be seen.
    """
    n = len(outages)
    low, high = (np.log([getattr(o, key) for o in outages]) for key in ("shortest_s", "longest_s"))
    middle = 0.5 * (low + high)
    if n < MIN_LENGTHS:
        return transformed(float(middle.mean()), Z * KNOWN_SIGMA / n**0.5, n, exp), None

    def loss(theta: F64) -> float:
        mu, sigma = float(theta[0]), float(np.exp(theta[1]))
        within = np.maximum(ndtr((high - mu) / sigma) - ndtr((low - mu) / sigma), 1e-300)
        return n * log(_seen(mu, sigma, shortest_s)) - float(np.log(within).sum())

    start = np.array([float(middle.mean()), float(np.log(max(middle.std(), 0.05)))])
    theta = np.asarray(minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-4}).x)
    errors = curvature_errors(loss, theta, 0.02)
    if errors is None:
        errors = np.array([exp(theta[1]), 0.71]) / n**0.5
    wide = float(stats.t.ppf(0.975, n - 1)) * errors
    return transformed(theta[0], wide[0], n, exp), transformed(theta[1], wide[1], n, exp)
