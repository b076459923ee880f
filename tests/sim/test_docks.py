"""Docks: slots, holds and the appointment state machine.

1. A hold keeps a place for its stop, and only until it expires; a refused hold loses nothing.
2. An automatic dock confirms at once; one that needs the carrier is UNCONFIRMED first.
3. A deferred dock decides later: a request reserves nothing, unless its stop holds the slot.
4. A reschedule that is refused leaves the old appointment; one that works moves it.
5. Cancelling frees the place, costs the fee, and is not followed by a decision of what was cancelled.
"""

from __future__ import annotations

import pytest
from sim.desk import ORDER, Desk
from sim.worlds import calm, dock

from masim.sim.spec import AppointmentType, Status, Verb
from masim.sim.wire import Result, Stop
from masim.units import MINUTE

PICKUP = Stop.PICKUP
NOON, ONE = 6, 7
OTHER = {"agent": "booker_1", "order": "booker_1-order_0"}
DEFERRED = AppointmentType.DEFERRED


def desk_with(kind: AppointmentType = AppointmentType.AUTOMATIC, **changes: object) -> Desk:
    """Return a desk whose plant has one place per slot."""
    return Desk(calm(docks=(dock("plant", kind, capacity=1, **changes), dock("store"))))


def test_a_hold_keeps_a_place_until_it_expires() -> None:
    desk = desk_with()
    body = desk.ask(Verb.HOLD, "plant", PICKUP, NOON)
    assert body.expires_s == pytest.approx(desk.now + 10 * MINUTE, abs=1.0)
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON, **OTHER).code == 409
    desk.until(body.expires_s)
    assert desk.world.docks["plant"].free(NOON) == 1
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON, **OTHER).code == 200


def test_a_hold_is_used_up_by_its_booking() -> None:
    desk = desk_with()
    desk.ask(Verb.HOLD, "plant", PICKUP, NOON)
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON).code == 200
    desk.after(20 * MINUTE)
    assert desk.world.docks["plant"].holds == {}
    assert desk.world.docks["plant"].free(NOON) == 0


def test_a_new_hold_replaces_the_old_one_but_a_refused_one_loses_nothing() -> None:
    desk = desk_with()
    plant = desk.world.docks["plant"]
    desk.ask(Verb.HOLD, "plant", PICKUP, NOON)
    desk.ask(Verb.HOLD, "plant", PICKUP, ONE, **OTHER)
    assert desk.ask(Verb.HOLD, "plant", PICKUP, ONE).code == 409
    assert plant.free(NOON) == 0
    assert desk.ask(Verb.HOLD, "plant", PICKUP, ONE + 1).code == 200
    assert (plant.free(NOON), plant.free(ONE + 1)) == (1, 0)


def test_a_hold_can_be_renewed_and_then_expires_once() -> None:
    desk = desk_with()
    plant = desk.world.docks["plant"]
    desk.ask(Verb.HOLD, "plant", PICKUP, NOON)
    desk.after(5 * MINUTE)
    assert desk.ask(Verb.HOLD, "plant", PICKUP, NOON).code == 200
    desk.after(6 * MINUTE)
    assert plant.free(NOON) == 0
    desk.after(6 * MINUTE)
    assert plant.free(NOON) == 1


def test_docks_without_holds_say_so() -> None:
    assert desk_with(hold_ttl_s=None).ask(Verb.HOLD, "plant", PICKUP, NOON).code == 405


def test_the_carrier_confirms_later_where_the_dock_asks_for_it() -> None:
    desk = desk_with(AppointmentType.CARRIER_CONFIRMATION_REQUIRED)
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON).status is Status.UNCONFIRMED
    assert desk.world.docks["plant"].free(NOON) == 0
    desk.after(15 * MINUTE)
    assert desk.ask(Verb.APPOINTMENT_DETAILS, "plant", PICKUP).status is Status.CONFIRMED
    assert [m.status for m in desk.messages] == [Status.CONFIRMED]


@pytest.mark.parametrize("held", [False, True])
def test_a_deferred_request_reserves_nothing_unless_its_slot_is_held(held: bool) -> None:
    desk = desk_with(DEFERRED, decision_delay=dock("x").decision_delay)
    if held:
        desk.ask(Verb.HOLD, "plant", PICKUP, NOON)
    body = desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    assert (body.result, body.code, body.status) == (Result.PENDING, 202, Status.PENDING)
    assert desk.world.docks["plant"].free(NOON) == (0 if held else 1)
    desk.world.docks["plant"].background(NOON)
    desk.after(15 * MINUTE)
    wanted = Status.CONFIRMED if held else Status.REJECTED
    assert [m.status for m in desk.messages] == [wanted]
    assert desk.ask(Verb.APPOINTMENT_DETAILS, "plant", PICKUP).status is wanted
    assert desk.world.docks["plant"].free(NOON) == 0


def test_two_pending_requests_for_one_place_are_not_both_confirmed() -> None:
    desk = desk_with(DEFERRED)
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON, **OTHER)
    desk.after(20 * MINUTE)
    assert sorted(m.status for m in desk.messages) == [Status.CONFIRMED, Status.REJECTED]


def test_a_hold_does_not_lapse_while_its_request_is_decided() -> None:
    desk = Desk(calm(docks=(dock("plant", DEFERRED, capacity=1, hold_ttl_s=MINUTE), dock("store"))))
    desk.ask(Verb.HOLD, "plant", PICKUP, NOON)
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    desk.after(5 * MINUTE)
    assert desk.world.docks["plant"].free(NOON) == 0
    desk.after(10 * MINUTE)
    assert [m.status for m in desk.messages] == [Status.CONFIRMED]


def test_a_reschedule_moves_the_appointment_or_keeps_it() -> None:
    desk = desk_with()
    plant = desk.world.docks["plant"]
    assert desk.ask(Verb.RESCHEDULE, "plant", PICKUP, NOON).code == 404
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, ONE, **OTHER)
    refused = desk.ask(Verb.RESCHEDULE, "plant", PICKUP, ONE)
    assert (refused.code, refused.status) == (409, Status.CONFIRMED)
    assert plant.free(NOON) == 0
    moved = desk.ask(Verb.RESCHEDULE, "plant", PICKUP, ONE + 1)
    assert moved.slot is not None and moved.slot.index == ONE + 1
    assert (plant.free(NOON), plant.free(ONE + 1)) == (1, 0)


def test_cancelling_frees_the_place_and_costs_the_fee() -> None:
    desk = desk_with(cancel_fee_cents=5_000)
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    assert desk.ask(Verb.CANCEL_APPOINTMENT, "plant", PICKUP).status is Status.CANCELED
    assert desk.world.docks["plant"].free(NOON) == 1
    assert desk.world.ledger.cost_of(ORDER, "booker_0") == 5_000
    assert desk.ask(Verb.CANCEL_APPOINTMENT, "plant", PICKUP).code == 404


@pytest.mark.parametrize("kind", [DEFERRED, AppointmentType.CARRIER_CONFIRMATION_REQUIRED])
def test_what_was_cancelled_is_not_decided_any_more(kind: AppointmentType) -> None:
    desk = desk_with(kind)
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    desk.ask(Verb.CANCEL_APPOINTMENT, "plant", PICKUP)
    desk.after(5 * MINUTE)
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, ONE)
    desk.after(30 * MINUTE)
    assert [(m.status, m.slot.index if m.slot else -1) for m in desk.messages] == [(Status.CONFIRMED, ONE)]


def test_a_held_slot_can_be_moved_to() -> None:
    desk = desk_with()
    plant = desk.world.docks["plant"]
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    desk.ask(Verb.HOLD, "plant", PICKUP, ONE)
    assert desk.ask(Verb.RESCHEDULE, "plant", PICKUP, ONE).code == 200
    desk.after(20 * MINUTE)
    assert (plant.free(NOON), plant.free(ONE)) == (1, 0)


def test_a_new_hold_cannot_take_the_place_of_a_pending_request() -> None:
    desk = desk_with(DEFERRED)
    desk.ask(Verb.HOLD, "plant", PICKUP, NOON)
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    for slot in (NOON, ONE):
        body = desk.ask(Verb.HOLD, "plant", PICKUP, slot)
        assert (body.code, body.problem) == (409, "decision pending")
    desk.after(20 * MINUTE)
    assert [m.status for m in desk.messages] == [Status.CONFIRMED]
