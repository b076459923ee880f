"""The most orders that can be completed in a small world of two legs, found by trying everything.

Each order goes plant, store, depot. Carriers are always or never on time and take a shipper's loads or do not, transit
is what is planned, and nobody else books. An order needs four slots in that order of time: the search tries every
quadruple for every order against what is left of each slot.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from masim.scenario.load import load_scenario
from masim.sim.plan import OrderPlan, draw_plan
from masim.sim.spec import DockSpec, Instance, WorldSpec

LEGS = (
    "[{{pickup_docks: [plant], delivery_docks: [store], pickup_open: '10:00', delivery_due: '{due}', "
    "transit: {{constant: '2 h'}}, transit_plan: '2 h'}}, "
    "{{pickup_docks: [store], delivery_docks: [depot], pickup_open: '{opens}', delivery_due: '20:00', "
    "transit: {{constant: '2 h'}}, transit_plan: '2 h'}}]"
)
Taken = tuple[tuple[str, int, int], ...]
"""How many bookings each (dock, slot) has, sorted, none that has none."""


def two_leg_world(part: str, agents: int, capacity: int, hours: tuple[str, str, str, str], on_time: str) -> WorldSpec:
    """Return the world; ``hours`` are the store's close, the depot's close, leg 1's due time and leg 2's opening."""
    store, depot, due, opens = hours
    docks = f"[{{id: plant}}, {{id: store, close: '{store}'}}, {{id: depot, close: '{depot}'}}]"
    return load_scenario(
        part,
        {
            "agents.count": str(agents),
            "agents.max_decisions": "120",
            "docks": docks,
            "dock_defaults.capacity": str(capacity),
            "hidden.on_time_p": on_time,
            "hidden.refused_per_shipper": "1",
            "orders.legs": LEGS.format(due=due, opens=opens),
        },
    ).spec


def best_of_two_legs(spec: WorldSpec, seed: int) -> int:
    """Return the most orders that anybody could complete."""
    plan = draw_plan(spec, Instance(seed, 0, "eval"))
    docks = {dock.id: dock for dock in spec.docks}
    able = [
        order
        for order in plan.orders
        if any(
            plan.hidden.on_time_p[c.id] == 1 and c.id not in plan.hidden.refused[order.shipper] for c in spec.carriers
        )
    ]
    ways = list(_ways(docks, able[0])) if able else []

    @cache
    def most(orders: int, taken: Taken) -> int:
        if orders == 0:
            return 0
        best = 0
        for way in ways:
            after = _book(docks, taken, way)
            if after is not None:
                best = max(best, 1 + most(orders - 1, after))
                if best == orders:
                    break
        return best

    return most(len(able), ())


def _ways(docks: dict[str, DockSpec], order: OrderPlan) -> Iterator[list[tuple[str, int]]]:
    """Yield the four slots of every way to move an order."""
    first, second = order.legs
    for p, p_s in _slots(docks[first.pickup_dock], first.pickup_open_s):
        for d, d_s in _slots(docks[first.delivery_dock], p_s + first.transit_s, first.delivery_due_s):
            for q, q_s in _slots(docks[second.pickup_dock], second.pickup_open_s):
                if q_s <= d_s:  # a truck that comes at the very moment of the delivery finds no goods yet
                    continue
                for e, _ in _slots(docks[second.delivery_dock], q_s + second.transit_s, second.delivery_due_s):
                    yield [("plant", p), ("store", d), ("store", q), ("depot", e)]


def _slots(dock: DockSpec, low_s: float, high_s: float = float("inf")) -> Iterator[tuple[int, float]]:
    for k in range(int((dock.close_s - dock.open_s) / dock.slot_s)):
        start_s = dock.open_s + k * dock.slot_s
        if low_s <= start_s <= high_s:
            yield k, start_s


def _book(docks: dict[str, DockSpec], taken: Taken, way: list[tuple[str, int]]) -> Taken | None:
    """Return the bookings with those of one more order, None where a slot is full."""
    count = {(dock, slot): n for dock, slot, n in taken}
    for place in way:
        count[place] = count.get(place, 0) + 1
        if count[place] > docks[place[0]].capacity:
            return None
    return tuple(sorted((dock, slot, n) for (dock, slot), n in count.items()))
