"""Family 3, throttle: the vendor answers only so many calls.

Every limit counts what it admits, per vendor and endpoint or for the whole vendor (``scope``), of all agents together
that share one API key or of each alone (``per``). ``retry_after_factor`` times the true wait is what a refusal tells:
1 is right, 0 tells nothing (an undocumented limit), another factor is wrong.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from masim.errors import ConfigError
from masim.sim.faults.base import CallChange, CallFault, Memo, base_latency_s
from masim.sim.faults.event import Event
from masim.sim.spec import WRITE_VERBS, Verb
from masim.sim.wire import Body, Result
from masim.units import DAY

_WRITES = frozenset(verb.value for verb in WRITE_VERBS)


@dataclass(frozen=True, slots=True)
class Limit(CallFault):
    """What all limits share: they refuse with 429 what is above ``limit``.

    Raises ConfigError for a limit, window or burst of 0.
    """

    limit: int = 30
    per: Literal["key", "agent"] = "key"
    scope: Literal["endpoint", "vendor"] = "endpoint"
    retry_after_factor: float = 1.0
    family: ClassVar[str] = "throttle"

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise ConfigError("a limit of 0 is an outage", "limit", str(self.limit), ">= 1", "use the kind `down`")
        if getattr(self, "window_s", 1.0) <= 0.0:
            raise ConfigError("a window without length", "window_s", "0 s", "more than 0 s")
        if getattr(self, "burst", 1) < 1:
            raise ConfigError("a bucket that holds nothing", "burst", "0", ">= 1", "use the kind `down`")

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Count the call, or refuse it. What was refused before it came here is not counted."""
        where = event.where
        if change.abort is not None or where.refused:
            return False
        key = (
            where.vendor,
            where.endpoint if self.scope == "endpoint" else "",
            where.agent if self.per == "agent" else "",
        )
        wait_s = self._wait_s(key, memo, event, change)
        if wait_s <= 0.0:
            return False
        told = wait_s * self.retry_after_factor
        return change.refuse(Body(Result.FAILURE, 429, retry_after_s=told, problem="too many requests"))

    @abstractmethod
    def _wait_s(self, key: Any, memo: Memo, event: Event, change: CallChange) -> float:
        """Admit the call and return 0, or return the seconds until one would be admitted."""


@dataclass(frozen=True, slots=True)
class TokenBucket(Limit):
    """``limit`` calls per ``window``, refilled all the time, at most ``burst`` at once."""

    window_s: float = 60.0
    burst: int = 5
    kind: ClassVar[str] = "token_bucket"

    def _wait_s(self, key: Any, memo: Memo, event: Event, change: CallChange) -> float:
        return take_tokens(key, memo, event.t_s, 1.0, self.limit / self.window_s, self.burst)


def take_tokens(key: Any, memo: Memo, t_s: float, cost: float, rate_per_s: float, burst: float) -> float:
    """Take tokens from the bucket of a key, which starts full; return 0, or the seconds until there are enough."""
    tokens, last_s = memo.get(key, (burst, t_s))
    tokens = min(burst, tokens + (t_s - last_s) * rate_per_s)
    if tokens < cost - 1e-9:
        memo[key] = (tokens, t_s)
        return float((cost - tokens) / rate_per_s)
    memo[key] = (tokens - cost, t_s)
    return 0.0


@dataclass(frozen=True, slots=True)
class SlidingWindow(Limit):
    """At most ``limit`` calls in the last ``window``."""

    window_s: float = 60.0
    kind: ClassVar[str] = "sliding_window"

    def _wait_s(self, key: Any, memo: Memo, event: Event, change: CallChange) -> float:
        times = [t_s for t_s in memo.get(key, ()) if t_s > event.t_s - self.window_s]
        memo[key] = times
        if len(times) >= self.limit:
            return float(times[-self.limit] + self.window_s - event.t_s)
        times.append(event.t_s)
        return 0.0


@dataclass(frozen=True, slots=True)
class FixedWindow(Limit):
    """At most ``limit`` calls per ``window`` of the vendor's clock, all of which may come at its start."""

    window_s: float = 60.0
    kind: ClassVar[str] = "fixed_window"

    def _wait_s(self, key: Any, memo: Memo, event: Event, change: CallChange) -> float:
        return count_in_window(key, memo, event.t_s, self.limit, self.window_s)


def count_in_window(key: Any, memo: Memo, t_s: float, limit: int, window_s: float) -> float:
    """Count a call of the present window; return 0, or the seconds until the next one when the window is full."""
    window = t_s // window_s
    last, count = memo.get(key, (window, 0))
    count = count if last == window else 0
    if count >= limit:
        return float((window + 1) * window_s - t_s)
    memo[key] = (window, count + 1)
    return 0.0


@dataclass(frozen=True, slots=True)
class DailyQuota(Limit):
    """At most ``limit`` calls from midnight to midnight."""

    kind: ClassVar[str] = "daily_quota"

    def _wait_s(self, key: Any, memo: Memo, event: Event, change: CallChange) -> float:
        return count_in_window(key, memo, event.t_s, self.limit, DAY)


@dataclass(frozen=True, slots=True)
class ConcurrencyCap(Limit):
    """At most ``limit`` calls at once; one counts from its request until its answer or its caller's deadline."""

    kind: ClassVar[str] = "concurrency_cap"

    def _wait_s(self, key: Any, memo: Memo, event: Event, change: CallChange) -> float:
        ends = [end_s for end_s in memo.get(key, ()) if end_s > event.t_s]
        memo[key] = ends
        if len(ends) >= self.limit:
            return float(sorted(ends)[-self.limit] - event.t_s)
        takes = base_latency_s(change, event.latency_s) * change.scale + change.add_s
        ends.append(event.t_s + min(takes, event.deadline_s))
        return 0.0


@dataclass(frozen=True, slots=True)
class CostLimit(Limit):
    """A token bucket of points: a call costs by what it asks for. Raises ConfigError for a call that costs too much."""

    window_s: float = 60.0
    burst: int = 20
    read_cost: float = 1.0
    write_cost: float = 5.0
    list_cost: float = 10.0
    """Of an availability search."""
    kind: ClassVar[str] = "cost_limit"

    def __post_init__(self) -> None:
        Limit.__post_init__(self)
        for name in ("read_cost", "write_cost", "list_cost"):
            if (cost := getattr(self, name)) > self.burst:
                raise ConfigError("no call of this kind can ever pass", name, f"{cost:g}", f"<= burst ({self.burst})")

    def _wait_s(self, key: Any, memo: Memo, event: Event, change: CallChange) -> float:
        cost = self.write_cost if event.endpoint in _WRITES else self.read_cost
        if event.endpoint == Verb.AVAILABILITY:
            cost = self.list_cost
        return take_tokens(key, memo, event.t_s, cost, self.limit / self.window_s, self.burst)
