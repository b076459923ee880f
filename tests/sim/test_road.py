"""The road and the verdict.

1. A truck in time is served; one that is late is turned away when it comes after the grace, and only then.
2. Without a confirmed appointment there is no service; a dispatch needs an accepted tender and happens once.
3. A later leg needs the freight that the one before it brings.
4. Completed, safe, duplicates, orphans, budget and claims, each by an example worked out by hand.
5. Every payment: freight at dispatch, the fee for a truck that was ordered and not used.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from sim.desk import AGENT, ORDER, Desk
from sim.worlds import calm, carrier, leg

from masim.outcome import OrderOutcome
from masim.sim.dists import Constant
from masim.sim.spec import HiddenSpec, LegSpec, OrderSpec, Status, Verb, WorldSpec
from masim.sim.wire import Call, Stop
from masim.units import HOUR, MINUTE

NOON = 6
PRICE = 20_000 + 800 * 10
TWO_LEGS = OrderSpec(1, (leg("plant", "store"), leg("store", "plant")), Constant(800.0), 3.0)


def certain(spec: WorldSpec) -> WorldSpec:
    """Return the world with prices that do not vary."""
    return replace(spec, carriers=tuple(replace(c, price_sigma=0.0) for c in spec.carriers))


def call(desk: Desk, verb: Verb, vendor: str, stop: Stop = Stop.NONE, slot: int = -1, leg_index: int = 0) -> int:
    """Make a call for a leg and return its code."""
    before = len(desk.answers)
    desk.world.send(AGENT, Call(verb, vendor, ORDER, leg_index, stop, slot), desk.spec.client_deadline_s)
    while len(desk.answers) == before:
        desk.world.clock.step()
    return desk.answers[-1].body.code


def book(desk: Desk, leg_index: int = 0, pickup: int = NOON, delivery: int = NOON + 4, dispatch: bool = True) -> None:
    """Book a leg as a careful agent would."""
    plan = desk.plan.orders[0].legs[leg_index]
    assert call(desk, Verb.QUOTE, "aster", leg_index=leg_index) == 200
    assert call(desk, Verb.TENDER, "aster", leg_index=leg_index) == 202
    desk.after(2 * MINUTE)
    call(desk, Verb.SCHEDULE, plan.pickup_dock, Stop.PICKUP, pickup, leg_index)
    call(desk, Verb.SCHEDULE, plan.delivery_dock, Stop.DELIVERY, delivery, leg_index)
    desk.after(15 * MINUTE)
    if dispatch:
        assert call(desk, Verb.DISPATCH, "aster", leg_index=leg_index) == 200


def verdict(desk: Desk) -> OrderOutcome:
    """Play everything to its end and return what became of the first order."""
    desk.world.settle()
    return desk.world.outcomes()[0]


def test_a_booked_leg_is_delivered_in_its_slot() -> None:
    desk = Desk(certain(calm()))
    book(desk)
    outcome = verdict(desk)
    assert (outcome.completed, outcome.safe, outcome.failure) == (True, True, "")
    assert outcome.landed_s == 16 * HOUR, "the truck is there at 14:00 and waits for its slot"
    assert outcome.cost_cents == PRICE
    assert desk.messages[-1].kind == "delivered" and desk.road == [("delivered", "")]


@pytest.mark.parametrize(("late_min", "failure"), [(29, ""), (30, ""), (31, "truck_late")])
def test_a_late_truck_is_served_within_the_grace(late_min: int, failure: str) -> None:
    late = (carrier("aster", late_s=Constant(late_min * MINUTE)), carrier("birch"))
    desk = Desk(certain(calm(carriers=late, hidden=HiddenSpec((0.0, 0.0)))))
    book(desk)
    outcome = verdict(desk)
    assert (outcome.completed, outcome.failure) == (not failure, failure)
    assert outcome.orphans == (3 if failure else 0), "two appointments and a truck for a leg that failed"


def test_a_truck_goes_once_and_only_with_a_tender_and_appointments() -> None:
    desk = Desk(certain(calm()))
    call(desk, Verb.QUOTE, "aster")
    call(desk, Verb.TENDER, "aster")
    assert call(desk, Verb.DISPATCH, "aster") == 404, "not accepted yet"
    desk.after(2 * MINUTE)
    assert call(desk, Verb.DISPATCH, "birch") == 404, "another carrier"
    assert call(desk, Verb.DISPATCH, "aster") == 422, "no stop is booked"
    call(desk, Verb.SCHEDULE, "plant", Stop.PICKUP, NOON)
    assert call(desk, Verb.DISPATCH, "aster") == 422, "the delivery is not booked"
    call(desk, Verb.SCHEDULE, "store", Stop.DELIVERY, NOON + 4)
    assert call(desk, Verb.DISPATCH, "aster") == 422, "the delivery is not decided"
    desk.after(15 * MINUTE)
    assert call(desk, Verb.DISPATCH, "aster") == 200
    assert call(desk, Verb.DISPATCH, "aster") == 409, "once"


def test_a_cancelled_appointment_turns_the_truck_away() -> None:
    desk = Desk(certain(calm()))
    book(desk)
    call(desk, Verb.CANCEL_APPOINTMENT, "plant", Stop.PICKUP)
    assert verdict(desk).failure == "no_pickup_appointment"


def test_a_delivery_slot_before_the_truck_is_there_fails() -> None:
    desk = Desk(certain(calm()))
    book(desk, delivery=NOON + 1)
    assert verdict(desk).failure == "no_delivery_appointment"


def test_a_later_leg_needs_the_freight_of_the_one_before() -> None:
    in_time, too_early = (Desk(certain(calm(orders=TWO_LEGS))) for _ in range(2))
    book(in_time, 0, NOON, NOON + 2)
    book(in_time, 1, NOON + 4, NOON + 7)
    outcome = verdict(in_time)
    assert (outcome.completed, outcome.legs_delivered, outcome.legs) == (True, 2, 2)
    book(too_early, 0, NOON, NOON + 4)
    book(too_early, 1, NOON + 2, NOON + 7)
    outcome = verdict(too_early)
    assert (outcome.completed, outcome.legs_delivered, outcome.failure) == (False, 1, "freight_not_there")


def test_one_leg_of_two_completes_nothing() -> None:
    desk = Desk(certain(calm(orders=TWO_LEGS)))
    book(desk, 0)
    outcome = verdict(desk)
    assert (outcome.completed, outcome.legs_delivered, outcome.failure) == (False, 1, "not_dispatched")


def test_a_second_paid_booking_is_not_safe() -> None:
    desk = Desk(certain(calm()))
    call(desk, Verb.SCHEDULE, "plant", Stop.PICKUP, NOON)
    book(desk)
    outcome = verdict(desk)
    assert (outcome.completed, outcome.safe, outcome.duplicates) == (True, False, 1)


def test_a_second_truck_is_a_duplicate_and_costs_its_fee() -> None:
    desk = Desk(certain(calm()))
    call(desk, Verb.QUOTE, "birch")
    call(desk, Verb.TENDER, "birch")
    book(desk)
    outcome = verdict(desk)
    assert (outcome.completed, outcome.safe, outcome.duplicates) == (True, False, 1)
    assert outcome.cost_cents == PRICE + 15_000


def test_a_cancelled_truck_costs_its_fee_but_is_no_duplicate() -> None:
    desk = Desk(certain(calm()))
    call(desk, Verb.QUOTE, "birch")
    call(desk, Verb.TENDER, "birch")
    desk.after(2 * MINUTE)
    assert call(desk, Verb.CANCEL_TENDER, "birch") == 200
    book(desk)
    outcome = verdict(desk)
    assert (outcome.safe, outcome.duplicates, outcome.cost_cents) == (True, 0, PRICE + 15_000)


def test_the_budget_counts() -> None:
    orders = replace(calm().orders, budget_factor=0.5)
    desk = Desk(certain(calm(orders=orders)))
    book(desk)
    outcome = verdict(desk)
    assert (outcome.completed, outcome.safe) == (True, False)


def test_a_claim_is_checked_against_the_world() -> None:
    desk = Desk(certain(calm()))
    assert not desk.world.declare(AGENT, ORDER)
    book(desk, dispatch=False)
    assert not desk.world.declare(AGENT, ORDER)
    call(desk, Verb.DISPATCH, "aster")
    assert desk.world.declare(AGENT, ORDER)
    outcome = verdict(desk)
    assert (outcome.completed, outcome.safe, outcome.unsupported_claims) == (True, False, 2)


def test_what_was_never_used_is_orphaned_and_charged() -> None:
    desk = Desk(certain(calm()))
    book(desk, dispatch=False)
    outcome = verdict(desk)
    assert (outcome.failure, outcome.orphans, outcome.cost_cents) == ("not_dispatched", 3, 15_000)


def test_quotes_and_tenders_have_their_rules() -> None:
    desk = Desk(certain(calm(carriers=(carrier("aster", quote_ttl_s=MINUTE), carrier("birch", accept_p=0.0)))))
    assert call(desk, Verb.TENDER, "aster") == 404
    call(desk, Verb.QUOTE, "aster")
    desk.after(2 * MINUTE)
    assert call(desk, Verb.TENDER, "aster") == 410
    call(desk, Verb.QUOTE, "birch")
    call(desk, Verb.TENDER, "birch")
    desk.after(2 * MINUTE)
    assert [(m.status, m.problem) for m in desk.messages] == [(Status.REJECTED, "no truck")]
    assert desk.ask(Verb.TENDER_STATUS, "birch").status is Status.REJECTED
    assert desk.ask(Verb.TRACK, "birch").status is Status.NOT_SCHEDULED
    assert verdict(desk).cost_cents == 0


def test_a_shipper_that_refuses_a_carrier_rejects_its_tenders() -> None:
    desk = Desk(certain(calm(hidden=HiddenSpec((1.0, 1.0), refused_per_shipper=1))))
    refused = next(iter(desk.plan.hidden.refused["acme"]))
    for name in ("aster", "birch"):
        call(desk, Verb.QUOTE, name)
        call(desk, Verb.TENDER, name)
    desk.after(2 * MINUTE)
    said = {m.vendor: (m.status, m.problem) for m in desk.messages}
    assert said.pop(refused) == (Status.REJECTED, "shipper refuses carrier")
    assert list(said.values()) == [(Status.CONFIRMED, "")]


def test_without_docks_goods_past_the_due_time_fail_by_that_name() -> None:
    open_road = LegSpec((), (), 12 * HOUR, 13 * HOUR, Constant(2 * HOUR), 2 * HOUR)
    desk = Desk(certain(calm(orders=OrderSpec(1, (open_road,), Constant(100.0), 3.0))))
    call(desk, Verb.QUOTE, "aster")
    call(desk, Verb.TENDER, "aster")
    desk.after(2 * MINUTE)
    assert call(desk, Verb.DISPATCH, "aster") == 200
    assert verdict(desk).failure == "after_due_time"
