"""When a failed attempt is made again: which failures, after how long, and how often in all.

A back-off is a frozen value with ``delay_s(retry, u)``: the seconds before retry number ``retry`` (from 1), with ``u``
a uniform in [0, 1) for those that jitter; ``inf`` means never. The formulas of the jitters are those of M. Brooker,
"Exponential Backoff And Jitter" (AWS Architecture Blog, 2015); the budget is that of Finagle's ``RetryBudget``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Protocol

from masim.errors import ConfigError, did_you_mean
from masim.sim.spec import WRITE_VERBS, Verb
from masim.sim.wire import Body, Result
from masim.units import MINUTE

TIMEOUT_CODES = (408, 429)
"""The refusals below 500 that another attempt can help against."""


class Backoff(Protocol):
    """How long to wait before a retry."""

    def delay_s(self, retry: int, u: float) -> float:
        """Return the seconds before retry number ``retry`` (from 1); ``u`` is uniform in [0, 1)."""


@dataclass(frozen=True, slots=True)
class RetrySettings:
    """What is retried and how. Raises ConfigError on impossible or contradictory values."""

    policy: str = "none"
    """A name in :data:`POLICIES`."""
    attempts: int = 3
    """Most attempts of one call, the first one included."""
    base_s: float = 1.0
    """Wait before the first retry (``fixed``: before every one)."""
    factor: float = 2.0
    """By what each further wait grows."""
    cap_s: float = 30.0
    """The longest wait of the schedule; a Retry-After may be longer."""
    retry_after: bool = True
    """Wait at least as long as the vendor's Retry-After says."""
    patience_s: float = 5 * MINUTE
    """A Retry-After beyond this is not waited for: the agent gets the refusal at once."""
    write_timeouts: bool = False
    """Also retry a write that timed out, although its effect may have happened."""
    budget_tokens: float = 0.0
    """Retries that an agent may have saved up at most, and has at the start; 0: no budget."""
    budget_ratio: float = 0.2
    """Retries earned by each call."""

    def __post_init__(self) -> None:
        _require(self.policy in POLICIES, self, "policy", ", ".join(POLICIES), did_you_mean(self.policy, POLICIES))
        _require(1 <= self.attempts <= 100, self, "attempts", "an integer from 1 to 100")
        _require(self.factor >= 1.0, self, "factor", "a number from 1")
        for name in ("base_s", "cap_s", "patience_s", "budget_tokens", "budget_ratio"):
            value = getattr(self, name)
            _require(0.0 <= value < math.inf, self, name, "a number from 0")
        _require(self.base_s <= self.cap_s, self, "base_s", f"at most the cap ({self.cap_s:g} s)", "raise the cap")
        if self.policy == "none":
            useless = [f.name for f in fields(self) if f.name != "policy" and getattr(self, f.name) != f.default]
            fix = "name a policy, or leave the other settings out"
            _require(not useless, self, useless[0] if useless else "policy", "nothing beside policy 'none'", fix)

    def backoff(self) -> Backoff:
        """Return the schedule of these settings."""
        return POLICIES[self.policy](self)


def _require(good: bool, settings: RetrySettings, name: str, allowed: str, fix: str = "") -> None:
    if not good:
        value = repr(getattr(settings, name))
        raise ConfigError("impossible retry setting", f"client.retry.{name}", value, allowed, fix)


@dataclass(frozen=True, slots=True)
class Never:
    """No retry."""

    settings: RetrySettings

    def delay_s(self, retry: int, u: float) -> float:
        """Return infinity."""
        return math.inf


@dataclass(frozen=True, slots=True)
class Fixed:
    """The same wait before every retry."""

    settings: RetrySettings

    def delay_s(self, retry: int, u: float) -> float:
        """Return ``base``."""
        return self.settings.base_s


@dataclass(frozen=True, slots=True)
class Exponential:
    """Waits that grow by a factor up to a cap."""

    settings: RetrySettings

    def delay_s(self, retry: int, u: float) -> float:
        """Return ``min(cap, base * factor ** (retry - 1))``."""
        s = self.settings
        if s.base_s == 0.0 or s.factor == 1.0:
            return s.base_s
        longest = math.log(s.cap_s / s.base_s, s.factor)  # beyond it the power would only overflow
        return s.cap_s if retry - 1 >= longest else float(s.base_s * s.factor ** (retry - 1))


@dataclass(frozen=True, slots=True)
class FullJitter(Exponential):
    """Anything from nothing to the exponential wait."""

    def delay_s(self, retry: int, u: float) -> float:
        """Return ``u`` times the exponential wait."""
        return u * Exponential.delay_s(self, retry, u)


@dataclass(frozen=True, slots=True)
class EqualJitter(Exponential):
    """Half of the exponential wait, and anything up to the other half."""

    def delay_s(self, retry: int, u: float) -> float:
        """Return ``(1 + u) / 2`` times the exponential wait."""
        return 0.5 * (1.0 + u) * Exponential.delay_s(self, retry, u)


POLICIES: dict[str, type[Never | Fixed | Exponential]] = {
    "none": Never,
    "fixed": Fixed,
    "exponential": Exponential,
    "full-jitter": FullJitter,
    "equal-jitter": EqualJitter,
}


def is_trouble(body: Body) -> bool:
    """Return whether an end leaves it open, or to be tried again, what was asked: no answer, 408, 429 or 5xx."""
    return body.result is Result.TIMEOUT or body.code in TIMEOUT_CODES or body.code >= 500


def is_retried(settings: RetrySettings, verb: Verb, body: Body) -> bool:
    """Return whether an end is of the kind that is retried: trouble, but a write's timeout only by setting."""
    if body.result is Result.TIMEOUT and verb in WRITE_VERBS:
        return settings.write_timeouts
    return is_trouble(body)


class RetryBudget:
    """Tokens that every call earns a share of and every retry costs one of, so that retries stay a share of calls."""

    __slots__ = ("_cap", "_ratio", "tokens")

    def __init__(self, settings: RetrySettings) -> None:
        self._cap = settings.budget_tokens
        self._ratio = settings.budget_ratio
        self.tokens = settings.budget_tokens

    def earn(self) -> None:
        """Count a call."""
        self.tokens = min(self._cap, self.tokens + self._ratio)

    def spend(self) -> bool:
        """Take a token for a retry; return False when there is none. Without a budget there always is."""
        if self._cap == 0.0:
            return True
        if self.tokens < 1.0:
            return False
        self.tokens -= 1.0
        return True
