"""Orders that change hands, decision by decision.

1. A role may do what its verbs say and nothing else, whatever is legal; the table is the same for all.
2. An order has one owner: it is the giver's until the note arrives, who only waits meanwhile, and then the taker's.
3. What is known travels with it, callbacks follow it, and all costs are counted; what a hand-over drops is not told.
4. Whatever is done at random, with several calls in one decision too, each order is in the hands of its one owner.
5. Nobody there, or no place left: the order stays where it was. The taker is who has the fewest.
6. A snapshot in the middle of a hand-over is restored to the last digit, and the same actions give the same trace.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from env.staffs import BOOKS, booker, clerk, may, named, staffed, start, until
from sim.worlds import dock

from masim.env.aec import BookingAECEnv
from masim.env.core import Decision, Session
from masim.env.decision import Reason
from masim.env.desk import TURNED_DOWN
from masim.env.ends import end_row
from masim.env.features import ENDPOINT_0
from masim.env.leg_view import NONE, YES
from masim.env.parallel import BookingParallelEnv
from masim.env.ready import BookingReadyEnv
from masim.env.roles import desk
from masim.env.snapshot import play
from masim.env.state import state_digest, state_parts
from masim.sim.dists import Constant
from masim.sim.spec import Instance, Status, Verb, WorldSpec
from masim.sim.staff import RoleSpec
from masim.sim.trace import TraceRow
from masim.sim.turn import MODES, TurnSpec
from masim.sim.wire import Message, Stop
from masim.units import HOUR, MINUTE

KINDS = 6
KINDS = len(end_row(0))
ORDER = "booker_0-order_0"


def tendered(session: Session) -> Decision:
    """Return the booker's decision after the first carrier took the load."""
    for verb in (Verb.QUOTE, Verb.TENDER, Verb.WAIT):
        decision = until(session, "booker_0")
        session.submit("booker_0", 0 if verb is Verb.WAIT else named(decision, verb, vendor=0))
    decision = until(session, "booker_0")
    assert decision.view.legs[0].tender[0] == YES
    return decision


def handed(session: Session) -> Decision:
    """Return the clerk's decision when the order has come with an accepted truck."""
    decision = tendered(session)
    session.submit("booker_0", named(decision, Verb.HAND_OVER))
    while not (decision := until(session, "clerk_0")).view.holds(0):
        session.submit("clerk_0", 0)
    return decision


def test_roles_share_a_table_and_differ_in_what_they_may_do() -> None:
    session = start(staffed())
    booking, waiting = session.advance()
    assert len(booking.mask()) == len(waiting.mask()) == len(session.table)
    assert may(booking) == {"wait", "quote", "hand_over"}
    assert may(waiting) == {"wait"}
    decision = handed(session)
    assert may(decision) == {"wait", "availability", "appointment_details", "declare", "hand_over"}
    assert not may(until(session, "booker_0")) - {"wait"}


def test_what_a_role_may_not_do_is_masked_for_ever() -> None:
    """Random play over the whole day: no action outside the verbs is ever legal."""
    session = start(staffed(booker(count=2), clerk(count=2)))
    rng = np.random.default_rng(3)
    seen: dict[str, set[str]] = {"booker": set(), "clerk": set()}
    while asked := session.advance():
        for decision in asked:
            seen[decision.agent[:-2]] |= may(decision)
            session.submit(decision.agent, int(rng.choice(decision.legal)))
    assert seen["booker"] <= {"wait", *BOOKS}
    assert not seen["clerk"] & {"quote", "tender", "tender_status", "cancel_tender"}
    assert "hand_over" in seen["clerk"]


def test_until_the_note_arrives_the_order_is_the_givers() -> None:
    session = start(staffed())
    first = until(session, "booker_0")
    session.submit("booker_0", named(first, Verb.HAND_OVER))
    again = until(session, "booker_0")
    assert (again.t_s, again.reason) == (first.t_s, Reason.HANDED_OVER)
    assert may(again) == {"wait"}
    owners = session.world.owners
    assert owners is not None
    assert owners.of(ORDER) == "booker_0"
    session.submit("booker_0", 0)
    told = until(session, "clerk_0")
    assert (told.t_s, told.reason) == (first.t_s + 2 * MINUTE, Reason.MESSAGE)
    assert owners.of(ORDER) == "clerk_0"
    assert told.view.orders[0].id == ORDER


def test_what_is_known_travels() -> None:
    session = start(staffed())
    before = tendered(session).view.legs[0]
    price, tries = before.price.copy(), before.tries.copy()
    session.submit("booker_0", named(session.open_decisions()[0], Verb.HAND_OVER))
    view = until(session, "clerk_0").view
    while not view.holds(0):
        session.submit("clerk_0", 0)
        view = until(session, "clerk_0").view
    assert np.array_equal(view.legs[0].price, price)
    assert np.array_equal(view.legs[0].tries, tries)
    assert view.legs[0].tender[0] == YES
    gone = session.seats()[0].view
    assert not gone.holds(0)
    assert not gone.price.any()


@pytest.mark.parametrize(
    ("drops", "kept"),
    [(("quotes",), "tender"), (("trucks",), "price"), (("quotes", "trucks"), "nothing"), ((), "both")],
)
def test_what_is_dropped_is_not_told(drops: tuple[str, ...], kept: str) -> None:
    leg = handed(start(staffed(drops=drops))).view.legs[0]
    assert bool(leg.price.any()) == (kept in ("price", "both"))
    assert (leg.tender[0] == YES) == (kept in ("tender", "both"))
    assert leg.tries.any() == (kept in ("tender", "both"))


def test_dropped_appointments_leave_the_dock_alone_known() -> None:
    session = start(staffed(drops=("appointments",)))
    decision = handed(session)
    session.submit("clerk_0", named(decision, Verb.AVAILABILITY, stop=0))
    decision = until(session, "clerk_0")
    assert decision.view.legs[0].stops[0].slots
    session.submit("clerk_0", named(decision, Verb.HAND_OVER))
    view = session.seats()[0].view
    while not view.holds(0):
        until(session, "booker_0")
        session.submit("booker_0", 0)
    stop = view.legs[0].stops[0]
    assert (stop.dock, stop.slots, stop.state) == ("plant", (), NONE)


def test_callbacks_follow_the_order() -> None:
    """The carrier decides after the hand-over: the clerk hears it, the booker does not."""
    slow = tuple(replace(c, decision_delay=Constant(600.0)) for c in staffed().carriers)
    session = start(staffed(carriers=slow))
    for verb in (Verb.QUOTE, Verb.TENDER, Verb.HAND_OVER):
        session.submit("booker_0", named(until(session, "booker_0"), verb))
    decision = until(session, "clerk_0")
    while decision.view.messages < 2:
        session.submit("clerk_0", 0)
        decision = until(session, "clerk_0")
    assert decision.view.legs[0].tender[0] == YES
    heard = [row.agent for row in session.trace_rows if row.event == "message"]
    assert heard == ["clerk_0"]


def test_an_answer_that_comes_after_the_order_has_gone_is_told_its_owner() -> None:
    session = start(staffed())
    decision = handed(session)
    assert decision.view.legs[0].price[1] == 0
    session.world.send("booker_0", decision.view.call(session.table.find(Verb.QUOTE, 0, 1)), 10.0)
    until(session, "booker_0")
    assert decision.view.legs[0].price[1] > 0


def test_a_message_is_the_same_but_for_who_hears_it() -> None:
    session = start(staffed())
    handed(session)
    owners = session.world.owners
    assert owners is not None
    message = Message("booker_0", 1.0, "tender", "aster", ORDER, 0, Stop.NONE, Status.CONFIRMED)
    assert owners.addressed(message) == Message(
        "clerk_0", 1.0, "tender", "aster", ORDER, 0, Stop.NONE, Status.CONFIRMED
    )
    assert message.agent == "booker_0"


def test_the_taker_is_who_has_the_fewest_and_has_a_place() -> None:
    session = start(staffed(booker(orders=5), clerk(count=2), places=5))
    taken = hand_all_over(session, 5)
    assert taken == ["clerk_0", "clerk_1", "clerk_0", "clerk_1", "clerk_0"]


def test_without_a_place_the_order_stays() -> None:
    spec = staffed(booker(count=2, orders=1), clerk(orders=0), places=1)
    session = start(spec)
    for agent in ("booker_0", "booker_1"):
        session.submit(agent, named(until(session, agent, _keep), Verb.HAND_OVER))
    rows = [r for r in _to_the_end(session) if r.event == "hand_over" and r.status != "PENDING"]
    assert [(r.agent, r.status) for r in rows] == [("clerk_0", "CONFIRMED"), ("booker_1", "REJECTED")]
    assert session.seats()[1].view.holds(0)


def _keep(decision: Decision) -> int:
    return 0


def _to_the_end(session: Session) -> list[TraceRow]:
    while asked := session.open_decisions() or session.advance():
        for decision in asked:
            session.submit(decision.agent, 0)
    return session.trace_rows


def hand_all_over(session: Session, count: int) -> list[str]:
    """Hand every order over, one after the other, and return who took each."""
    for order in range(count):
        decision = until(session, "booker_0")
        session.submit("booker_0", named(decision, Verb.HAND_OVER, order=order))
    rows = _to_the_end(session)
    return [r.agent for r in rows if r.event == "hand_over" and r.status == "CONFIRMED"]


def test_refused_orders_can_be_worked_on_again() -> None:
    """The clerk comes at nine: what is handed over before stays with the booker, who hears of it."""
    session = start(staffed(booker(), clerk(joins_s=9 * 3600.0)))
    session.submit("booker_0", named(until(session, "booker_0"), Verb.HAND_OVER))
    until(session, "booker_0")
    session.submit("booker_0", 0)
    decision = until(session, "booker_0")
    assert (decision.reason, decision.t_s) == (Reason.MESSAGE, 6 * 3600.0 + 2 * MINUTE)
    assert "quote" in may(decision)


def test_a_hand_over_in_vain_shows_in_its_row_while_the_order_is_there() -> None:
    spec = staffed(booker(), clerk(joins_s=7 * HOUR))
    session = start(spec)
    index = named(until(session, "booker_0"), Verb.HAND_OVER)
    assert not session.open_decisions()[0].rows[_row(session, index)][ENDPOINT_0:].any()
    for action in (index, 0):
        session.submit("booker_0", action)
        decision = until(session, "booker_0")
    end = decision.rows[_row(session, index)][ENDPOINT_0:]
    assert end[:KINDS].tolist() == list(end_row(TURNED_DOWN))
    assert end[KINDS] == 0.0, "this very moment"
    session.submit("booker_0", session.table.wait(3))
    assert until(session, "booker_0").rows[_row(session, index)][ENDPOINT_0 + KINDS] == 2.0, "half an hour ago"


def _row(session: Session, index: int) -> int:
    (decision,) = session.open_decisions()
    return int(np.searchsorted(decision.legal, index))


def test_a_place_forgets_the_docks_of_the_order_that_was_there() -> None:
    """Two orders with other docks go through one place; what ended at the first dock is not said of the second."""
    legs = (replace(staffed().orders.legs[0], pickup_docks=("plant", "yard")),)
    docks = (*staffed().docks, dock("yard"))
    both = {"docks": docks, "orders": replace(staffed().orders, legs=legs)}
    for seed in range(20):
        spec = staffed(booker(orders=2), clerk(), places=2, **both)
        session = Session(spec, Instance(seed, 0, "test"))
        if len({order.legs[0].pickup_dock for order in session.plan.orders}) == 2:
            break
    taken = []
    for order in range(2):
        session.submit("booker_0", named(until(session, "booker_0"), Verb.HAND_OVER, order=order))
        while not (decision := until(session, "clerk_0")).view.holds(0):
            session.submit("clerk_0", 0)
        ask = named(decision, Verb.AVAILABILITY, stop=0)
        taken.append(decision.view.ends.kind[ask].any())
        session.submit("clerk_0", ask)
        session.submit("clerk_0", named(until(session, "clerk_0"), Verb.HAND_OVER))
        while until(session, "clerk_0").view.holds(0):
            session.submit("clerk_0", 0)
    assert taken == [False, False]


@pytest.mark.parametrize("decisions", range(1, 9))
def test_a_snapshot_in_the_middle_of_a_hand_over(decisions: int) -> None:
    spec = staffed(booker(count=2), clerk())
    first, actions = _scripted(spec, decisions)
    again = start(spec)
    play(again, tuple(actions))
    for session in (first, again):
        if not session.open_decisions():
            session.advance()
    assert state_parts(again) == state_parts(first)
    assert again.trace_rows == first.trace_rows


def test_the_state_tells_apart_who_owns_an_order_and_what_is_under_way() -> None:
    spec = staffed()
    one, other = start(spec), start(spec)
    for session in (one, other):
        session.submit("booker_0", named(until(session, "booker_0"), Verb.HAND_OVER))
    assert state_digest(state_parts(one)) == state_digest(state_parts(other))
    owners = other.world.owners
    assert owners is not None
    owners._owner[ORDER] = "clerk_0"
    assert {name for name, d in state_parts(one).items() if d != state_parts(other)[name]} == {"owners"}


def consistent(session: Session) -> None:
    """Check that each order is in the hands of its owner and of nobody else."""
    owners = session.world.owners
    assert owners is not None
    held = [(order.id, seat.name) for seat in session.seats() for order in seat.view.orders if order.id]
    assert sorted(held) == sorted((order.id, owners.of(order.id)) for order in session.plan.orders)


@pytest.mark.parametrize("turn", [None, *(TurnSpec(calls=3, mode=mode) for mode in MODES)], ids=str)
@pytest.mark.parametrize("drops", [(), ("trucks", "appointments")])
def test_whatever_is_done_an_order_has_one_owner(turn: TurnSpec | None, drops: tuple[str, ...]) -> None:
    """Random play of two bookers and two clerks that may hand to each other, with several calls at once."""
    to = {"hands_to": ("booker", "clerk")}
    roles = (booker(count=2, orders=2, **to), clerk(count=2, joins_s=7 * HOUR, leaves_s=15 * HOUR, **to))
    spec = staffed(*roles, places=3, drops=drops, **({} if turn is None else {"turn": turn}))
    session, rng, moved = start(spec), np.random.default_rng(5), 0
    while asked := session.advance():
        consistent(session)
        for decision in asked:
            size = 1 if turn is None else int(rng.integers(1, 4))
            wished = [int(a) for a in rng.choice(decision.legal, size)]
            session.submit(decision.agent, wished if turn is not None else wished[0])
    moved = sum(r.event == "hand_over" and r.status == "CONFIRMED" for r in session.trace_rows)
    assert moved > 3
    again = start(spec)
    play(again, tuple(session.actions))
    again.advance()
    assert again.trace_rows == session.trace_rows
    assert state_parts(again) == state_parts(session)


def test_the_first_hand_over_of_a_decision_counts() -> None:
    guard = RoleSpec("guard", 1, 0, ("declare", "hand_over"), ("clerk",))
    session = start(staffed(booker(hands_to=("clerk", "guard")), clerk(), guard, turn=TurnSpec(calls=2)))
    decision = until(session, "booker_0")
    both = [named(decision, Verb.HAND_OVER, role=role) for role in (2, 1)]
    session.submit("booker_0", both)
    rows = [r for r in _to_the_end(session) if r.event == "hand_over"]
    assert [(r.agent, r.status) for r in rows] == [("booker_0", "PENDING"), ("guard_0", "CONFIRMED")]


def test_a_call_and_the_hand_over_of_its_order_in_one_decision() -> None:
    """The answer comes when the order has gone: whoever has it hears the price."""
    slow = tuple(replace(api, latency=Constant(8 * MINUTE)) for api in staffed().apis)
    spec = staffed(turn=TurnSpec(calls=2), apis=slow, client_deadline_s=600.0)
    session = start(spec)
    decision = until(session, "booker_0")
    session.submit("booker_0", [named(decision, Verb.QUOTE, vendor=1), named(decision, Verb.HAND_OVER)])
    view = until(session, "clerk_0").view
    while not view.price.any():
        session.submit("clerk_0", session.table.wait(1))
        view = until(session, "clerk_0").view
    assert view.legs[0].price[1] > 0
    assert not session.seats()[0].view.price.any()


def _scripted(spec: WorldSpec, decisions: int) -> tuple[Session, list[tuple[str, int]]]:
    """Play some decisions, each the first legal hand-over or quote."""
    session = start(spec)
    while len(session.actions) < decisions:
        for decision in session.open_decisions() or session.advance():
            wished = [i for i in map(int, decision.legal) if session.table.verb[i] is not Verb.WAIT]
            session.submit(decision.agent, wished[len(session.actions) % len(wished)] if wished else 0)
            if len(session.actions) == decisions:
                break
    return session, session.actions


@pytest.mark.parametrize("make", [BookingParallelEnv, BookingAECEnv, BookingReadyEnv])
def test_an_environment_is_restored_with_an_order_under_way_and_an_agent_to_come(make: Any) -> None:
    """Moments of a random day are left and gone back to: what is there is the same to the last digit."""
    env, other = (make("freight/relay-v0", trace=True) for _ in range(2))
    env.reset(seed=3)
    other.reset(seed=4)
    rng, met = np.random.default_rng(3), set()
    for step in range(60):
        under_way = any(desk(seat).leaving for seat in env.stage.session.seats())
        away = any(seat.away for seat in env.stage.session.seats())
        if step % 6 == 0 or (under_way, away) not in met:
            other.restore(env.snapshot())
            assert state_parts(other.stage.session) == state_parts(env.stage.session)
            assert [other.stage.features(a).tobytes() for a in env.stage.agents] == [
                env.stage.features(a).tobytes() for a in env.stage.agents
            ]
        met.add((under_way, away))
        choices = {d.agent: int(rng.choice(d.legal)) for d in env.stage.open_decisions()}
        env.step(choices[env.agent_selection] if make is BookingAECEnv else choices)
    assert any(under_way for under_way, _ in met) and any(away for _, away in met)
