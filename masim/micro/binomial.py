"""Binomial probabilities, the closed form of most games."""

from __future__ import annotations

from math import comb


def exactly(n: int, p: float, k: int) -> float:
    """Return ``P[Bin(n, p) = k]``, 0 outside of 0..n."""
    return comb(n, k) * p**k * (1.0 - p) ** (n - k) if 0 <= k <= n else 0.0


def at_least(n: int, p: float, k: int) -> float:
    """Return ``P[Bin(n, p) >= k]``; summed from the smaller side, so that tiny values keep their digits."""
    if 2 * k > n:
        return sum(exactly(n, p, i) for i in range(max(k, 0), n + 1))
    return 1.0 - sum(exactly(n, p, i) for i in range(max(k, 0)))
