"""Every kind of fault by its name in scenarios."""

from __future__ import annotations

from masim.sim.faults.base import Fault
from masim.sim.faults.kinds import auth, outage, staleness, status, throttle, transport

_KINDS: tuple[type[Fault], ...] = (
    transport.Latency,
    transport.SlowBody,
    transport.Hang,
    transport.Reset,
    transport.Truncation,
    status.Abort,
    status.WrongCode,
    status.OkWithError,
    status.EmptySuccess,
    throttle.TokenBucket,
    throttle.SlidingWindow,
    throttle.FixedWindow,
    throttle.DailyQuota,
    throttle.ConcurrencyCap,
    throttle.CostLimit,
    auth.TokenExpiry,
    auth.EarlyDeath,
    auth.ClockSkew,
    auth.Revocation,
    auth.RefreshRace,
    outage.Down,
    outage.BrownOut,
    outage.Flapping,
    outage.RecoveryStampede,
    staleness.CacheAge,
    staleness.ReplicaLag,
    staleness.ReadYourWritesMiss,
    staleness.PaginationDrift,
)
FAULTS: dict[str, type[Fault]] = {kind.kind: kind for kind in _KINDS}
