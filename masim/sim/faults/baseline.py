"""What an endpoint does anyway: decided from the plan's timelines and the call's own keyed uniforms.

Order of application: abort (outage, rate limit, transient error, lost request) before delay before lost response.
Every injected fault gets a cause id ``class:vendor:verb:n`` in the trace; no answer to an agent contains it.
"""

from __future__ import annotations

from masim.sim.faults.base import REFUSAL_LATENCY_S
from masim.sim.limits import TokenBucket
from masim.sim.plan import Plan
from masim.sim.spec import EXTRA_VERBS, WRITE_VERBS, ApiSpec, Transient
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
    lasts_s: float = 0.0
    """How much longer the outage lasts that refuses the call."""


Ends = dict[str, tuple[float, ...]]
"""Vendor -> the ends of its spells of errors."""


class _Rule:
    """One endpoint, the same at every vendor."""

    __slots__ = ("bad_p", "ends", "good_p", "latency", "limit", "lost_p", "lost_request_p", "spared", "tells")

    def __init__(self, api: ApiSpec, ends: Ends) -> None:
        self.limit = api.rate_limit
        self.tells = self.limit is not None and self.limit.retry_after
        self.latency = api.latency.ppf
        self.ends = ends
        self.good_p = api.transient.good_p
        self.bad_p = api.transient.bad_p
        self.lost_request_p = api.lost_request_p
        self.lost_p = api.lost_request_p + api.lost_response_p if api.verb in WRITE_VERBS else 0.0
        self.spared = api.verb in EXTRA_VERBS
        """Whether it is hosted elsewhere and knows no outages."""


class _Route:
    """One endpoint of one vendor: what its fate depends on, looked up once. A large world has many."""

    __slots__ = ("bucket", "ends", "outages", "rule")

    def __init__(self, rule: _Rule, vendor: str, plan: Plan, t_s: float) -> None:
        self.rule = rule
        self.outages = () if rule.spared else plan.outages.get(vendor, ())
        self.bucket = None if rule.limit is None else TokenBucket(rule.limit, t_s)
        self.ends = rule.ends[vendor]


class FaultDesk:
    """Decides the fate of each call of one world."""

    __slots__ = ("_ends", "_plan", "_routes", "_rules")

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._ends: dict[Transient, Ends] = {}
        for (vendor, rule), ends in plan.errors.items():
            self._ends.setdefault(rule, {})[vendor] = ends
        self._rules: dict[str, _Rule] = {}
        self._routes: dict[tuple[str, str], _Route] = {}

    def _route(self, api: ApiSpec, vendor: str, t_s: float) -> _Route:
        rule = self._rules.get(api.verb)
        if rule is None:
            rule = self._rules[api.verb] = _Rule(api, self._ends[api.transient])
        route = self._routes[vendor, api.verb] = _Route(rule, vendor, self._plan, t_s)
        return route

    def fate(self, api: ApiSpec, vendor: str, t_s: float, us: tuple[float, float, float, float]) -> Fate:
        """Decide one call from its four uniforms (latency, error, loss, unused)."""
        route = self._routes.get((vendor, api.verb)) or self._route(api, vendor, t_s)
        rule = route.rule
        u_latency, u_error, u_loss, _ = us
        for start, end in route.outages:
            if start <= t_s < end:
                body = Body(Result.FAILURE, 503, problem="service unavailable")
                return Fate(REFUSAL_LATENCY_S, body, cause="outage", lasts_s=end - t_s)
        if route.bucket is not None:
            wait = route.bucket.take(t_s)
            if wait > 0.0:
                told = wait if rule.tells else 0.0
                body = Body(Result.FAILURE, 429, retry_after_s=told, problem="too many requests")
                return Fate(REFUSAL_LATENCY_S, body, cause="rate_limit")
        latency = rule.latency(u_latency)
        if u_error < (rule.bad_p if is_bad(route.ends, t_s) else rule.good_p):
            return Fate(latency, Body(Result.FAILURE, 502, problem="bad gateway"), cause="transient")
        if u_loss < rule.lost_request_p:
            return Fate(latency, lost="request", cause="lost_request")
        if u_loss < rule.lost_p:
            return Fate(latency, lost="response", cause="lost_response")
        return Fate(latency)
