"""Carrying out what an agent chose: a call, a wait or a claim, also when a fault strikes the moment of choosing.

The session decides whose turn it is; from here it only hears, by ``ask``, that an agent has to be asked again.
"""

from __future__ import annotations

from collections.abc import Callable

from masim.env.actions import ActionTable
from masim.env.decision import Reason, Seat
from masim.env.roles import hand_over
from masim.sim.faults.base import SubmitChange
from masim.sim.faults.event import call_at
from masim.sim.spec import Verb
from masim.sim.wire import Call
from masim.sim.world import World
from masim.tools.client import Clients
from masim.tools.transport import Transport

Ask = Callable[[Seat, Reason], None]
"""Takes an agent that is free again, and why it is."""


class Hands:
    """What all agents of one session act with."""

    __slots__ = ("_ask", "_clients", "_table", "_transport", "_world")

    def __init__(
        self, world: World, table: ActionTable, transport: Transport, clients: Clients | None, ask: Ask
    ) -> None:
        self._world = world
        self._table = table
        self._transport = transport
        self._clients = clients
        self._ask = ask

    def act(self, seat: Seat, action: int) -> None:
        """Carry out one action of the table, which must be legal."""
        verb = self._table.verb[action]
        if verb is Verb.WAIT:
            self._wait(seat, self._table.actions[action].wait_s)
        elif verb is Verb.DECLARE:
            self._declare(seat, self._table.actions[action].order)
        elif verb is Verb.HAND_OVER:
            hand_over(self._world, self._table.actions[action], seat)
            self._ask(seat, Reason.HANDED_OVER)
        else:
            self.call(seat, seat.view.call(action))

    def call(self, seat: Seat, call: Call, nth: int = 0) -> None:
        """Send a call of a decision, the ``nth`` of its actions."""
        seat.view.sent(call)
        seat.busy = True
        change = self._struck(seat, call, nth)
        if change is None:
            self._send(seat, call)
        else:
            self._send_struck(seat, call, change)

    def _send(self, seat: Seat, call: Call) -> None:
        self._transport.send(seat.name, call, self._world.spec.client_deadline_s)

    def _struck(self, seat: Seat, call: Call, nth: int) -> SubmitChange | None:
        faults = self._world.faults
        if faults is None:
            return None
        key = f"submit\x1f{seat.name}\x1f{seat.decisions}"
        return faults.on_submit(call_at(seat.name, call, self._world.clock.now), f"{key}\x1f{nth}" if nth else key)

    def _send_struck(self, seat: Seat, call: Call, change: SubmitChange) -> None:
        """Carry a call out as a fault makes it: after a person was asked, twice, or with what was known lost."""
        world, clients = self._world, self._clients
        now, deadline_s = world.clock.now, world.spec.client_deadline_s
        for other, after_s in change.twins:
            twin = call if clients is None else clients.keyed(other, call)
            world.clock.at(now + after_s, world.gateway.send_unheard, other, twin, deadline_s)
        if clients is not None:
            call = clients.keyed(seat.name, call)
        if change.repeat:
            world.gateway.send_unheard(seat.name, call, deadline_s)
        if change.forget:
            seat.view = seat.view.fresh()
            seat.legal = None
        world.clock.at(now + change.delay_s, self._send, seat, call)

    def _wait(self, seat: Seat, wait_s: float) -> None:
        seat.waiting = seat.waits
        seat.waits += 1
        clock = self._world.clock
        clock.at(clock.now + wait_s, self._wait_over, seat, seat.waiting)

    def _wait_over(self, seat: Seat, number: int) -> None:
        if seat.waiting == number:
            self._ask(seat, Reason.TIMER)

    def _declare(self, seat: Seat, order_index: int) -> None:
        order = seat.view.orders[order_index]
        if not self._world.declare(seat.name, order.id):
            seat.pay(self._world.clock.now, pen=self._world.spec.rewards.unsupported_claim)
        seat.view.declared[order_index] = True
        seat.legal = None
        self._ask(seat, Reason.CLAIM_RECORDED)
