"""Who owns which order now: one agent at a time, from the plan on and through every hand-over.

A hand-over is a note that is under way for a while. Until it arrives the order stays where it was; then the agent of
the wanted role that has the fewest orders takes it, or nobody does and it stays where it is. The credit for an order
does not move: it is the agent's that owned it at the reset (:attr:`masim.sim.plan.OrderPlan.agent`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from masim.rng import Noise
from masim.sim.clock import Clock
from masim.sim.plan import OrderPlan
from masim.sim.spec import Status
from masim.sim.staff import StaffSpec
from masim.sim.wire import Message

Moved = Callable[[str, str, str, str], None]
"""``moved(order, giver, role, taker)``: a note has arrived; the taker is empty when nobody took the order."""
Tell = Callable[[str, str, Status, str], None]
"""``tell(agent, order, status, note)`` writes a row of the trace."""


class Ownership:
    """The owners of one day's orders."""

    __slots__ = ("_clock", "_moved", "_noise", "_owner", "_sent", "_staff", "_takes", "_tell")

    def __init__(self, staff: StaffSpec, orders: Sequence[OrderPlan], clock: Clock, noise: Noise, tell: Tell) -> None:
        self._staff = staff
        self._clock = clock
        self._noise = noise
        self._tell = tell
        self._owner = {order.id: order.agent for order in orders}
        self._sent: dict[str, int] = {}
        self._takes: Callable[[str], bool] = lambda agent: True
        self._moved: Moved = lambda order, giver, role, taker: None

    def listen(self, takes: Callable[[str], bool], moved: Moved) -> None:
        """Say who can take an order at a moment, and who wants to know how a hand-over ended."""
        self._takes, self._moved = takes, moved

    def of(self, order: str) -> str:
        """Return the agent that owns an order now."""
        return self._owner[order]

    def held(self, agent: str) -> int:
        """Return how many orders an agent owns now."""
        return sum(owner == agent for owner in self._owner.values())

    def addressed(self, message: Message) -> Message:
        """Return a callback as it goes to the agent that owns its order now."""
        owner = self._owner.get(message.order, message.agent)
        return message if owner == message.agent else message.to(owner)

    def hand_over(self, order: str, role: str) -> None:
        """Send an order on its way to an agent of a role."""
        giver = self._owner[order]
        nth = self._sent.get(order, 0)
        self._sent[order] = nth + 1
        delay_s = self._staff.delay.ppf(self._noise.uniform("hand over", giver, order, nth))
        self._tell(giver, order, Status.PENDING, f"to {role}")
        self._clock.at(self._clock.now + delay_s, self._arrive, order, giver, role)

    def _arrive(self, order: str, giver: str, role: str) -> None:
        taker = self._taker(giver, role)
        if taker:
            self._owner[order] = taker
            self._tell(taker, order, Status.CONFIRMED, f"from {giver}")
        else:
            self._tell(giver, order, Status.REJECTED, f"no {role} takes it")
        self._moved(order, giver, role, taker)

    def _taker(self, giver: str, role: str) -> str:
        """Return who takes an order: the one with the fewest, the first of equals, nobody without a place."""
        names = next(r.agents for r in self._staff.roles if r.name == role)
        able = [a for a in names if a != giver and self.held(a) < self._staff.places and self._takes(a)]
        return min(able, key=self.held, default="")
