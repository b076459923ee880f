"""What the agents of a session are told: how their calls end, callbacks, and what becomes of their trucks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from masim.env.decision import Reason, Seat
from masim.env.recollection import from_answer, from_message, from_road
from masim.env.roles import Roles
from masim.env.turns import Turns
from masim.sim.trucks import Leg
from masim.sim.wire import Answer, Message, Result
from masim.sim.world import World
from masim.tools.client import LOCAL, Clients


class Ears:
    """Takes what the world reports to its agents' views and memories, and says whose turn it ends."""

    __slots__ = ("_clients", "_ended", "_roles", "_seats", "_turns", "_world")

    def join(
        self,
        world: World,
        seats: Mapping[str, Seat],
        parts: tuple[Clients | None, Roles | None, Turns | None],
        ended: Callable[[Seat, Reason], None],
    ) -> None:
        """Take over the session's parts: the world cannot be built without somebody to report to."""
        self._world = world
        self._seats = seats
        self._clients, self._roles, self._turns = parts
        self._ended = ended

    def attempt(self, answer: Answer) -> None:
        """Take the end of an attempt: the agent's client may make another one."""
        if self._clients is not None:
            self._clients.hear(answer)

    def answer(self, answer: Answer) -> None:
        """Take the end of a call."""
        seat = self._seats[answer.agent]
        seat.view.answer(answer)
        seat.heard.append(answer)
        seat.legal = None
        if self._roles is not None:
            self._roles.pass_on(answer)
        if answer.request_id != LOCAL:
            seat.memory.hear(from_answer(answer, self._shipper(answer.call.order)))
        if self._turns is not None:
            self._turns.answered(answer)
        timeout = answer.body.result is Result.TIMEOUT
        self._ended(seat, Reason.TIMEOUT if timeout else Reason.CALL_RETURNED)

    def message(self, message: Message) -> None:
        """Take a callback, which ends a wait; one about an order that is somebody else's is not for this agent."""
        seat = self._seats[message.agent]
        if not seat.view.owns(message.order):
            return
        seat.view.message(message)
        seat.heard.append(message)
        seat.legal = None
        if self._clients is not None:
            self._clients.told(message)
        seat.memory.hear(from_message(message, self._shipper(message.order)))
        if seat.waiting >= 0:
            self._ended(seat, Reason.MESSAGE)

    def road(self, leg: Leg, kind: str, problem: str) -> None:
        """Tell the memory how a leg ended, also when its agent has left."""
        order = leg.order
        event = from_road(kind, problem, leg.carrier, order.id, order.shipper, self._world.clock.now)
        owner = self._seats[order.agent] if self._roles is None else self._roles.owner(order.id)
        owner.memory.hear(event)

    def _shipper(self, order: str) -> str:
        return self._world.orders[order].shipper
