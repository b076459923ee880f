"""Calls that were never answered, over all reads or all writes."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

from masim.scenario.fit.apilog.estimates import Estimate, share
from masim.scenario.fit.apilog.result import EndpointFit
from masim.sim.spec import WRITE_VERBS


def lost_share(endpoints: Iterable[EndpointFit], writes: bool) -> Estimate:
    """Return the share of lost calls of a kind: each endpoint's own tail of late answers is taken off first.

    Endpoints lose so few calls that they are taken together.
    """
    fits = [e.latency for e in endpoints if (e.verb in WRITE_VERBS) is writes and e.latency is not None]
    n = sum(fit.n + fit.late for fit in fits)
    if not n:
        return share(0, 0)
    value, below, above = 0.0, 0.0, 0.0
    for fit in fits:
        weight = (fit.n + fit.late) / n
        value += weight * fit.lost.value
        below += (weight * (fit.lost.value - fit.lost.low)) ** 2
        above += (weight * (fit.lost.high - fit.lost.value)) ** 2
    return Estimate(value, max(0.0, value - sqrt(below)), min(1.0, value + sqrt(above)), n)
