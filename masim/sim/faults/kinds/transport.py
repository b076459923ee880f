"""Family 1, transport: the answer comes late, never, or broken. Names follow Toxiproxy and WireMock."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from masim.errors import ConfigError
from masim.sim.dists import Constant, Dist
from masim.sim.faults.base import CallChange, CallFault, Memo
from masim.sim.faults.event import Event
from masim.sim.wire import Body, Result


@dataclass(frozen=True, slots=True)
class Latency(CallFault):
    """Adds a delay to the answer, drawn from a distribution (a constant, or jitter, or rare spikes by ``p``)."""

    delay_s: Dist = field(default=Constant(5.0))
    kind: ClassVar[str] = "latency"
    family: ClassVar[str] = "transport"

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Delay."""
        change.add_s += self.delay_s.ppf(event.us[0])
        return True


@dataclass(frozen=True, slots=True)
class SlowBody(CallFault):
    """The answer trickles: its latency is multiplied. Raises ConfigError for a factor below 1."""

    factor: float = 10.0
    kind: ClassVar[str] = "slow_body"
    family: ClassVar[str] = "transport"

    def __post_init__(self) -> None:
        if self.factor < 1.0:
            raise ConfigError("a slow answer is not faster than a usual one", "factor", f"{self.factor:g}", ">= 1")

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Stretch."""
        change.scale *= self.factor
        return True


@dataclass(frozen=True, slots=True)
class Hang(CallFault):
    """No answer ever comes; the vendor has done what was asked. Only the caller's own deadline ends it."""

    kind: ClassVar[str] = "hang"
    family: ClassVar[str] = "transport"

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Hang."""
        change.add_s = math.inf
        return True


@dataclass(frozen=True, slots=True)
class Reset(CallFault):
    """The connection breaks: the caller reads code 0 at once. ``after``: before or after the vendor's effect."""

    after: Literal["request", "effect"] = "request"
    kind: ClassVar[str] = "reset"
    family: ClassVar[str] = "transport"

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Break the connection."""
        broken = Body(Result.FAILURE, 0, problem="connection reset")
        if self.after == "request":
            return change.refuse(broken)
        change.replace = broken
        return True

    def refuses_all(self) -> bool:
        """Return whether the connection breaks before the vendor has acted."""
        return self.after == "request"


@dataclass(frozen=True, slots=True)
class Truncation(CallFault):
    """The answer is cut: its list of slots is shortened and single values are missing."""

    keep: int = 1
    kind: ClassVar[str] = "truncation"
    family: ClassVar[str] = "transport"

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Cut."""
        change.patch.append(self._cut)
        return True

    def _cut(self, body: Body) -> Body:
        return replace(body, slots=body.slots[: self.keep], slot=None, price_cents=0, expires_s=0.0)
