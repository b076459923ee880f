"""Which orders of a day can be completed together, and by which slots: a search over all agents' bookings at once.

Agents that each take the first slot that fits can keep all of them from completing anything: the bookings of orders
that will fail stand in the way of those that would not. The search gives each order the earliest slots that leave the
most orders possible, and says which orders must give way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from masim.sim.plan import OrderPlan
from masim.sim.spec import AppointmentType
from masim.sim.wire import Stop
from masim.sim.world import World

MAX_STATES = 20_000
"""States that the search looks at before it gives up; a day of a few orders at small docks has some hundred."""
Place = tuple[str, int]
"""Dock and slot."""
Way = tuple[Place, ...]
"""The slots of one order: pickup and delivery of each leg in turn."""
Taken = frozenset[tuple[Place, int]]


def joint_plan(world: World, orders: list[OrderPlan]) -> Mapping[str, Way] | None:
    """Return the slots of as many orders as can be completed together.

    None where nobody has to give way, where a stop is not booked by slots, or where the search gives up: then whoever
    takes the first slot that fits does as well as any plan that is known.
    """
    stops = [world.legs[order.id, i].dock(stop) for order in orders for i, stop in _stops(order)]
    if not all(dock and world.docks[dock].spec.type is not AppointmentType.FCFS for dock in stops):
        return None
    search = _Search(world, orders)
    best = search.most(0, frozenset())
    if best is None or len(best) == len(orders):
        return None
    return {order.id: way for order, way in best}


def _stops(order: OrderPlan) -> Iterator[tuple[int, Stop]]:
    yield from product(range(len(order.legs)), (Stop.PICKUP, Stop.DELIVERY))


Chosen = tuple[tuple[OrderPlan, Way], ...]


class _Search:
    """Depth first, each order by its earliest slots first; what was found from a state is kept."""

    def __init__(self, world: World, orders: list[OrderPlan]) -> None:
        self._world = world
        self._orders = orders
        self._ways = [list(self._all_ways(order)) for order in orders]
        self._found: dict[tuple[int, Taken], Chosen] = {}
        self._given_up = False

    def most(self, i: int, taken: Taken) -> Chosen | None:
        """Return the most of the orders from the i-th on that fit beside what is taken; None: given up."""
        left = len(self._orders) - i
        if left == 0:
            return ()
        known = self._found.get((i, taken))
        if known is not None:
            return known
        best: Chosen = ()
        for way in (*self._ways[i], None):
            after = taken if way is None else self._with(taken, way)
            if after is None:
                continue
            rest = self.most(i + 1, after)
            if rest is None or len(self._found) > MAX_STATES:
                return None
            found = rest if way is None else ((self._orders[i], way), *rest)
            best = max(best, found, key=len)
            if len(best) == left:
                break
        self._found[i, taken] = best
        return best

    def _with(self, taken: Taken, way: Way) -> Taken | None:
        """Return what is taken with one more order, None where a slot has no place left."""
        count = dict(taken)
        for place in way:
            count[place] = count.get(place, 0) + 1
        full = any(count[dock, slot] > self._world.docks[dock].free(slot) for dock, slot in way)
        return None if full else frozenset(count.items())

    def _all_ways(self, order: OrderPlan, leg: int = 0, ready_s: float = 0.0) -> Iterator[Way]:
        """Yield the ways to move an order from one leg on, earliest first; the goods are there at ``ready_s``."""
        if leg == len(order.legs):
            yield ()
            return
        plan, grace_s = order.legs[leg], self._world.spec.late_grace_s
        drive_s = max(plan.transit_plan_s, plan.transit_s - grace_s)
        last_s = plan.delivery_due_s + min(0.0, grace_s - plan.transit_s)
        for pickup, start_s in self._slots(order, leg, Stop.PICKUP, plan.pickup_open_s, last_s):
            if start_s <= ready_s:
                continue
            for delivery, end_s in self._slots(order, leg, Stop.DELIVERY, start_s + drive_s, plan.delivery_due_s):
                for rest in self._all_ways(order, leg + 1, end_s):
                    yield (pickup, delivery, *rest)

    def _slots(
        self, order: OrderPlan, leg: int, stop: Stop, low_s: float, high_s: float
    ) -> Iterator[tuple[Place, float]]:
        dock = self._world.docks[self._world.legs[order.id, leg].dock(stop)]
        for slot in range(dock.n_slots):
            start_s = dock.start_s(slot)
            if low_s <= start_s <= high_s and not dock.refusal(slot, order.id):
                yield (dock.spec.id, slot), start_s
