"""Rate limits: token buckets, shared by all agents that use one key."""

from __future__ import annotations

from masim.sim.spec import RateLimit

ROUNDING_S = 1e-8
"""What sums of clock times may be off by; a caller who waits exactly as long as told must not be refused for it."""


class TokenBucket:
    """Starts full; refills continuously; a call takes one token or is refused."""

    __slots__ = ("_last_s", "_limit", "_tokens")

    def __init__(self, limit: RateLimit, now_s: float) -> None:
        self._limit = limit
        self._tokens = float(limit.burst)
        self._last_s = now_s

    def take(self, now_s: float) -> float:
        """Take a token; return 0, or the seconds until the next one when there is none."""
        limit = self._limit
        self._tokens = min(float(limit.burst), self._tokens + (now_s - self._last_s) * limit.rate_per_s)
        self._last_s = now_s
        if self._tokens >= 1.0 - ROUNDING_S * limit.rate_per_s:
            self._tokens -= 1.0
            return 0.0
        return (1.0 - self._tokens) / limit.rate_per_s
