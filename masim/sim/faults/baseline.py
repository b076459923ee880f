"""What an endpoint does anyway: decided from the plan's timelines and the call's own keyed uniforms.

Order of application: abort (outage, rate limit, transient error, lost request) before delay before lost response.
Every injected fault gets a cause id ``class:vendor:verb:n`` in the trace; no answer to an agent contains it.
"""

from __future__ import annotations

from dataclasses import dataclass

from masim.sim.faults.base import REFUSAL_LATENCY_S
from masim.sim.limits import TokenBucket
from masim.sim.plan import Plan
from masim.sim.spec import WRITE_VERBS, ApiSpec
from masim.sim.spells import is_bad
from masim.sim.wire import Body, Result


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of one call. ``abort`` replaces the vendor's answer; ``lost`` names what never arrives.

    ``queue_s`` is spent at the endpoint's station before the effect, on top of the latency.
    """

    latency_s: float
    abort: Body | None = None
    lost: str = ""
    cause: str = ""
    queue_s: float = 0.0


class FaultDesk:
    """Decides the fate of each call of one world."""

    __slots__ = ("_buckets", "_plan")

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._buckets: dict[tuple[str, str], TokenBucket] = {}

    def down(self, vendor: str, t_s: float) -> bool:
        """Return whether a vendor is in an outage."""
        return any(start <= t_s < end for start, end in self._plan.outages.get(vendor, ()))

    def _limited(self, api: ApiSpec, vendor: str, t_s: float) -> float:
        if api.rate_limit is None:
            return 0.0
        key = (vendor, api.verb.value)
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = TokenBucket(api.rate_limit, t_s)
        return bucket.take(t_s)

    def _error_p(self, api: ApiSpec, vendor: str, t_s: float) -> float:
        bad = is_bad(self._plan.errors[vendor, api.transient], t_s)
        return api.transient.bad_p if bad else api.transient.good_p

    def fate(self, api: ApiSpec, vendor: str, t_s: float, us: tuple[float, float, float, float]) -> Fate:
        """Decide one call from its four uniforms (latency, error, loss, unused)."""
        u_latency, u_error, u_loss, _ = us
        if self.down(vendor, t_s):
            body = Body(Result.FAILURE, 503, problem="service unavailable")
            return Fate(REFUSAL_LATENCY_S, body, cause="outage")
        wait = self._limited(api, vendor, t_s)
        if wait > 0.0:
            told = wait if api.rate_limit is not None and api.rate_limit.retry_after else 0.0
            body = Body(Result.FAILURE, 429, retry_after_s=told, problem="too many requests")
            return Fate(REFUSAL_LATENCY_S, body, cause="rate_limit")
        latency = api.latency.ppf(u_latency)
        if u_error < self._error_p(api, vendor, t_s):
            return Fate(latency, Body(Result.FAILURE, 502, problem="bad gateway"), cause="transient")
        if u_loss < api.lost_request_p:
            return Fate(latency, lost="request", cause="lost_request")
        if api.verb in WRITE_VERBS and u_loss < api.lost_request_p + api.lost_response_p:
            return Fate(latency, lost="response", cause="lost_response")
        return Fate(latency)
