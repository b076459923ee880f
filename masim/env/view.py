"""What one agent has been told: the only source of its observations and of what it may call.

A view changes when an answer or a message arrives, never by looking at the world. What it
may call follows from it (:mod:`masim.env.legality`).
"""

from __future__ import annotations

import numpy as np

from masim.arrays import I64
from masim.env.actions import STOPS, ActionTable
from masim.env.ends import Ends, where_of
from masim.env.leg_view import NO, NONE, PENDING, STATE_OF, UNKNOWN, YES, LegView, StopView, after_message, milestones
from masim.env.parts import parts_in
from masim.sim.docks import DECISION_PENDING
from masim.sim.plan import LegPlan, OrderPlan
from masim.sim.spec import AppointmentType, Status, Verb
from masim.sim.wire import ASK, GONE, NOT_YET, Answer, Body, Call, Message, Result, Stop
from masim.units import MINUTE

ASK_AGAIN_S = 30 * MINUTE
"""A carrier that has not joined yet may have by then."""


class AgentView:
    """One agent's knowledge of its own orders."""

    def __init__(self, table: ActionTable, orders: tuple[OrderPlan, ...]) -> None:
        n = table.n_carriers
        self.table = table
        self.orders = orders
        self.carriers = tuple(c.id for c in table.spec.carriers)
        self._carrier_index = {c: i for i, c in enumerate(self.carriers)}
        self._docks = {d.id for d in table.spec.docks}
        self._queues = {d.id for d in table.spec.docks if d.type is AppointmentType.FCFS}
        plans = [(leg, order) for order in orders for leg in order.legs]
        self.price = np.zeros((len(plans), n))
        """(legs, carriers), as the other arrays; each leg's view holds its own row of them."""
        self.quoted_until_s = np.zeros_like(self.price)
        self.tender = np.zeros(self.price.shape, dtype=np.int64)
        self.tries = np.zeros_like(self.tender)
        self.legs = [self._leg_view(i, leg, order) for i, (leg, order) in enumerate(plans)]
        self._first_leg = {order.id: i * table.legs_per_order for i, order in enumerate(orders)}
        self.declared = [False] * len(orders)
        self.ends = Ends(len(table))
        self._callers = self._endpoint_actions()
        self._reached = [0] * len(self.legs)
        self.last_code = 0
        self.messages = 0
        self.told_down: set[int] = set()
        """Carriers that their status page called down when it was read last."""
        self.last_text = ""
        """What a vendor wrote last: an observation in words shows it, as data."""
        self.away_until_s: dict[int, float] = {}
        """Carriers that said they are no more, or not there yet, and when to ask them again."""

    def _leg_view(self, i: int, leg: LegPlan, order: OrderPlan) -> LegView:
        stops = (self._stop_view(leg.pickup_dock), self._stop_view(leg.delivery_dock))
        return LegView(leg, order, self.price[i], self.quoted_until_s[i], self.tender[i], self.tries[i], stops)

    def _stop_view(self, dock: str) -> StopView:
        """A stop at a dock without appointments has nothing to book, as one without a dock."""
        return StopView("" if dock in self._queues else dock)

    def leg_of(self, order: str, leg: int) -> LegView:
        """Return the view of an order's leg."""
        return self.legs[self._first_leg[order] + leg]

    def fresh(self) -> AgentView:
        """Return the view of somebody who knows the orders alone."""
        return AgentView(self.table, self.orders)

    def holds(self, place: int) -> bool:
        """Return whether there is an order at a place of this agent's: of the table's ``n_orders``, from 0."""
        return place < len(self.orders)

    def owns(self, order: str) -> bool:
        """Return whether an order is this agent's: after a hand-over gone wrong it hears of others'."""
        return order in self._first_leg

    def order_index(self, order: str) -> int:
        """Return the position of an order among the agent's orders."""
        return self._first_leg[order] // self.table.legs_per_order

    # -- from an action to a call ---------------------------------------------------------------------------------

    def call(self, index: int) -> Call:
        """Return the call that an action stands for at this moment."""
        a = self.table.actions[index]
        verb = self.table.verb[index]
        order = self.orders[a.order].id
        within = a.leg % self.table.legs_per_order
        leg = self.legs[a.leg]
        if a.stop < 0:
            vendor = leg.dispatched_to if verb is Verb.TRACK else a.vendor
            return Call(verb, self.carriers[vendor], order, within)
        stop = leg.stops[a.stop]
        slot = stop.slots[a.rank].index if a.rank >= 0 else -1
        not_before = self.earliest_s(a.leg, a.stop) if verb is Verb.AVAILABILITY else 0.0
        return Call(verb, stop.dock, order, within, STOPS[a.stop], slot, not_before)

    def earliest_s(self, leg_index: int, stop: int) -> float:
        """Return when a slot makes sense at the earliest, by what is booked before it."""
        leg = self.legs[leg_index]
        if stop == 1:
            pickup = leg.stops[0].booked or leg.stops[0].held
            start = pickup.start_s if pickup else leg.plan.pickup_open_s
            return start + leg.plan.transit_plan_s
        if leg_index % self.table.legs_per_order:
            before = self.legs[leg_index - 1].stops[1]
            if before.booked:
                return max(leg.plan.pickup_open_s, before.booked.start_s)
        return leg.plan.pickup_open_s

    # -- what the agent is told -----------------------------------------------------------------------------------

    def sent(self, call: Call) -> None:
        """Count a tender that is on its way; what became of it shows in its answer."""
        leg = self.leg_of(call.order, call.leg)
        if call.verb is Verb.TENDER:
            carrier = self._carrier_index[call.vendor]
            leg.tries[carrier] += 1

    def answer(self, answer: Answer) -> None:
        """Take in the end of a call."""
        call, body = answer.call, answer.body
        self.last_code, self.last_text = body.code, body.problem
        self._note_end((call.verb, call.vendor), body.code, answer.t_s, body.retry_after_s)
        self.learn(answer)

    def learn(self, answer: Answer) -> None:
        """Take in what the end of a call, of this agent or another, says of an order."""
        call = answer.call
        leg = self.leg_of(call.order, call.leg)
        if call.stop is Stop.NONE:
            self._carrier_answer(leg, self._carrier_index[call.vendor], answer)
        else:
            self._dock_answer(leg.stops[STOPS.index(call.stop)], answer)
        self._note_milestones(self._first_leg[call.order] + call.leg)

    def _endpoint_actions(self) -> dict[tuple[Verb, str], I64 | slice]:
        """Return which actions call each endpoint, for this agent's orders of the day."""
        found: dict[tuple[Verb, str], list[int]] = {}
        for index, action in enumerate(self.table.actions):
            if action.leg >= 0:
                stops = self.legs[action.leg].stops
                vendor = self.carriers[action.vendor] if action.vendor >= 0 else stops[action.stop].dock
                found.setdefault((self.table.verb[index], vendor), []).append(index)
        return {key: where_of(indices) for key, indices in found.items()}

    def _note_end(self, endpoint: tuple[Verb, str], code: int, t_s: float, retry_after_s: float) -> None:
        ends = self.ends
        ends.code[endpoint], ends.last_s[endpoint] = code, t_s
        where = self._callers.get(endpoint)
        if where is not None:
            ends.note(where, code, t_s, t_s + retry_after_s)

    def retry_at_s(self, verb: Verb, vendor: str) -> float:
        """Return when an endpoint said that it may be asked again, 0 when it said nothing."""
        where = self._callers.get((verb, vendor))
        return float(self.ends.retry_at_s[where].flat[0]) if where is not None else 0.0

    def _carrier_answer(self, leg: LegView, carrier: int, answer: Answer) -> None:
        verb, body = answer.call.verb, answer.body
        ok = body.result in (Result.SUCCESS, Result.PENDING)
        if body.code in (404, 410) and body.problem.startswith((GONE, NOT_YET)):
            gone = body.problem.startswith(GONE)
            self.away_until_s[carrier] = np.inf if gone else answer.t_s + ASK_AGAIN_S
            self.tender[:, carrier] = np.where(self.tender[:, carrier] == NONE, NONE, NO)
        if verb is Verb.QUOTE and ok:
            leg.price[carrier] = body.price_cents
            leg.quoted_until_s[carrier] = body.expires_s
        elif verb is Verb.TENDER:
            self._tender_answer(leg, carrier, answer.body)
        elif verb is Verb.TENDER_STATUS and ok:
            leg.tender[carrier] = STATE_OF[body.status]
        elif verb is Verb.CANCEL_TENDER and ok:
            leg.tender[carrier] = NO
        elif verb is Verb.DISPATCH:
            self._dispatch_answer(leg, carrier, answer)
        elif verb is Verb.HEALTH and ok:
            up = body.status is Status.CONFIRMED
            self.told_down = self.told_down - {carrier} if up else self.told_down | {carrier}
        elif verb is Verb.TRACK and ok and body.status is Status.CONFIRMED:
            leg.dispatch = YES
            leg.road = {"delivered": YES, "under_way": NONE}.get(body.problem, NO)

    def _tender_answer(self, leg: LegView, carrier: int, body: Body) -> None:
        result = body.result
        if body.status is Status.CONFIRMED:
            leg.tender[carrier] = YES
        elif body.status is Status.REJECTED and leg.tender[carrier] != YES:
            leg.tender[carrier] = NO
        elif result is Result.PENDING and leg.tender[carrier] in (NONE, UNKNOWN, NO):
            leg.tender[carrier] = PENDING
        elif result is Result.TIMEOUT and leg.tender[carrier] in (NONE, NO):
            leg.tender[carrier] = UNKNOWN

    def _dispatch_answer(self, leg: LegView, carrier: int, answer: Answer) -> None:
        body = answer.body
        if body.result is Result.SUCCESS or (body.result is Result.FAILURE and body.code == 409):
            leg.dispatch, leg.dispatched_to = YES, carrier
        elif body.result is Result.TIMEOUT and leg.dispatch == NONE:
            leg.dispatch, leg.dispatched_to = UNKNOWN, carrier

    def _dock_answer(self, stop: StopView, answer: Answer) -> None:
        if answer.call.vendor != stop.dock:
            return  # the agent has turned to who took this dock's place since it asked
        verb, body = answer.call.verb, answer.body
        ok = body.result in (Result.SUCCESS, Result.PENDING)
        if body.code == 410 and body.problem.startswith(GONE):
            self._go_to_successor(stop.dock, body.problem.partition(ASK)[2])
        if body.code == 409 and answer.call.slot >= 0 and body.problem != DECISION_PENDING:
            stop.refused = stop.refused | {answer.call.slot}
        if verb is Verb.AVAILABILITY and ok:
            stop.slots, stop.slots_at_s = body.slots, answer.t_s
            stop.refused = stop.refused & {slot.index for slot in body.slots}
        elif verb is Verb.HOLD and ok:
            stop.held, stop.held_at_s, stop.held_until_s = body.slot, answer.t_s, body.expires_s
        elif verb in (Verb.SCHEDULE, Verb.RESCHEDULE):
            self._schedule_answer(stop, answer)
        elif verb is Verb.CANCEL_APPOINTMENT and (ok or body.code == 404):
            stop.state, stop.booked, stop.unconfirmed = NO, None, False
        elif verb is Verb.APPOINTMENT_DETAILS and ok:
            stop.state, stop.booked = STATE_OF[body.status], body.slot
            stop.unconfirmed = body.status is Status.UNCONFIRMED
        elif verb is Verb.CONFIRM_APPOINTMENT:
            self._confirm_answer(stop, body)

    def _go_to_successor(self, gone: str, successor: str) -> None:
        """Turn to who has taken a dock's place, for every leg that still waits; nothing is booked there yet."""
        if successor not in self._docks:
            return
        for leg in self.legs:
            if leg.dispatch != YES:
                first, last = (self._stop_view(successor) if stop.dock == gone else stop for stop in leg.stops)
                leg.stops = (first, last)
        self._callers = self._endpoint_actions()

    def _confirm_answer(self, stop: StopView, body: Body) -> None:
        if body.result is Result.SUCCESS:
            stop.state, stop.booked, stop.unconfirmed = STATE_OF[body.status], body.slot, False
        elif body.code == 404:
            stop.state, stop.booked, stop.unconfirmed = NO, None, False

    def _schedule_answer(self, stop: StopView, answer: Answer) -> None:
        body = answer.body
        if body.result in (Result.SUCCESS, Result.PENDING):
            stop.state, stop.booked, stop.held = STATE_OF[body.status], body.slot, None
            stop.unconfirmed = body.status is Status.UNCONFIRMED
        elif body.result is Result.TIMEOUT and stop.state in (NONE, NO):
            stop.state = UNKNOWN

    def message(self, message: Message) -> None:
        """Take in a callback."""
        self.messages += 1
        self.last_text = message.problem
        leg = self.leg_of(message.order, message.leg)
        if message.kind == "tender":
            carrier = self._carrier_index[message.vendor]
            leg.tender[carrier] = after_message(int(leg.tender[carrier]), message)
        elif message.kind == "appointment":
            leg.stops[STOPS.index(message.stop)].told(message)
        else:
            leg.road = YES if message.kind == "delivered" else NO
        self._note_milestones(self._first_leg[message.order] + message.leg)

    # -- keys -----------------------------------------------------------------------------------------------------

    def key_fields(self) -> tuple[int, ...]:
        """Return the canonical progress: which milestones every leg has ever reached, and how many orders are closed.

        Milestones are bounded and never lost, so going round in circles (hold, cancel, hold again) makes no new key;
        no clocks, ids, prices, counters or error texts.
        """
        closed = [done and self.is_dispatched(k) for k, done in enumerate(self.declared)]
        return (*self._reached, sum(closed))

    def is_dispatched(self, order: int) -> bool:
        """Return whether every leg of an order, by its place among the agent's orders, is dispatched."""
        first = order * self.table.legs_per_order
        return all(leg.dispatch == YES for leg in self.legs[first : first + self.table.legs_per_order])

    def subtasks_done(self) -> int:
        """Return how many parts of its orders were ever done in this agent's hands; it never falls."""
        return sum(self.parts_done(k) for k in range(len(self.orders)) if self.holds(k))

    def parts_done(self, order: int) -> int:
        """Return how many parts of an order were ever done: accepted, booked (each stop), dispatched, claimed."""
        first = order * self.table.legs_per_order
        closed = self.declared[order] and self.is_dispatched(order)
        return closed + parts_in(self._reached[first : first + self.table.legs_per_order])

    def _note_milestones(self, index: int) -> None:
        self._reached[index] |= milestones(self.legs[index])

    def finished(self) -> bool:
        """Return whether nothing is left to do: every leg dispatched, every order declared."""
        return all(self.declared) and all(leg.dispatch == YES for leg in self.legs)
