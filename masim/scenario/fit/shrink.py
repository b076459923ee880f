"""Shrinking shares of small samples towards the mean of their group: the beta-binomial model.

Vendor ``i`` has ``x_i`` events in ``n_i`` deliveries, ``x_i ~ Binomial(n_i, p_i)``, ``p_i ~ Beta`` with mean ``mu``
and strength ``kappa`` (the beta's two parameters are ``mu * kappa`` and ``(1 - mu) * kappa``). The posterior mean
is ``(x_i + mu * kappa) / (n_i + kappa)``: ``kappa`` imaginary deliveries at the group's mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MIN_STRENGTH = 1.0
"""A prior never weighs less than one delivery, nor more than the deliveries that it was fitted to."""


@dataclass(frozen=True, slots=True)
class BetaPrior:
    """A group's mean share, its strength in deliveries, and what both rest on: deliveries and vendors."""

    mean: float
    strength: float
    n: int
    vendors: int

    def shrink(self, events: int, n: int) -> float:
        """Return the posterior mean share of a vendor with ``events`` in ``n`` deliveries (``n`` may be 0)."""
        return (events + self.mean * self.strength) / (n + self.strength)


def fit_beta_prior(counts: Sequence[tuple[int, int]]) -> BetaPrior:
    """Fit the prior to ``(events, n)`` per vendor by moments weighted with ``n`` (Kleinman, JASA 1973).

    With ``p = sum x / sum n``, ``N = sum n``, ``k`` vendors and intraclass correlation ``rho = 1 / (kappa + 1)``,
    ``E[sum n_i (x_i / n_i - p)^2] = p (1 - p) [(1 - rho) (k - 1) + rho (N - sum n_i^2 / N)]``; solved for ``rho``.
    Vendors with ``n = 0`` are ignored; without any delivery the mean is 0.
    """
    used = [(x, n) for x, n in counts if n > 0]
    total = sum(n for _, n in used)
    mean = sum(x for x, _ in used) / total if total else 0.0
    return BetaPrior(mean, _strength(used, mean, total), total, len(used))


def _strength(counts: Sequence[tuple[int, int]], mean: float, total: int) -> float:
    """Return ``kappa`` within its bounds: the upper one when vendors differ no more than by chance."""
    top = max(MIN_STRENGTH, float(total))
    variance = mean * (1.0 - mean)
    k = len(counts)
    if variance == 0.0 or k < 2:
        return top
    spread = sum(n * (x / n - mean) ** 2 for x, n in counts) / variance
    room = total - sum(n * n for _, n in counts) / total - (k - 1)
    excess = spread - (k - 1)
    if room <= 0.0 or excess <= 0.0:
        return top
    return min(max(room / excess - 1.0, MIN_STRENGTH), top)
