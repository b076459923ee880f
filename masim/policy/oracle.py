"""The oracle: the scripted workflow that knows what nobody can know, as the yardstick of what is possible at all.

It is the one policy that is shown the world (:attr:`masim.policy.base.Ask.world`). It reads who would take a load,
whose truck will come in time and how long the drive takes, sends the cheapest of the carriers that will not fail,
books by the true drive, and leaves alone what cannot be done. It acts through the same calls as everybody else, so
errors and lost answers hit it too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from masim.env.decision import Decision
from masim.env.leg_view import LegView
from masim.errors import ConfigError
from masim.policy.base import Ask, Choice
from masim.policy.workflow import Habits, Step, legal_choice
from masim.sim.carriers import Carrier
from masim.sim.spec import Status
from masim.sim.wire import Slot
from masim.sim.world import World


class OraclePolicy:
    """Plays the workflow with the world's own knowledge; stateless."""

    name = "oracle"
    omniscient = True

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        """Return the next call for every question. Raises ConfigError when it is not shown the world."""
        return [self._choice(ask) for ask in asks]

    @staticmethod
    def _choice(ask: Ask) -> Choice:
        if ask.world is None:
            raise ConfigError("the oracle must be shown the world", "policy", "oracle", "runs and evaluations")
        return legal_choice(ask.decision, _Knowing(ask.decision, ask.world).wishes())


class _Knowing(Step):
    """One decision of the oracle."""

    def __init__(self, decision: Decision, world: World) -> None:
        super().__init__(decision, Habits())
        self._world = world

    def _order_of_choice(self, leg: LegView) -> list[int]:
        good = [c for c in range(self.table.n_carriers) if self._good(leg, c)]
        return sorted(good, key=lambda c: self._carrier(c).price_cents(leg.order, self._index(leg)))

    def work(self, index: int, leg: LegView) -> Iterator[list[int]]:
        """Yield what could be done about a leg, nothing where nothing helps."""
        if not self._doomed(leg):
            yield from super().work(index, leg)

    def _fits(self, index: int, stop: int, slot: Slot) -> bool:
        leg, grace_s = self.view.legs[index], self._world.spec.late_grace_s
        if not super()._fits(index, stop, slot):
            return False
        if stop == 0:
            if slot.start_s <= self._there_s(index):
                return False
            return slot.start_s + leg.plan.transit_s <= leg.plan.delivery_due_s + grace_s
        pickup = leg.stops[0].booked or leg.stops[0].held
        arrives_s = leg.plan.transit_s + (pickup.start_s if pickup else leg.plan.pickup_open_s)
        return arrives_s - grace_s <= slot.start_s <= leg.plan.delivery_due_s

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
