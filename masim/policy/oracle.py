"""The oracle: the scripted workflow that knows what nobody can know, as the yardstick of what is possible at all.

It is the one policy that is shown the world (:attr:`masim.policy.base.Ask.world`). It reads who would take a load,
whose truck will come in time and how long the drive takes, sends the cheapest of the carriers that will not fail,
books by the true drive, and leaves alone what cannot be done. Where not all orders of a day can be completed it knows
which must give way and which slots the others need (:mod:`masim.policy.joint`). It acts through the same calls as
everybody else, so errors and lost answers hit it too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from weakref import WeakKeyDictionary

from masim.env.decision import Decision
from masim.env.leg_view import LegView
from masim.errors import ConfigError
from masim.policy.base import Ask, Choice
from masim.policy.joint import joint_plan
from masim.policy.workflow import Habits, Step, legal_choice
from masim.sim.carriers import Carrier
from masim.sim.plan import OrderPlan
from masim.sim.spec import Status
from masim.sim.wire import Slot
from masim.sim.world import World


class OraclePolicy:
    """Plays the workflow with the world's own knowledge; keeps nothing but the joint plan of each world it is shown."""

    name = "oracle"
    omniscient = True

    def __init__(self) -> None:
        self._plans: WeakKeyDictionary[World, _Plan] = WeakKeyDictionary()

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        """Return the next call for every question. Raises ConfigError when it is not shown the world."""
        return [self._choice(ask) for ask in asks]

    def _choice(self, ask: Ask) -> Choice:
        if ask.world is None:
            raise ConfigError("the oracle must be shown the world", "policy", "oracle", "runs and evaluations")
        plan = self._plans.get(ask.world)
        if plan is None:
            plan = self._plans[ask.world] = _Plan(ask.world)
        return legal_choice(ask.decision, _Knowing(ask.decision, ask.world, plan).wishes())


class _Plan:
    """The joint plan of one day, until something else happens than it says; none of a day that is under way already."""

    def __init__(self, world: World) -> None:
        able = [order for order in world.plan.orders if _able(world, order)]
        begun = any(dock.appointments or dock.holds for dock in world.docks.values())
        self.ways = None if begun else joint_plan(world, able)

    def slot(self, order: str, leg: int, stop: int) -> int:
        """Return the slot that a stop is to be booked at; -1: any that fits."""
        return -1 if self.ways is None or order not in self.ways else self.ways[order][2 * leg + stop][1]

    def gives_way(self, order: str) -> bool:
        """Return whether an order is left alone, so that others can be completed."""
        return self.ways is not None and order not in self.ways


class _Knowing(Step):
    """One decision of the oracle."""

    def __init__(self, decision: Decision, world: World, plan: _Plan) -> None:
        super().__init__(decision, Habits())
        self._world = world
        self._plan = plan

    def _order_of_choice(self, leg: LegView) -> list[int]:
        good = [c for c in range(self.table.n_carriers) if self._there(c) and self._good(leg, c)]
        return sorted(good, key=lambda c: self._carrier(c).price_cents(leg.order, self._index(leg)))

    def work(self, index: int, leg: LegView) -> Iterator[list[int]]:
        """Yield what could be done about a leg, nothing where nothing helps."""
        if not self._doomed(leg) and not (leg.dispatch == 0 and self._plan.gives_way(leg.order.id)):
            yield from super().work(index, leg)

    def _fits(self, index: int, stop: int, slot: Slot) -> bool:
        leg, grace_s = self.view.legs[index], self._world.spec.late_grace_s
        if not super()._fits(index, stop, slot) or not self._as_planned(leg, stop, slot):
            return False
        if stop == 0:
            if slot.start_s <= self._there_s(index):
                return False
            return slot.start_s + leg.plan.transit_s <= leg.plan.delivery_due_s + grace_s
        pickup = leg.stops[0].booked or leg.stops[0].held
        arrives_s = leg.plan.transit_s + (pickup.start_s if pickup else leg.plan.pickup_open_s)
        return arrives_s - grace_s <= slot.start_s <= leg.plan.delivery_due_s

    def _as_planned(self, leg: LegView, stop: int, slot: Slot) -> bool:
        """Return whether a slot is the planned one; a plan whose slot somebody else has taken is given up."""
        wanted = self._plan.slot(leg.order.id, self._index(leg), stop)
        if wanted < 0 or wanted == slot.index:
            return True
        if self._world.docks[leg.stops[stop].dock].no_room(wanted, leg.order.id):
            self._plan.ways = None
        return self._plan.ways is None

    def _there_s(self, index: int) -> float:
        """Return when the leg before brings the goods: a truck that comes at that very moment finds none yet."""
        if index % self.table.legs_per_order == 0:
            return -math.inf
        before = self.view.legs[index - 1].stops[1]
        slot = before.booked or before.held
        return slot.start_s if slot else -math.inf

    def _doomed(self, leg: LegView) -> bool:
        """Return whether no choice of carriers brings this order to its end."""
        size = self.table.legs_per_order
        first = self.view.orders.index(leg.order) * size
        return any(
            other.dispatch == 0 and not any(self._good(other, c) for c in range(self.table.n_carriers))
            for other in self.view.legs[first : first + size]
        )

    def _good(self, leg: LegView, carrier: int) -> bool:
        """Return whether a carrier takes the leg (or has taken it) and its truck is served."""
        name, order, index = self.view.carriers[carrier], leg.order, self._index(leg)
        late_s = self._world.lateness_s(name, order.id, index)
        if late_s > self._world.spec.late_grace_s:
            return False
        made = self._carrier(carrier).of_leg(order.id, index)
        if any(tender.status is Status.CONFIRMED for tender in made):
            return True
        waiting = any(tender.status is Status.PENDING for tender in made)
        return self._carrier(carrier).accepts(order.id, order.shipper, index, len(made) + (0 if waiting else 1))

    def _carrier(self, index: int) -> Carrier:
        return self._world.carriers[self.view.carriers[index]]

    def _index(self, leg: LegView) -> int:
        return leg.order.legs.index(leg.plan)


def _able(world: World, order: OrderPlan) -> bool:
    """Return whether every leg of an order has a carrier that takes it at once and comes in time."""
    return all(
        any(
            carrier.accepts(order.id, order.shipper, leg, 1)
            and world.lateness_s(name, order.id, leg) <= world.spec.late_grace_s
            for name, carrier in world.carriers.items()
        )
        for leg in range(len(order.legs))
    )
