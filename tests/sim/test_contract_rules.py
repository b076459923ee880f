"""Appointment types and rules of docks, and the fees of the road.

1. FCFS: no appointments; trucks are served by arrival and capacity, and turned away after closing.
2. An appointment that must be confirmed lapses at its cut-off and frees its place; one confirmed in time stays.
3. A change under decision keeps the old slot; refused or granted, exactly one place is taken afterwards.
4. Lead times, cut-off, blackouts and the time to confirm refuse by name, and are not listed as available.
5. Detention, TONU and late cancellations cost what the contract says, and the ledger sums to zero.
6. The workflow completes its orders at docks of each type.
"""

from __future__ import annotations

import pytest
from sim.desk import ORDER, Desk
from sim.worlds import calm, carrier, dock, play

from masim.policy.base import Ask
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rng import Noise
from masim.sim import rules
from masim.sim.dists import Constant
from masim.sim.fees import detention_cents
from masim.sim.spec import AppointmentType, DockSpec, Status, Verb, WorldSpec
from masim.sim.terms import DockRules, Fees
from masim.sim.wire import Result, Stop
from masim.units import HOUR, MINUTE

PICKUP, DELIVERY = Stop.PICKUP, Stop.DELIVERY
NOON, ONE, TWO = 6, 7, 8
FCFS, DEFERRED = AppointmentType.FCFS, AppointmentType.DEFERRED
CONFIRM = AppointmentType.CARRIER_CONFIRMATION_REQUIRED
OTHER = {"agent": "booker_1", "order": "booker_1-order_0"}


def plant(kind: AppointmentType = AppointmentType.AUTOMATIC, **changes: object) -> Desk:
    """Return a desk whose plant has one place per slot and the given rules."""
    made = dock("plant", kind, capacity=1, rules=DockRules(**changes))  # type: ignore[arg-type]
    return Desk(calm(docks=(made, dock("store"))))


def queue_world(**changes: object) -> WorldSpec:
    """Return a world whose docks serve who comes first, with one ramp."""
    ramps: tuple[DockSpec, ...] = tuple(dock(name, FCFS, capacity=1, **changes) for name in ("plant", "store"))
    return calm(docks=ramps)


def send_trucks(desk: Desk) -> None:
    for more in ({}, OTHER):
        for verb in (Verb.QUOTE, Verb.TENDER):
            desk.ask(verb, "aster", **more)
    desk.after(10 * MINUTE)
    for more in ({}, OTHER):
        assert desk.ask(Verb.DISPATCH, "aster", **more).code == 200


def test_first_come_first_served() -> None:
    desk = Desk(queue_world())
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON).code == 405
    send_trucks(desk)
    desk.world.settle()
    landed = sorted(outcome.landed_s for outcome in desk.world.outcomes())
    # Both come at noon: one is served then, the other an hour later; the store serves each when it comes.
    assert landed == [14 * HOUR, 15 * HOUR]


def test_a_queue_ends_at_closing_time() -> None:
    desk = Desk(queue_world(close_s=13 * HOUR))
    send_trucks(desk)
    desk.world.settle()
    assert [outcome.failure for outcome in desk.world.outcomes()] == ["dock_closed", "dock_closed"]


def test_trucks_of_others_queue_too() -> None:
    world = Desk(queue_world()).world
    plant_dock = world.docks["plant"]
    plant_dock.background(NOON)
    world.clock.at(12 * HOUR, lambda: None)
    while world.clock.now < 12 * HOUR:
        world.clock.step()
    assert plant_dock.queue() == 13 * HOUR


def test_what_nobody_confirms_lapses() -> None:
    desk = plant(CONFIRM, confirm_by_s=2 * HOUR)
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON).status is Status.UNCONFIRMED
    desk.until(10 * HOUR - 1.0)
    assert desk.world.docks["plant"].free(NOON) == 0
    desk.until(10 * HOUR + 5.0)
    assert desk.world.docks["plant"].free(NOON) == 1
    assert [(m.status, m.problem) for m in desk.messages] == [(Status.CANCELED, "not confirmed in time")]
    assert desk.ask(Verb.CONFIRM_APPOINTMENT, "plant", PICKUP).code == 404


def test_what_is_confirmed_in_time_stays() -> None:
    desk = plant(CONFIRM, confirm_by_s=2 * HOUR)
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    for _ in range(2):
        assert desk.ask(Verb.CONFIRM_APPOINTMENT, "plant", PICKUP).status is Status.CONFIRMED
    desk.until(11 * HOUR)
    assert desk.world.docks["plant"].free(NOON) == 0
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, ONE, **OTHER).problem == rules.TOO_LATE_TO_CONFIRM


def test_moving_an_unconfirmed_appointment_moves_its_cut_off() -> None:
    desk = plant(CONFIRM, confirm_by_s=2 * HOUR)
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    desk.ask(Verb.RESCHEDULE, "plant", PICKUP, TWO)
    desk.until(12 * HOUR - 1.0)
    assert desk.world.docks["plant"].free(TWO) == 0
    desk.until(12 * HOUR + 1.0)
    assert desk.world.docks["plant"].free(TWO) == 1


@pytest.mark.parametrize("taken", [False, True])
def test_a_change_under_decision_keeps_the_old_slot(taken: bool) -> None:
    desk = plant(DEFERRED, changes_decided=True)
    room = desk.world.docks["plant"]
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    desk.after(15 * MINUTE)
    body = desk.ask(Verb.RESCHEDULE, "plant", PICKUP, ONE)
    assert (body.result, body.request) == (Result.PENDING, "plant/a0-change")
    assert desk.ask(Verb.RESCHEDULE, "plant", PICKUP, TWO).code == 409
    assert (room.free(NOON), room.free(ONE)) == (0, 1)
    if taken:
        room.background(ONE)
    desk.after(15 * MINUTE)
    assert (room.free(NOON), room.free(ONE)) == ((0, 0) if taken else (1, 0))
    told = desk.messages[-1]
    assert told.slot is not None
    assert (told.status, told.slot.index, told.problem) == (
        (Status.CONFIRMED, NOON, "change refused") if taken else (Status.CONFIRMED, ONE, "")
    )


def test_cancelling_ends_a_change_under_decision() -> None:
    desk = plant(DEFERRED, changes_decided=True)
    room = desk.world.docks["plant"]
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    desk.after(15 * MINUTE)
    desk.ask(Verb.HOLD, "plant", PICKUP, ONE)
    desk.ask(Verb.RESCHEDULE, "plant", PICKUP, ONE)
    assert (room.free(NOON), room.free(ONE)) == (0, 0)
    desk.ask(Verb.CANCEL_APPOINTMENT, "plant", PICKUP)
    desk.after(HOUR)
    assert (room.free(NOON), room.free(ONE), room.moves, room.holds) == (1, 1, {}, {})


@pytest.mark.parametrize(
    ("changes", "slot", "problem"),
    [
        ({"lead_min_s": 6.5 * HOUR}, NOON, rules.TOO_SOON),
        ({"lead_min_s": 6.5 * HOUR}, ONE, ""),
        ({"lead_max_s": 6.5 * HOUR}, NOON, ""),
        ({"lead_max_s": 6.5 * HOUR}, ONE, rules.TOO_FAR),
        ({"blackouts": ((12 * HOUR, 13 * HOUR),)}, NOON, rules.BLACKED_OUT),
        ({"blackouts": ((12 * HOUR, 13 * HOUR),)}, ONE, ""),
        ({"cutoff_s": 5.5 * HOUR}, NOON, rules.CUT_OFF),
        ({"cutoff_s": 6.5 * HOUR}, NOON, ""),
    ],
)
def test_rules_refuse_and_hide_a_slot(changes: dict[str, object], slot: int, problem: str) -> None:
    desk = plant(**changes)
    listed = desk.ask(Verb.AVAILABILITY, "plant", PICKUP, not_before_s=(slot + 6) * HOUR).slots
    assert (slot in {s.index for s in listed}) == (not problem)
    body = desk.ask(Verb.SCHEDULE, "plant", PICKUP, slot)
    assert (body.code, body.problem) == ((409, problem) if problem else (200, ""))


def test_a_change_has_a_lead_time_of_its_own() -> None:
    desk = plant(change_lead_s=2 * HOUR)
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    assert desk.ask(Verb.RESCHEDULE, "plant", PICKUP, ONE).code == 200
    desk.until(11 * HOUR + MINUTE)
    assert desk.ask(Verb.RESCHEDULE, "plant", PICKUP, TWO).problem == rules.TOO_LATE_TO_CHANGE


@pytest.mark.parametrize(("at_s", "cost"), [(8 * HOUR, 0), (11 * HOUR, 5_000)])
def test_a_cancellation_in_time_is_free(at_s: float, cost: int) -> None:
    rule = DockRules(cancel_free_s=2 * HOUR)
    desk = Desk(calm(docks=(dock("plant", cancel_fee_cents=5_000, rules=rule), dock("store"))))
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    desk.until(at_s)
    desk.ask(Verb.CANCEL_APPOINTMENT, "plant", PICKUP)
    assert desk.world.ledger.cost_of(ORDER, "booker_0") == cost


def test_detention_by_hand() -> None:
    fees = Fees(2 * HOUR, 5_000)
    assert [detention_cents(fees, h * HOUR) for h in (0.0, 2.0, 3.4)] == [0, 0, 7_000]


def booked(docks: tuple[DockSpec, DockSpec], fees: Fees) -> Desk:
    desk = Desk(calm(docks=docks, carriers=(carrier("aster", fees=fees), carrier("birch"))))
    desk.ask(Verb.QUOTE, "aster")
    desk.ask(Verb.TENDER, "aster")
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    desk.ask(Verb.SCHEDULE, "store", DELIVERY, 12)
    desk.after(10 * MINUTE)
    assert desk.ask(Verb.DISPATCH, "aster").code == 200
    return desk


def test_a_slow_dock_costs_detention_and_time() -> None:
    slow = dock("plant", rules=DockRules(dwell=Constant(3.5 * HOUR)))
    desk = booked((slow, dock("store")), Fees(2 * HOUR, 5_000))
    freight = desk.world.ledger.cost_of(ORDER, "booker_0")
    desk.world.settle()
    outcome = desk.world.outcomes()[0]
    assert (outcome.completed, outcome.cost_cents - freight) == (True, 7_500)
    assert sum(desk.world.ledger.balances().values()) == 0


@pytest.mark.parametrize("tonu", [None, 15_000])
def test_a_truck_that_is_turned_away(tonu: int | None) -> None:
    desk = booked((dock("plant"), dock("store")), Fees(tonu_cents=tonu))
    freight = desk.world.ledger.cost_of(ORDER, "booker_0")
    desk.ask(Verb.CANCEL_APPOINTMENT, "plant", PICKUP)
    desk.world.settle()
    outcome = desk.world.outcomes()[0]
    assert outcome.failure == "no_pickup_appointment"
    assert outcome.cost_cents == (freight if tonu is None else tonu)
    assert sum(desk.world.ledger.balances().values()) == 0


@pytest.mark.parametrize("kind", list(AppointmentType))
@pytest.mark.parametrize("confirm_by_s", [None, 2 * HOUR])
def test_the_workflow_books_at_docks_of_each_type(kind: AppointmentType, confirm_by_s: float | None) -> None:
    rule = DockRules(confirm_by_s=confirm_by_s if kind is CONFIRM else None, dwell=Constant(30 * MINUTE))
    spec = calm(docks=tuple(dock(name, kind, rules=rule) for name in ("plant", "store")))
    policy, noise = WorkflowPolicy("w", Habits()), Noise(1, "policy")
    session = play(spec, lambda decision: policy.choose([Ask(decision, noise)])[0].action)
    assert all(outcome.safe for outcome in session.outcomes())
    made = [a for d in session.world.docks.values() for a in d.appointments]
    assert len(made) == (0 if kind is FCFS else 4)
