"""Roles in a session: who is there, what changes hands, and when nothing is left to do for anybody.

An agent that has not joined yet is away and is asked nothing; one that has left has no more turns. Both are absorbing
in every adapter. What they own goes on in the world, and its reward is theirs when it lands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from masim.env.actions import Action, ActionTable
from masim.env.decision import Reason, Seat
from masim.env.desk import DeskView
from masim.env.news import Handed
from masim.env.view import AgentView
from masim.sim.ownership import Ownership
from masim.sim.plan import OrderPlan
from masim.sim.staff import StaffSpec
from masim.sim.trace import TraceRow
from masim.sim.wire import Answer
from masim.sim.world import World

Ask = Callable[[Seat, Reason], None]
"""Takes an agent that must be asked, and why."""
LetGo = Callable[[Seat], None]
"""Takes an agent that has no more turns."""


def desk(seat: Seat) -> DeskView:
    """Return the view of an agent with a role. Raises TypeError for one without."""
    if not isinstance(seat.view, DeskView):
        raise TypeError(f"{seat.name} has no role")
    return seat.view


def hand_over(world: World, action: Action, seat: Seat) -> None:
    """Send the order of an action on its way; one that is on its way already stays on it."""
    view, staff = desk(seat), world.spec.staff
    if staff is not None and world.owners is not None and action.order not in view.leaving:
        view.leaving.add(action.order)
        seat.legal = None
        world.owners.hand_over(view.orders[action.order].id, staff.roles[action.role].name)


def view_of(table: ActionTable, agent: str, orders: tuple[OrderPlan, ...]) -> AgentView:
    """Return an agent's view of the orders that it owns when the day begins."""
    staff = table.spec.staff
    return AgentView(table, orders) if staff is None else DeskView(table, orders, staff.role_of(agent))


def roles_of(world: World, seats: Mapping[str, Seat], ask: Ask, let_go: LetGo) -> Roles | None:
    """Return the roles of a session, ``None`` where all agents are alike."""
    staff, owners = world.spec.staff, world.owners
    return None if staff is None or owners is None else Roles(staff, owners, world, seats, ask, let_go)


class Roles:
    """The roles of one session."""

    __slots__ = ("_ask", "_closed", "_let_go", "_over", "_owners", "_seats", "_staff", "_world")

    def __init__(
        self,
        staff: StaffSpec,
        owners: Ownership,
        world: World,
        seats: Mapping[str, Seat],
        ask: Ask,
        let_go: LetGo,
    ) -> None:
        """Send those away that have not joined yet, and put every coming and going on the clock."""
        self._staff = staff
        self._owners = owners
        self._world = world
        self._seats = seats
        self._ask = ask
        self._let_go = let_go
        self._closed: set[str] = set()
        self._over = False
        owners.listen(self._takes, self._moved)
        day0_s, now = world.plan.day0_s, world.clock.now
        for seat in seats.values():
            role = staff.role_of(seat.name)
            if role.joins_s is not None and day0_s + role.joins_s > now:
                seat.away = True
                world.clock.at(day0_s + role.joins_s, self._join, seat)
            if role.leaves_s is not None:
                desk(seat).leaves_s = day0_s + role.leaves_s
                world.clock.at(day0_s + role.leaves_s, self._leave, seat)

    def close(self) -> None:
        """Let nobody come or go any more: the day is over."""
        self._over = True

    def owner(self, order: str) -> Seat:
        """Return the place of the agent that owns an order now."""
        return self._seats[self._owners.of(order)]

    def look(self, seat: Seat) -> None:
        """See what an agent's orders have come to; when every order is closed nobody has a turn any more."""
        view = desk(seat)
        self._closed.update(view.orders[place].id for place in view.held() if view.closed(place))
        if len(self._closed) == len(self._world.orders) and not view.done:
            for other in self._seats.values():
                desk(other).done = True
                self._let_go(other)

    def pass_on(self, answer: Answer) -> None:
        """Tell the owner of an order how a call ended that somebody else made before it changed hands."""
        owner = self.owner(answer.call.order)
        if owner.name != answer.agent:
            desk(owner).learn(answer)
            owner.heard.append(answer)
            owner.legal = None

    # -- coming and going -----------------------------------------------------------------------------------------

    def _takes(self, agent: str) -> bool:
        seat = self._seats[agent]
        return not (seat.away or seat.retired)

    def _join(self, seat: Seat) -> None:
        if self._over:
            return
        self._note("join", seat)
        seat.away = False
        seat.last_s = self._world.clock.now
        self._ask(seat, Reason.START)

    def _leave(self, seat: Seat) -> None:
        if self._over:
            return
        self._note("leave", seat)
        self._let_go(seat)

    def _note(self, event: str, seat: Seat) -> None:
        if self._world.trace.enabled:
            self._world.trace.note(TraceRow(self._world.clock.now, event, seat.name))

    # -- orders that change hands ---------------------------------------------------------------------------------

    def _moved(self, order: str, giver: str, role: str, taker: str) -> None:
        """Let what is known of an order follow it; both hear of it, which ends their waits."""
        before = self._seats[giver]
        told = [before]
        if taker:
            after = self._seats[taker]
            desk(after).take(desk(before).give(order).without(self._staff.drops))
            told.append(after)
        else:
            desk(before).keep(order, role, self._world.clock.now)
        for seat in told:
            seat.legal = None
            seat.heard.append(Handed(self._world.clock.now, order, giver, taker))
            seat.view.messages += 1
            if seat.waiting >= 0:
                self._ask(seat, Reason.MESSAGE)
