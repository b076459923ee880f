"""The smallest world that calls can be sent to: one dock endpoint behind the real gateway, no agents."""

from __future__ import annotations

from collections.abc import Iterable

from masim.rng import Noise
from masim.sim.api import Gateway
from masim.sim.clock import Clock
from masim.sim.dists import Constant
from masim.sim.plan import Plan, draw_plan
from masim.sim.spec import (
    ApiSpec,
    AppointmentType,
    DockSpec,
    HiddenSpec,
    Instance,
    MessageSpec,
    OrderSpec,
    OutageSpec,
    Transient,
    Verb,
    WorldSpec,
)
from masim.sim.trace import Trace
from masim.sim.wire import Answer, Body, Call, Result
from masim.units import DAY

CALM = Transient(0.0, 0.0, 0.0, 60.0)
DOCK = "dock"
FOREVER_S = 365 * DAY


def dock(slots: int = 1, capacity: int = 1, hold_ttl_s: float | None = None) -> DockSpec:
    """Return a dock with one-hour slots that begin at the end of the day, so that none is in the past."""
    hours = Constant(0.0)
    return DockSpec(
        DOCK, AppointmentType.AUTOMATIC, DAY, DAY + 3600.0 * slots, 3600.0, capacity, 0.0, hours, hold_ttl_s
    )


def world(api: ApiSpec, outages: OutageSpec | None = None) -> WorldSpec:
    """Return a world of one endpoint at one dock."""
    return WorldSpec(
        id="theory-v0",
        agents=("caller",),
        campaign_days=1,
        day_start_s=0.0,
        booking_end_s=DAY,
        max_decisions=1,
        client_deadline_s=FOREVER_S,
        apis=(api,),
        carriers=(),
        docks=(dock(),),
        shippers=("shipper",),
        hidden=HiddenSpec(()),
        orders=OrderSpec(0, (), Constant(1.0), 1.0),
        messages=MessageSpec(Constant(0.0)),
        outages=outages,
        late_grace_s=0.0,
    )


def endpoint(
    latency_s: float = 0.0, transient: Transient = CALM, verb: Verb = Verb.AVAILABILITY, **changes: object
) -> ApiSpec:
    """Return an endpoint on which nothing goes wrong but what ``changes`` says."""
    return ApiSpec(verb, Constant(latency_s), transient, **changes)  # type: ignore[arg-type]


def plans(spec: WorldSpec, n: int) -> list[Plan]:
    """Return the plans of ``n`` campaigns; each covers two days."""
    return [draw_plan(spec, Instance(seed, 0, "theory")) for seed in range(n)]


def answers(spec: WorldSpec, plan: Plan, times_s: Iterable[float], deadline_s: float = FOREVER_S) -> list[Answer]:
    """Send one call at each time and return the answers in the order of sending."""
    found: list[Answer] = []
    clock = Clock(0.0)
    noise = Noise(plan.instance.campaign_seed, plan.instance.namespace)
    body = Body(Result.SUCCESS, 200)
    gateway = Gateway(spec, plan, clock, noise, Trace(False), lambda _agent, _call, _at: body, found.append)
    verb = spec.apis[0].verb

    def send(i: int) -> None:
        gateway.send("caller", Call(verb, DOCK, str(i)), deadline_s)

    for i, t_s in enumerate(times_s):
        clock.at(t_s, send, i)
    while clock.peek() < float("inf"):
        clock.step()
    return sorted(found, key=lambda answer: answer.request_id)
