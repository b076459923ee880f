"""Log-normal latencies, robustly, where some calls were never answered within the client's deadline.

A call is lost with probability ``q`` or answered after ``exp(N(mu, sigma^2))`` seconds; the log shows the answers up
to the deadline ``D`` and counts the rest. Of the answers in time the share ``p`` has come by
``mu + sigma * z(p * F)`` in logarithms, where ``F = Phi((ln D - mu) / sigma)`` is the share of answers that come in
time at all. Five sample quantiles give ``mu`` and ``sigma`` by generalised least squares (the best linear estimate
from these quantiles: Mosteller 1946, Ogawa 1951), which a tenth of stray values at either end does not move; ``F``
follows as the root of one equation. The share of calls in time is ``(1 - q) F``. If ``q`` is not clearly above 0,
every timeout is a late answer: then ``F`` is that share itself, the usual censored estimate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from masim.arrays import F64
from masim.scenario.fit.apilog.estimates import Estimate, Z, share

SHARES = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
MIN_SPREAD = 8
"""With fewer answers the spread is not estimated; the median alone is."""
MIN_SIGMA = 1e-3


@dataclass(frozen=True, slots=True)
class LatencyFit:
    """Logarithms of seconds with standard errors, and the share of calls that were lost.

    ``n`` answers, ``late`` timeouts; ``deadline_s`` is ``None`` without timeouts. ``heavy``: the largest answers are
    far above what the fitted log-normal expects.
    """

    mu: float
    sigma: float
    mu_se: float
    sigma_se: float
    n: int
    late: int
    deadline_s: float | None
    lost: Estimate
    heavy: bool = False

    def median_s(self) -> Estimate:
        """Return the median in seconds."""
        low, high = np.exp([self.mu - Z * self.mu_se, self.mu + Z * self.mu_se])
        return Estimate(float(np.exp(self.mu)), float(low), float(high), self.n)

    def spread(self) -> Estimate:
        """Return the sigma of the logarithm."""
        low = max(0.0, self.sigma - Z * self.sigma_se)
        return Estimate(self.sigma, low, self.sigma + Z * self.sigma_se, self.n)


def fit_latency(answers_s: F64, late: int, deadline_s: float | None) -> LatencyFit | None:
    """Fit the answers in time and the number of timeouts; ``None`` with fewer than :data:`MIN_SPREAD` answers."""
    logs = np.log(np.maximum(answers_s, 1e-6))
    n = len(logs)
    if n < MIN_SPREAD:
        return None
    quantiles = np.quantile(logs, SHARES, method="median_unbiased")
    in_time = n / (n + late)
    if not late or deadline_s is None:
        theta, cov = _solve(quantiles, 1.0, n)
        return _made(theta, cov, logs, 0, None, share(0, n))
    theta, cov, lost = _with_losses(quantiles, float(np.log(deadline_s)), in_time, n, late)
    if lost.low <= 0.0:
        theta, cov = _all_late(quantiles, in_time, n, late, (theta, cov))
        lost = Estimate(0.0, 0.0, lost.high, n + late)
    return _made(theta, cov, logs, late, deadline_s, lost)


def _weights(in_time: float) -> tuple[F64, F64]:
    """Return the covariance of the quantiles (for sigma 1 and one answer) and the weights of the best estimate."""
    z = ndtri(SHARES * in_time)
    density = np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi) / in_time
    low, high = np.minimum.outer(SHARES, SHARES), np.maximum.outer(SHARES, SHARES)
    cov = low * (1.0 - high) / np.outer(density, density)
    design = np.column_stack([np.ones_like(z), z])
    weighted = np.linalg.solve(cov, design)
    weights = np.linalg.solve(design.T @ weighted, weighted.T)
    return np.asarray(cov, np.float64), np.asarray(weights, np.float64)


def _solve(quantiles: F64, in_time: float, n: int) -> tuple[F64, F64]:
    """Return ``(mu, sigma)`` and their covariance, given the share of answers that come in time."""
    cov, weights = _weights(in_time)
    theta = weights @ quantiles
    theta[1] = max(theta[1], MIN_SIGMA)
    return theta, weights @ cov @ weights.T * (theta[1] ** 2 / n)


def _in_time(quantiles: F64, log_deadline: float, least: float) -> float:
    """Return the share of answers that come in time, not below the share of calls that were answered."""

    def surplus(answered: float) -> float:
        mu, sigma = _solve(quantiles, answered, 1)[0]
        return float(ndtr((log_deadline - mu) / sigma)) - answered

    top = 1.0 - 1e-9
    if surplus(top) >= 0.0:
        return top
    return float(brentq(surplus, least, top, xtol=1e-10)) if surplus(least) > 0.0 else least


def _with_losses(quantiles: F64, log_deadline: float, in_time: float, n: int, late: int) -> tuple[F64, F64, Estimate]:
    """Return ``(mu, sigma)``, their covariance and the share of lost calls, where calls may be lost.

    The errors come from those of the quantiles, through the whole calculation (delta method).
    """

    def whole(moved: F64) -> F64:
        answered = _in_time(moved, log_deadline, 0.05)
        return np.array([*_solve(moved, answered, n)[0], answered])

    centre = whole(quantiles)
    mu, sigma, answered = centre
    step = 1e-3 * sigma
    jacobian = np.column_stack([(whole(quantiles + step * unit) - centre) / step for unit in np.eye(len(SHARES))])
    cov = jacobian @ (_weights(answered)[0] * sigma**2 / n) @ jacobian.T
    counted = share(late, n + late)
    tail, tail_error = 1.0 - answered, Z * float(np.sqrt(cov[2, 2]))
    lost = Estimate(
        max(0.0, 1.0 - in_time / answered),
        max(0.0, (counted.low - tail - tail_error) / answered),
        min(1.0, max(0.0, (counted.high - tail + tail_error) / answered)),
        n + late,
    )
    return np.array([mu, sigma]), cov[:2, :2], lost


def _all_late(quantiles: F64, in_time: float, n: int, late: int, with_losses: tuple[F64, F64]) -> tuple[F64, F64]:
    """Return ``(mu, sigma)`` and their covariance where every timeout is a late answer.

    The errors also hold what the fit with losses says, because the data did not tell the two apart.
    """
    theta, cov = _solve(quantiles, in_time, n)
    step = 1e-4 * in_time
    slope = (theta - _solve(quantiles, in_time - step, n)[0]) / step
    cov = cov + np.outer(slope, slope) * in_time * (1.0 - in_time) / (n + late)
    other, other_cov = with_losses
    wide = np.abs(other - theta) / Z + np.sqrt(np.diag(other_cov))
    return theta, np.diag(np.maximum(np.diag(cov), np.square(wide)))


def _made(theta: F64, cov: F64, logs: F64, late: int, deadline_s: float | None, lost: Estimate) -> LatencyFit:
    n = len(logs)
    far = theta[0] + theta[1] * ndtri(1.0 - 1e-4)
    heavy = n >= 100 and bool((logs > far).sum() > 3 + 0.001 * n)
    mu_se, sigma_se = np.sqrt(np.diag(cov))
    return LatencyFit(float(theta[0]), float(theta[1]), float(mu_se), float(sigma_se), n, late, deadline_s, lost, heavy)
