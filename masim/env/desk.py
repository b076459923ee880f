"""The view of an agent with a role: orders come to its places and go, and its role limits what it may do.

A place without an order looks like one where nothing is left to do: claimed and under way. What is known of an order
travels with it as a :class:`Brief`, less what the scenario's hand-overs drop.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np

from masim.arrays import F32, F64, I64, Bool
from masim.env.actions import ActionTable
from masim.env.features import LEG_F
from masim.env.leg_view import NONE, YES, LegView, StopView, milestones
from masim.env.view import AgentView
from masim.sim.plan import LegPlan, OrderPlan
from masim.sim.spec import Verb
from masim.sim.staff import RoleSpec
from masim.sim.wire import Answer

TURNED_DOWN = 409
"""How a hand-over that nobody took ended, in the code of a refused call."""
_NOWHERE = LegPlan("", "", 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Brief:
    """What is known of one order, on its way to another agent."""

    order: OrderPlan
    legs: tuple[LegView, ...]
    declared: bool
    reached: tuple[int, ...]

    def without(self, drops: Collection[str]) -> Brief:
        """Return the brief without some of :data:`masim.sim.staff.DROPS`."""
        if not drops:
            return self
        legs = tuple(_without(leg, drops) for leg in self.legs)
        return replace(self, legs=legs, reached=tuple(milestones(leg) for leg in legs))


def _without(leg: LegView, drops: Collection[str]) -> LegView:
    if "quotes" in drops:
        leg = replace(leg, price=np.zeros_like(leg.price), quoted_until_s=np.zeros_like(leg.quoted_until_s))
    if "trucks" in drops:
        leg = replace(leg, tender=np.full_like(leg.tender, NONE), tries=np.zeros_like(leg.tries))
        leg.dispatch, leg.dispatched_to, leg.road = NONE, -1, NONE
    if "appointments" in drops:
        pickup, delivery = leg.stops
        leg = replace(leg, stops=(StopView(pickup.dock), StopView(delivery.dock)))
    return leg


class DeskView(AgentView):
    """What an agent with a role knows of the orders that it has."""

    def __init__(self, table: ActionTable, orders: tuple[OrderPlan, ...], role: RoleSpec) -> None:
        """Build the view of ``orders``, which may hold vacancies; missing ones at the end are vacant."""
        self._shipper = table.spec.shippers[0]
        self._retry_s: dict[tuple[Verb, str], float] = {}
        missing = (self._vacancy(table),) * (table.n_orders - len(orders))
        super().__init__(table, (*orders, *missing))
        self.role = role
        self.permits = permits(table, role)
        """(K,): what the role may do, wherever it is legal."""
        self.targets = targets(table, role)
        """(order, role) -> index of the hand-overs that the role may make."""
        self.leaving: set[int] = set()
        """Places whose order is being handed over: its agent only waits for news of it."""
        self.turned_down_s: dict[str, float] = {}
        """When an order was last handed over in vain."""
        self.leaves_s = math.inf
        """When the agent goes, in simulated seconds."""
        self.receives = receives(table, role)
        self._elsewhere = 0
        """Parts of orders that were done here of orders that have gone, less those that came done."""
        self.done = False
        """Nothing is left to do for anybody."""
        for place, order in enumerate(self.orders):
            if not order.id:
                self._vacate(place)

    def _vacancy(self, table: ActionTable) -> OrderPlan:
        return OrderPlan("", "", self._shipper, 0.0, (_NOWHERE,) * table.legs_per_order, 0)

    # -- places ---------------------------------------------------------------------------------------------------

    def holds(self, place: int) -> bool:
        """Return whether there is an order at a place."""
        return bool(self.orders[place].id)

    def held(self) -> Iterator[int]:
        """Yield the places that have an order."""
        return (place for place, order in enumerate(self.orders) if order.id)

    def closed(self, place: int) -> bool:
        """Return whether an order is claimed and every leg under way."""
        return self.declared[place] and all(self.legs[i].dispatch == YES for i in self._span(place))

    def fresh(self) -> DeskView:
        """Return the view of somebody who knows the orders alone."""
        view = DeskView(self.table, self.orders, self.role)
        view.leaving, view.turned_down_s = self.leaving, self.turned_down_s
        view.leaves_s, view.done = self.leaves_s, self.done
        return view

    def finished(self) -> bool:
        """Return whether nothing is left to do, and nothing can come any more."""
        return self.done or (not self.receives and super().finished())

    def give(self, order: str) -> Brief:
        """Part with an order; its place is vacant then."""
        place = self.order_index(order)
        self._elsewhere += self.parts_done(place)
        legs = tuple(_copied(self.legs[i]) for i in self._span(place))
        reached = tuple(self._reached[i] for i in self._span(place))
        brief = Brief(self.orders[place], legs, self.declared[place], reached)
        self._settle(place, self._vacancy(self.table))
        self._vacate(place)
        return brief

    def take(self, brief: Brief) -> None:
        """Take an order over at the first vacant place. The world saw to it that there is one."""
        place = next(k for k, order in enumerate(self.orders) if not order.id)
        self._settle(place, brief.order)
        for i, leg, reached in zip(self._span(place), brief.legs, brief.reached, strict=True):
            self.price[i], self.quoted_until_s[i] = leg.price, leg.quoted_until_s
            self.tender[i], self.tries[i] = leg.tender, leg.tries
            self.legs[i] = self._on_rows(i, leg)
            self._reached[i] = reached
        self.declared[place] = brief.declared
        self._elsewhere -= self.parts_done(place)
        self._recall_ends()

    def keep(self, order: str, role: str, now_s: float) -> None:
        """Go on with an order that no agent of a role took; the hand-over shows as a call that was refused."""
        place = self.order_index(order)
        self.leaving.discard(place)
        self.turned_down_s[order] = now_s
        index = next(i for (at, to), i in self.targets.items() if at == place and table_role(self.table, to) == role)
        self.ends.note(slice(index, index + 1), TURNED_DOWN, now_s, now_s)

    def _span(self, place: int) -> range:
        first = place * self.table.legs_per_order
        return range(first, first + self.table.legs_per_order)

    def _settle(self, place: int, order: OrderPlan) -> None:
        """Let a place belong to an order that nothing is known of."""
        self.orders = (*self.orders[:place], order, *self.orders[place + 1 :])
        for i, leg in zip(self._span(place), order.legs, strict=True):
            for rows in (self.price, self.quoted_until_s, self.tender, self.tries):
                rows[i] = 0
            self.legs[i] = self._leg_view(i, leg, order)
            self._reached[i] = 0
        self.ends.forget(np.flatnonzero(self.table.order == place))
        self.leaving.discard(place)
        self._first_leg = {o.id: k * self.table.legs_per_order for k, o in enumerate(self.orders) if o.id}

    def _vacate(self, place: int) -> None:
        """Let a place look like one where nothing is left to do."""
        self.declared[place] = True
        for i in self._span(place):
            self.legs[i].dispatch = YES

    def _on_rows(self, i: int, leg: LegView) -> LegView:
        """Return what is known of a leg with its arrays as rows of this view's."""
        rows = (self.price[i], self.quoted_until_s[i], self.tender[i], self.tries[i])
        return LegView(leg.plan, leg.order, *rows, leg.stops, leg.dispatch, leg.dispatched_to, leg.road)

    def subtasks_done(self) -> int:
        """Return how many parts of orders were ever done in this agent's hands; it never falls."""
        return super().subtasks_done() + self._elsewhere

    # -- what the agent is told -----------------------------------------------------------------------------------

    def learn(self, answer: Answer) -> None:
        """Take in what the end of a call says of an order, if it is still here."""
        if self.owns(answer.call.order):
            super().learn(answer)

    def _note_end(self, endpoint: tuple[Verb, str], code: int, t_s: float, retry_after_s: float) -> None:
        self._retry_s[endpoint] = retry_after_s
        super()._note_end(endpoint, code, t_s, retry_after_s)

    def _recall_ends(self) -> None:
        """Lay what is known of endpoints over the actions that call them since an order has come."""
        self._callers = self._endpoint_actions()
        for endpoint, code in self.ends.code.items():
            super()._note_end(endpoint, code, self.ends.last_s[endpoint], self._retry_s[endpoint])

    # -- what it may do -------------------------------------------------------------------------------------------

    def permitted(self, mask: Bool) -> Bool:
        """Return of a (K,) mask of legal actions those that the role may do, with its hand-overs."""
        mask = mask & self.permits
        for (place, _), index in self.targets.items():
            mask[index] = self.holds(place) and not self.closed(place)
        # Waits are of no order, -1, and so of the last entry.
        open_ = np.array([*(k not in self.leaving and self.holds(k) for k in range(len(self.orders))), True])
        mask &= open_[self.table.order]
        return mask

    def blank(self, context: F32) -> None:
        """Show vacant places in a context as zeros."""
        for place in range(len(self.orders)):
            if not self.holds(place):
                span = self._span(place)
                context[span.start * LEG_F : span.stop * LEG_F] = 0.0

    def key_fields(self) -> tuple[int, ...]:
        """Return the canonical progress, and which places have an order that stays."""
        return (*super().key_fields(), *(self.holds(k) + (k in self.leaving) for k in range(len(self.orders))))


def _copied(leg: LegView) -> LegView:
    rows: tuple[F64, F64, I64, I64] = (
        leg.price.copy(),
        leg.quoted_until_s.copy(),
        leg.tender.copy(),
        leg.tries.copy(),
    )
    return LegView(leg.plan, leg.order, *rows, leg.stops, leg.dispatch, leg.dispatched_to, leg.road)


def permits(table: ActionTable, role: RoleSpec) -> Bool:
    """Return the (K,) mask of what a role may ever do."""
    allowed = np.array([verb is Verb.WAIT or verb.value in role.verbs for verb in table.verb], dtype=np.bool_)
    allowed[: table.n_waits] = True
    for (_, index), action in table.hand_overs.items():
        allowed[action] = table_role(table, index) in role.hands_to
    return allowed


def targets(table: ActionTable, role: RoleSpec) -> dict[tuple[int, int], int]:
    """Return the hand-overs that a role may make, by (order, role)."""
    return {key: index for key, index in table.hand_overs.items() if table_role(table, key[1]) in role.hands_to}


def table_role(table: ActionTable, index: int) -> str:
    """Return the name of a role by its position; empty in a scenario without roles."""
    return "" if table.spec.staff is None else table.spec.staff.roles[index].name


def receives(table: ActionTable, role: RoleSpec) -> bool:
    """Return whether anybody may hand an order to a role."""
    givers = () if table.spec.staff is None else table.spec.staff.roles
    return any(role.name in giver.hands_to and (giver is not role or role.count > 1) for giver in givers)
