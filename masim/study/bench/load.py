"""The load of a benchmark: which call is sent when, drawn from a seed and nothing else.

Every order goes through the same chain of calls, spread over the booking phase; carriers and slots are drawn by keyed
noise, not chosen by a policy, so the load is the same whatever the vendors answer and whoever simulates them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from masim.rng import Noise, mixed_uniforms
from masim.sim.plan import OrderPlan, Plan
from masim.sim.spec import CARRIER_VERBS, Verb, WorldSpec
from masim.sim.wire import Call, Stop
from masim.study.bench.sizes import CALLS_PER_ORDER

FIRST, SECOND = 0, 1
P, D, N = Stop.PICKUP, Stop.DELIVERY, Stop.NONE
CHAIN: tuple[tuple[Verb, Stop, int], ...] = (
    (Verb.QUOTE, N, FIRST),
    (Verb.QUOTE, N, SECOND),
    (Verb.TENDER, N, FIRST),
    (Verb.AVAILABILITY, P, FIRST),
    (Verb.HOLD, P, FIRST),
    (Verb.SCHEDULE, P, FIRST),
    (Verb.SCHEDULE, D, SECOND),
    (Verb.TENDER, N, SECOND),
    (Verb.CANCEL_APPOINTMENT, D, SECOND),
    (Verb.AVAILABILITY, D, FIRST),
    (Verb.HOLD, D, FIRST),
    (Verb.SCHEDULE, D, FIRST),
    (Verb.TENDER_STATUS, N, FIRST),
    (Verb.APPOINTMENT_DETAILS, P, FIRST),
    (Verb.CANCEL_TENDER, N, SECOND),
    (Verb.APPOINTMENT_DETAILS, D, FIRST),
    (Verb.RESCHEDULE, P, SECOND),
    (Verb.TENDER_STATUS, N, FIRST),
    (Verb.DISPATCH, N, FIRST),
    (Verb.TRACK, N, FIRST),
)
"""One leg of an order: verb, stop, and which of two carriers or slots."""
SLOTS = {(0, P): (5, 2), (0, D): (8, 3), (1, P): (10, 2), (1, D): (13, 3)}
"""First slot and number of slots that a stop of a leg asks for, in hours after the docks open."""
BLOCK = 8192


class Load:
    """The calls of one day in order of time; iterating yields ``(t_s, agent, call)``."""

    def __init__(self, spec: WorldSpec, plan: Plan) -> None:
        self._spec = spec
        self._plan = plan
        instance = plan.instance
        self._seed = Noise(instance.campaign_seed, f"{instance.namespace}/day{instance.day}").seed64("load")
        self._carriers = tuple(carrier.id for carrier in spec.carriers)
        self.total = len(plan.orders) * CALLS_PER_ORDER

    def __iter__(self) -> Iterator[tuple[float, str, Call]]:
        orders = self._plan.orders
        n = len(orders)
        start = self._plan.day0_s + self._spec.day_start_s
        span = (self._spec.booking_end_s - self._spec.day_start_s) / self.total
        for first in range(0, self.total, BLOCK):
            index = np.arange(first, min(first + BLOCK, self.total), dtype=np.uint64)
            within = mixed_uniforms(np.full(len(index), self._seed, dtype=np.uint64), index)
            times = start + (index.astype(np.float64) + within) * span
            for i, t_s in enumerate(times.tolist(), first):
                order = orders[i % n]
                yield t_s, order.agent, self._call(i % n, order, i // n)

    def _call(self, number: int, order: OrderPlan, step: int) -> Call:
        leg, position = divmod(step, len(CHAIN))
        verb, stop, which = CHAIN[position]
        if verb in CARRIER_VERBS:
            pick = (self._seed + 7919 * number + 31 * leg + 17 * which) % len(self._carriers)
            return Call(verb, self._carriers[pick], order.id, leg)
        plan = order.legs[leg]
        vendor = plan.pickup_dock if stop is Stop.PICKUP else plan.delivery_dock
        first, count = SLOTS[leg, stop]
        at = first + (self._seed + 104729 * number + which) % count
        return Call(verb, vendor, order.id, leg, stop, at)
