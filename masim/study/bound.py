"""An upper bound on completion that no agent can beat, whatever it remembers: luck on the road sets it.

For every order the best carrier that its shipper takes is sent on every leg, bookings always succeed, and only the
truck's lateness can fail the leg. A truck that is late by no more than the grace is still served.
"""

from __future__ import annotations

from collections.abc import Iterable

from masim.sim.dists import Dist
from masim.sim.plan import OrderPlan, Plan, draw_plan
from masim.sim.spec import Instance, WorldSpec

_GRID = 2000


def share_within(late_s: Dist, grace_s: float) -> float:
    """Return the probability that a late truck comes within the grace, on a grid of quantiles."""
    return sum(late_s.ppf((i + 0.5) / _GRID) <= grace_s for i in range(_GRID)) / _GRID


def order_bound(spec: WorldSpec, plan: Plan, order: OrderPlan) -> float:
    """Return the best possible probability that an order completes."""
    refused = plan.hidden.refused[order.shipper]
    served = []
    for carrier in spec.carriers:
        if carrier.id not in refused:
            on_time = plan.hidden.on_time_p[carrier.id]
            served.append(on_time + (1.0 - on_time) * share_within(carrier.late_s, spec.late_grace_s))
    return max(served, default=0.0) ** len(order.legs)


def completion_bound(spec: WorldSpec, instances: Iterable[Instance]) -> float:
    """Return the mean bound over all orders of some instances."""
    bounds = []
    for instance in instances:
        plan = draw_plan(spec, instance)
        bounds += [order_bound(spec, plan, order) for order in plan.orders]
    return sum(bounds) / len(bounds)
