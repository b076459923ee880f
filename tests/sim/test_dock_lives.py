"""Docks that join, are replaced and degrade.

1. A replaced dock answers 410 for good and names who came; what was booked for trucks that wait is taken back.
2. The successor is not there before, and lets trucks in afterwards; a truck on its way is served where it was booked.
3. Later days send loads to the successor, and to no dock that has not joined.
4. A dock that degrades has fewer places for new bookings, decides more slowly and keeps trucks longer; what is booked
   stays booked.
5. An agent that is told turns to the successor for every leg, and the workflow completes its orders.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from sim.desk import AGENT, Desk
from sim.worlds import calm, dock, leg, play

from masim.env.core import Session
from masim.policy.base import Ask
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rng import Noise
from masim.sim.dists import Constant
from masim.sim.plan import draw_plan
from masim.sim.spec import AppointmentType, Instance, LegSpec, Status, WorldSpec
from masim.sim.spec import Verb as V
from masim.sim.terms import Decline, DockRules, Fees, Life
from masim.sim.wire import GONE, NOT_YET, REVERSED, Answer, Body, Call, Message, Result, Slot, Stop
from masim.units import DAY, HOUR, MINUTE

PICKUP, DELIVERY = Stop.PICKUP, Stop.DELIVERY
NOON, THREE = 6, 9
DEFERRED, FCFS = AppointmentType.DEFERRED, AppointmentType.FCFS


def replaced(at_s: float = 8 * HOUR, kind: AppointmentType = AppointmentType.AUTOMATIC, **changes: object) -> WorldSpec:
    """Return a world whose plant is replaced by another one at a moment."""
    old = dock("plant", kind, life=Life(gone_s=at_s, successor="works"), **changes)
    new = dock("works", kind, life=Life(joins_s=at_s), **changes)
    return calm(docks=(old, new, dock("store")))


def test_a_replaced_dock_is_gone_for_good() -> None:
    desk = Desk(replaced())
    assert desk.ask(V.AVAILABILITY, "works", PICKUP).problem == NOT_YET
    assert desk.ask(V.SCHEDULE, "plant", PICKUP, NOON).status is Status.CONFIRMED
    desk.until(8 * HOUR + MINUTE)
    assert [(m.kind, m.vendor, m.status, m.problem) for m in desk.messages] == [
        ("appointment", "plant", Status.CANCELED, REVERSED)
    ]
    body = desk.ask(V.APPOINTMENT_DETAILS, "plant", PICKUP)
    assert (body.code, body.problem) == (410, f"{GONE}; ask works")
    assert desk.world.docks["plant"].places.used == [0] * 16
    assert desk.ask(V.SCHEDULE, "works", PICKUP, NOON).status is Status.CONFIRMED


@pytest.mark.parametrize("verb", [V.HOLD, V.SCHEDULE])
def test_what_is_held_or_undecided_ends_too(verb: V) -> None:
    desk = Desk(replaced(6 * HOUR + 5 * MINUTE, DEFERRED, decision_delay=Constant(HOUR)))
    desk.ask(V.HOLD, "plant", PICKUP, NOON)
    desk.ask(verb, "plant", PICKUP, NOON)
    desk.until(8 * HOUR)
    plant = desk.world.docks["plant"]
    assert (plant.holds, plant.places.used[NOON]) == ({}, 0)
    assert [a.status for a in plant.appointments] == [Status.CANCELED] * (verb is V.SCHEDULE)
    # The decision that was under way comes to nothing, and nobody is told twice.
    assert len(desk.messages) == (verb is V.SCHEDULE)


def book(desk: Desk, pickup: str, slot: int = NOON) -> None:
    """Book both stops, order a truck, and send it."""
    for stop, name, at in ((PICKUP, pickup, slot), (DELIVERY, "store", THREE)):
        assert desk.ask(V.SCHEDULE, name, stop, at).status is Status.CONFIRMED
    desk.ask(V.QUOTE, "aster")
    desk.ask(V.TENDER, "aster")
    desk.after(2 * MINUTE)
    assert desk.ask(V.DISPATCH, "aster").code == 200


def test_a_truck_on_its_way_is_served_where_it_was_booked() -> None:
    desk = Desk(replaced())
    book(desk, "plant")
    desk.world.settle()
    assert desk.world.outcomes()[0].safe
    assert {a.dock for a in desk.world.legs["booker_0-order_0", 0].used} == {"plant", "store"}


def test_a_leg_that_waits_goes_by_the_successor() -> None:
    desk = Desk(replaced())
    desk.until(9 * HOUR)
    book(desk, "works")
    desk.world.settle()
    assert desk.world.outcomes()[0].safe
    assert {a.dock for a in desk.world.legs["booker_0-order_0", 0].used} == {"works", "store"}


def test_a_queue_is_taken_over_without_a_word() -> None:
    desk = Desk(replaced(kind=FCFS))
    desk.until(9 * HOUR)
    desk.ask(V.SCHEDULE, "store", DELIVERY, THREE)
    desk.ask(V.QUOTE, "aster")
    desk.ask(V.TENDER, "aster")
    desk.after(2 * MINUTE)
    assert desk.ask(V.DISPATCH, "aster").code == 200
    desk.world.settle()
    assert desk.world.outcomes()[0].completed and desk.messages[-1].kind == "delivered"


def pickups(spec: WorldSpec, day: int) -> set[str]:
    seeds = range(12)
    return {o.legs[0].pickup_dock for seed in seeds for o in draw_plan(spec, Instance(seed, day)).orders}


def test_later_days_go_to_the_successor_and_to_those_that_have_joined() -> None:
    late = dock("late", life=Life(joins_s=DAY))
    either = replace(leg("plant", "store"), pickup_docks=("plant", "late"))
    spec = replaced(DAY + HOUR)
    spec = replace(spec, docks=(*spec.docks, late), orders=replace(spec.orders, legs=(either,)))
    assert pickups(spec, 0) == {"plant"}
    assert pickups(spec, 1) == {"works", "late"}


def test_a_plan_without_lives_is_drawn_as_before() -> None:
    spec = calm(docks=(dock("plant"), dock("works"), dock("store")))
    spec = replace(
        spec, orders=replace(spec.orders, legs=(replace(leg("plant", "store"), pickup_docks=("plant", "works")),))
    )
    away = replace(spec, docks=(*spec.docks[:2], dock("store", life=Life(degrades_s=HOUR))))
    for seed in range(6):
        assert draw_plan(spec, Instance(seed, 0)).orders == draw_plan(away, Instance(seed, 0)).orders


def declining(at_s: float, **changes: object) -> Desk:
    worse = Decline(3.0, 1)
    made = dock("plant", life=Life(degrades_s=at_s), decline=worse, decision_delay=Constant(10 * MINUTE), **changes)
    return Desk(calm(docks=(made, dock("store"))))


def test_a_dock_that_degrades_has_fewer_places_and_takes_longer() -> None:
    desk = declining(8 * HOUR, kind=DEFERRED)
    room = desk.world.docks["plant"]
    for n in (0, 1):
        desk.ask(V.SCHEDULE, "plant", PICKUP, NOON, agent=f"booker_{n}", order=f"booker_{n}-order_0")
    desk.after(11 * MINUTE)
    assert room.places.used[NOON] == 2 and len(desk.messages) == 2
    desk.until(8 * HOUR + 1.0)
    assert (room.places.used[NOON], room.free(NOON), room.free(THREE)) == (2, -1, 1)
    listed = desk.ask(V.AVAILABILITY, "plant", PICKUP, order="booker_1-order_0").slots
    assert NOON not in {slot.index for slot in listed}
    desk.ask(V.SCHEDULE, "plant", PICKUP, THREE)
    asked_s = desk.now
    desk.after(40 * MINUTE)
    assert desk.messages[-1].t_s - asked_s == pytest.approx(30 * MINUTE + 1.0, abs=1.0)
    # What was booked before stays, and its truck is not turned away.
    assert not any(room.turns_away(made) for made in room.appointments)


def test_a_dock_that_degraded_on_an_earlier_day_starts_the_day_so() -> None:
    assert declining(0.0).world.docks["plant"].free(NOON) == 1
    ramps = declining(0.0, kind=FCFS).world.docks["plant"]
    assert [ramps.queue(), ramps.queue()] == [6 * HOUR, 7 * HOUR]


@pytest.mark.parametrize(("at_s", "cents"), [(20 * HOUR, 0), (8 * HOUR, 10_000)])
def test_a_dock_that_degrades_keeps_trucks_longer(at_s: float, cents: int) -> None:
    rules = DockRules(dwell=Constant(HOUR))
    made = dock("plant", rules=rules, life=Life(degrades_s=at_s), decline=Decline(3.0))
    spec = calm(docks=(made, dock("store")))
    carriers = tuple(replace(c, fees=Fees(HOUR, 5_000)) for c in spec.carriers)
    desk = Desk(replace(spec, carriers=carriers))
    book(desk, "plant")
    desk.world.settle()
    assert sum(e.amount_cents for e in desk.world.ledger.entries if e.reason == "detention") == cents


def two_legs(at_s: float) -> WorldSpec:
    """A hub between two legs is replaced: the stop where the first ends, and the one where the second starts."""
    hub = dock("hub", life=Life(gone_s=at_s, successor="cross"))
    docks = (dock("plant"), hub, dock("cross", life=Life(joins_s=at_s)), dock("store"))
    legs: tuple[LegSpec, ...] = (leg("plant", "hub"), replace(leg("hub", "store"), pickup_open_s=17 * HOUR))
    spec = calm(docks=docks)
    return replace(spec, orders=replace(spec.orders, legs=(replace(legs[0], delivery_due_s=17 * HOUR), legs[1])))


@pytest.mark.parametrize("at_s", [6 * HOUR + 90.0, 6 * HOUR + 30.0, 6 * HOUR, 5 * HOUR])
def test_the_workflow_goes_on_at_the_successor(at_s: float) -> None:
    policy, noise = WorkflowPolicy("w", Habits()), Noise(1, "policy")
    session = play(two_legs(at_s), lambda decision: policy.choose([Ask(decision, noise)])[0].action)
    assert all(outcome.safe for outcome in session.outcomes())
    if at_s > 6 * HOUR:
        assert any(row.code == 410 for row in session.trace_rows)
    stops = [stop.dock for seat in session.seats() for leg in seat.view.legs for stop in leg.stops]
    # A leg whose truck was sent before keeps the hub that it was sent to.
    assert set(stops) == {"plant", "cross", "store"} | ({"hub"} if at_s == 6 * HOUR + 90.0 else set())


def test_what_the_old_dock_says_late_is_not_taken_for_the_new_one() -> None:
    session = Session(replaced(), Instance(1, 0))
    (decision, *_) = session.advance()
    view, order = decision.view, decision.view.orders[0].id
    asked = Call(V.AVAILABILITY, "plant", order, 0, PICKUP)
    gone = Body(Result.FAILURE, 410, problem=f"{GONE}; ask works")
    view.answer(Answer(0, AGENT, asked, 0.0, 1.0, gone))
    assert view.legs[0].stops[0].dock == "works" and view.legs[0].stops[1].dock == "store"
    booked = Body(Result.SUCCESS, 200, Status.CONFIRMED, slot=Slot(THREE, 15 * HOUR))
    view.answer(Answer(1, AGENT, replace(asked, verb=V.SCHEDULE, vendor="works", slot=THREE), 1.0, 2.0, booked))
    before = replace(view.legs[0].stops[0])
    late = Body(Result.SUCCESS, 200, slots=(Slot(NOON, 12 * HOUR),))
    view.answer(Answer(2, AGENT, asked, 0.0, 3.0, late))
    view.message(Message(AGENT, 4.0, "appointment", "plant", order, 0, PICKUP, Status.CANCELED, None, REVERSED))
    assert view.legs[0].stops[0] == before
