"""Family 7, staleness: a read shows what was true some time ago, or a list that moved between two pages.

Reads with a past are ``availability``, ``appointment_details`` and ``tender_status``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from masim.errors import ConfigError
from masim.sim.dists import Dist, Exponential
from masim.sim.faults.base import CallChange, CallFault, Memo
from masim.sim.faults.event import Event
from masim.sim.spec import WRITE_VERBS, Verb
from masim.sim.wire import Body
from masim.units import MINUTE

READS = frozenset({Verb.AVAILABILITY.value, Verb.APPOINTMENT_DETAILS.value, Verb.TENDER_STATUS.value})
_WRITES = frozenset(verb.value for verb in WRITE_VERBS)


@dataclass(frozen=True, slots=True)
class CacheAge(CallFault):
    """A read is answered from a cache; ``age`` is how old its entry is."""

    age_s: Dist = field(default=Exponential(60.0))
    kind: ClassVar[str] = "cache_age"
    family: ClassVar[str] = "staleness"

    def verbs(self) -> frozenset[str]:
        """Return where it strikes."""
        return READS

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Look back."""
        change.stale_s += self.age_s.ppf(event.us[0])
        return True


@dataclass(frozen=True, slots=True)
class ReplicaLag(CallFault):
    """A read goes to the leader or to one of its followers, the n-th of which lags n times ``lag`` behind it.

    So a later read can show an earlier state. Raises ConfigError for a vendor without followers.
    """

    lag_s: float = 2 * MINUTE
    followers: int = 2
    kind: ClassVar[str] = "replica_lag"
    family: ClassVar[str] = "staleness"

    def __post_init__(self) -> None:
        if self.followers < 1:
            raise ConfigError("a leader alone has no lag", "followers", str(self.followers), ">= 1")

    def verbs(self) -> frozenset[str]:
        """Return where it strikes."""
        return READS

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Look back as far as the replica does."""
        replica = int(event.us[0] * (self.followers + 1))
        if replica == 0:
            return False
        change.stale_s += replica * self.lag_s
        return True


@dataclass(frozen=True, slots=True)
class ReadYourWritesMiss(CallFault):
    """A read of an agent soon after its own write shows what was before it."""

    within_s: float = 2 * MINUTE
    kind: ClassVar[str] = "read_your_writes_miss"
    family: ClassVar[str] = "staleness"
    always: ClassVar[bool] = True

    def verbs(self) -> frozenset[str]:
        """Return where it strikes."""
        return READS | _WRITES

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Remember a write; look back before it."""
        where = event.where
        key = (where.agent, where.vendor, where.order, where.leg, where.stop)
        if where.endpoint in _WRITES:
            memo[key] = where.t_s
            return False
        wrote_s = memo.get(key)
        if not event.drawn or wrote_s is None or event.t_s - wrote_s > self.within_s:
            return False
        change.as_of_s = min(change.as_of_s, wrote_s)
        return True


@dataclass(frozen=True, slots=True)
class PaginationDrift(CallFault):
    """The list of slots moves under its reader: one slot is missing (``missing_p``), or one comes twice."""

    missing_p: float = 0.5
    kind: ClassVar[str] = "pagination_drift"
    family: ClassVar[str] = "staleness"

    def verbs(self) -> frozenset[str]:
        """Return where it strikes."""
        return frozenset({Verb.AVAILABILITY.value})

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Drop or double a slot; a list stays as long as its page."""
        missing, u = event.us[0] < self.missing_p, event.us[1]
        change.patch.append(lambda body: drifted(body, missing, u))
        return True


def drifted(body: Body, missing: bool, u: float) -> Body:
    """Return the answer without one of its slots, or with one twice and without the last."""
    slots = body.slots
    if missing:
        at = int(u * len(slots))
        return replace(body, slots=slots[:at] + slots[at + 1 :])
    at = int(u * (len(slots) - 1))
    return replace(body, slots=(slots[: at + 1] + slots[at:])[: len(slots)])
