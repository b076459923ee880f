"""Family 5, outage: a vendor, or a part of its API, is down or nearly so.

When is said by the schedule: ``windows`` for a planned outage, ``spells`` for random ones, ``shared`` spells for a
common upstream, ``match.endpoints`` for one verb alone. A brown-out is slow and no outage: it has a kind of its own,
so that what counts outages does not count it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from masim.errors import ConfigError
from masim.sim.faults.base import CallChange, CallFault, Memo
from masim.sim.faults.event import Event
from masim.sim.faults.kinds.status import check_error_code
from masim.sim.wire import Body, Result
from masim.units import MINUTE

SERVER_ERROR = 500


def unavailable(change: CallChange, code: int = 503, retry_after_s: float = 0.0) -> bool:
    """Refuse a call because nobody is there."""
    return change.refuse(Body(Result.FAILURE, code, retry_after_s=retry_after_s, problem="service unavailable"))


@dataclass(frozen=True, slots=True)
class Down(CallFault):
    """Every call is refused. Raises ConfigError for a code that is no error."""

    http_status: int = 503
    retry_after_s: float = 0.0
    kind: ClassVar[str] = "down"
    family: ClassVar[str] = "outage"
    takes_down: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_error_code(self.http_status)

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Refuse."""
        return unavailable(change, self.http_status, self.retry_after_s)

    def refuses_all(self) -> bool:
        """Return true."""
        return True

    def outage_over_s(self, t_s: float) -> float:
        """Only its schedule ends it."""
        return math.inf


@dataclass(frozen=True, slots=True)
class BrownOut(CallFault):
    """Calls take ``factor_low`` to ``factor_high`` times as long. Raises ConfigError for a factor below 1."""

    factor_low: float = 5.0
    factor_high: float = 20.0
    kind: ClassVar[str] = "brown_out"
    family: ClassVar[str] = "outage"

    def __post_init__(self) -> None:
        if not 1.0 <= self.factor_low <= self.factor_high:
            got = f"{self.factor_low:g} to {self.factor_high:g}"
            raise ConfigError("a brown-out is slower than usual", "factor_low", got, "1 <= factor_low <= factor_high")

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Stretch."""
        change.scale *= self.factor_low + event.us[0] * (self.factor_high - self.factor_low)
        return True


@dataclass(frozen=True, slots=True)
class Flapping(CallFault):
    """Up for ``up``, down for ``down``, and again, by the vendor's clock. Raises ConfigError for no time at all."""

    up_s: float = 5 * MINUTE
    down_s: float = 1 * MINUTE
    kind: ClassVar[str] = "flapping"
    family: ClassVar[str] = "outage"

    def __post_init__(self) -> None:
        for name in ("up_s", "down_s"):
            if getattr(self, name) <= 0.0:
                raise ConfigError("what flaps is up and down in turn", name, "0 s", "more than 0 s", "use `down`")

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Refuse in the second part of every cycle."""
        return unavailable(change) if event.t_s % (self.up_s + self.down_s) >= self.up_s else False

    def outage_over_s(self, t_s: float) -> float:
        """Return when the cycle ends."""
        cycle_s = self.up_s + self.down_s
        return (t_s // cycle_s + 1.0) * cycle_s


@dataclass(frozen=True, slots=True)
class RecoveryStampede(CallFault):
    """After an outage everybody comes back at once: a call waits behind the backlog of the calls that were refused.

    Stands after the faults whose refusals it counts (5xx, also the endpoint's own). Each refused call stands for
    ``crowd`` calls of everybody's; they are served one by one, each in ``service``, from the last refusal on.
    """

    crowd: float = 10.0
    service_s: float = 1.0
    kind: ClassVar[str] = "recovery_stampede"
    family: ClassVar[str] = "outage"

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Count a refusal, or wait for those before."""
        where = event.where
        vendor, now = where.vendor, where.t_s
        code = where.refused if change.abort is None else change.abort.code
        waiting_s, since_s = memo.get(vendor, (0.0, now))
        if code >= SERVER_ERROR:
            memo[vendor] = (waiting_s + self.crowd * self.service_s, now)
            return False
        waiting_s -= now - since_s
        if code or waiting_s <= 0.0:
            return False
        memo[vendor] = (waiting_s + self.service_s, now)
        change.add_s += waiting_s
        return True
