"""What an endpoint does anyway: decided from the plan's timelines and the call's own keyed uniforms.

Order of application: abort (outage, rate limit, transient error, lost request) before delay before lost response.
Every injected fault gets a cause id ``class:vendor:verb:n`` in the trace; no answer to an agent contains it.
"""

from __future__ import annotations

from masim.sim.faults.base import REFUSAL_LATENCY_S
from masim.sim.limits import TokenBucket
from masim.sim.plan import Plan
from masim.sim.spec import EXTRA_VERBS, WRITE_VERBS, ApiSpec
from masim.sim.spells import is_bad
from masim.sim.values import value
from masim.sim.wire import Body, Result


@value
class Fate:
    """What becomes of one call. ``abort`` replaces the vendor's answer; ``lost`` names what never arrives.

    ``queue_s`` is spent at the endpoint's station before the effect, on top of the latency.
    """

    latency_s: float
    abort: Body | None = None
    lost: str = ""
    cause: str = ""
    queue_s: float = 0.0


class _Route:
    """One endpoint of one vendor: what its fate depends on, looked up once."""

    __slots__ = ("bad_p", "bucket", "ends", "good_p", "latency", "lost_p", "lost_request_p", "outages", "tells")

    def __init__(self, api: ApiSpec, vendor: str, plan: Plan, t_s: float) -> None:
        limit = api.rate_limit
        self.latency = api.latency.ppf
        self.outages = () if api.verb in EXTRA_VERBS else plan.outages.get(vendor, ())
        self.bucket = None if limit is None else TokenBucket(limit, t_s)
        self.tells = limit is not None and limit.retry_after
        self.ends = plan.errors[vendor, api.transient]
        self.good_p = api.transient.good_p
        self.bad_p = api.transient.bad_p
        self.lost_request_p = api.lost_request_p
        self.lost_p = api.lost_request_p + api.lost_response_p if api.verb in WRITE_VERBS else 0.0


class FaultDesk:
    """Decides the fate of each call of one world."""

    __slots__ = ("_plan", "_routes")

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._routes: dict[tuple[str, str], _Route] = {}

    def fate(self, api: ApiSpec, vendor: str, t_s: float, us: tuple[float, float, float, float]) -> Fate:
        """Decide one call from its four uniforms (latency, error, loss, unused)."""
        route = self._routes.get((vendor, api.verb))
        if route is None:
            route = self._routes[vendor, api.verb] = _Route(api, vendor, self._plan, t_s)
        u_latency, u_error, u_loss, _ = us
        for start, end in route.outages:
            if start <= t_s < end:
                body = Body(Result.FAILURE, 503, problem="service unavailable")
                return Fate(REFUSAL_LATENCY_S, body, cause="outage")
        if route.bucket is not None:
            wait = route.bucket.take(t_s)
            if wait > 0.0:
                told = wait if route.tells else 0.0
                body = Body(Result.FAILURE, 429, retry_after_s=told, problem="too many requests")
                return Fate(REFUSAL_LATENCY_S, body, cause="rate_limit")
        latency = route.latency(u_latency)
        if u_error < (route.bad_p if is_bad(route.ends, t_s) else route.good_p):
            return Fate(latency, Body(Result.FAILURE, 502, problem="bad gateway"), cause="transient")
        if u_loss < route.lost_request_p:
            return Fate(latency, lost="request", cause="lost_request")
        if u_loss < route.lost_p:
            return Fate(latency, lost="response", cause="lost_response")
        return Fate(latency)
