"""Rules per load type: lead times, changes, places, cut-offs, blackouts, fees and handling.

1. An order's load type is drawn by the shares, by a key of its own: nothing else of the plan changes.
2. Each rule of a load type refuses such loads by name, lists no slot that it refuses, and leaves all others alone.
3. Loads of a type with places of their own never take more than these, whatever the dock has; holds count too.
4. Carriers have quote expiry and fees of a type; what they do not say is as for all.
5. Over arbitrary calls a slot holds no more than its capacity, and no more of each type than its own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sim.desk import Desk
from sim.worlds import calm, dock

from masim.sim import rules as why
from masim.sim.dists import Constant
from masim.sim.docks import Dock
from masim.sim.fees import detention_cents
from masim.sim.plan import draw_plan
from masim.sim.slots import TAKEN
from masim.sim.spec import AppointmentType, Instance, Status, Verb, WorldSpec
from masim.sim.terms import CarrierLoad, DockRules, Fees, LoadRules
from masim.sim.wire import Stop
from masim.sim.zones import clock_times, on_day
from masim.units import HOUR, MINUTE

PICKUP = Stop.PICKUP
NOON, ONE = 6, 7
DRY, COLD = "dry", "cold"
BOOKED = (Status.CONFIRMED, Status.UNCONFIRMED)


def loads(spec: WorldSpec, *shares: tuple[str, float]) -> WorldSpec:
    return replace(spec, orders=replace(spec.orders, load_types=shares))


def orders_of(desk: Desk, load_type: str) -> list[dict[str, str]]:
    """Return the orders of a type with their agents, as a desk takes them."""
    orders = [o for o in desk.plan.orders if o.load_type == load_type]
    return [{"agent": o.agent, "order": o.id} for o in orders]


def desk_with(own: LoadRules, seed: int = 1, agents: int = 6, **changes: object) -> Desk:
    """Return a desk with a plant that has rules for cold loads, and orders of both types."""
    made = dock("plant", loads=(own,), **changes)
    return Desk(loads(calm(agents, docks=(made, dock("store"))), (DRY, 0.5), (COLD, 0.5)), seed)


def test_load_types_follow_their_shares_and_change_nothing_else() -> None:
    plain = calm(1)
    typed = loads(plain, (DRY, 0.7), (COLD, 0.3))
    counts = Counter[str]()
    for seed in range(400):
        before, after = (draw_plan(spec, Instance(seed, 0)).orders for spec in (plain, typed))
        assert [replace(o, load_type="") for o in after] == list(before)
        counts.update(o.load_type for o in after)
    # 400 draws of 0.3: four standard deviations are 37.
    assert abs(counts[COLD] - 120) <= 37 and set(counts) == {DRY, COLD}


REFUSALS = {
    "lead_min": (DockRules(lead_min_s=7 * HOUR), why.TOO_SOON),
    "lead_max": (DockRules(lead_max_s=4 * HOUR), why.TOO_FAR),
    "cutoff": (DockRules(cutoff_s=5 * HOUR), why.CUT_OFF),
    "blackout": (DockRules(blackouts=((12 * HOUR, 13 * HOUR),)), why.BLACKED_OUT),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_rule_of_a_load_type_refuses_such_loads_alone(name: str) -> None:
    own, problem = REFUSALS[name]
    desk = desk_with(LoadRules(COLD, own), slots_per_answer=16)
    cold, dry = orders_of(desk, COLD)[0], orders_of(desk, DRY)[0]
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON, **cold).problem == problem
    assert desk.ask(Verb.HOLD, "plant", PICKUP, NOON, **cold).problem == problem
    listed = {slot.index for slot in desk.ask(Verb.AVAILABILITY, "plant", PICKUP, **cold).slots}
    assert NOON not in listed
    assert NOON in {slot.index for slot in desk.ask(Verb.AVAILABILITY, "plant", PICKUP, **dry).slots}
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON, **dry).status is Status.CONFIRMED


def test_changes_have_a_lead_time_of_their_own() -> None:
    desk = desk_with(LoadRules(COLD, DockRules(change_lead_s=24 * HOUR)))
    for order, code in ((orders_of(desk, COLD)[0], 409), (orders_of(desk, DRY)[0], 200)):
        assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON, **order).code == 200
        assert desk.ask(Verb.RESCHEDULE, "plant", PICKUP, ONE, **order).code == code


def test_places_of_a_load_type_are_part_of_the_slot() -> None:
    desk = desk_with(LoadRules(COLD, DockRules(), capacity=1), capacity=3)
    cold, dry = orders_of(desk, COLD), orders_of(desk, DRY)
    plant = desk.world.docks["plant"]
    assert desk.ask(Verb.HOLD, "plant", PICKUP, NOON, **cold[0]).code == 200
    assert (plant.free(NOON, cold[1]["order"]), plant.free(NOON, dry[0]["order"])) == (0, 2)
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON, **cold[1]).problem == TAKEN
    assert NOON not in {slot.index for slot in desk.ask(Verb.AVAILABILITY, "plant", PICKUP, **cold[1]).slots}
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON, **cold[0]).code == 200
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON, **dry[0]).code == 200
    plant.background(NOON)
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON, **dry[1]).problem == TAKEN
    assert desk.ask(Verb.CANCEL_APPOINTMENT, "plant", PICKUP, **cold[0]).code == 200
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON, **cold[1]).code == 200
    assert [desk.world.docks["plant"].places.used[NOON], plant._quotas[COLD][1].used[NOON]] == [3, 1]


def test_an_old_snapshot_knows_the_places_of_a_type_as_they_were() -> None:
    desk = desk_with(LoadRules(COLD, DockRules(), capacity=1), capacity=3, slots_per_answer=16)
    cold, plant = orders_of(desk, COLD), desk.world.docks["plant"]
    before_s = desk.now
    call = desk.send(Verb.AVAILABILITY, "plant", PICKUP, **cold[1])
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON, **cold[0])
    desk.after(MINUTE)
    for snapshot_s, there in ((before_s, True), (desk.now, False)):
        assert (NOON in {slot.index for slot in plant.availability(call, snapshot_s).slots}) is there


def test_cancelling_costs_what_the_type_says() -> None:
    desk = desk_with(LoadRules(COLD, DockRules(), cancel_fee_cents=900), cancel_fee_cents=100)
    for order, cents in ((orders_of(desk, COLD)[0], 900), (orders_of(desk, DRY)[0], 100)):
        desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON, **order)
        desk.ask(Verb.CANCEL_APPOINTMENT, "plant", PICKUP, **order)
        assert desk.world.ledger.cost_of(order["order"], order["agent"]) == cents
    assert sum(desk.world.ledger.balances().values()) == 0


def test_handling_takes_what_the_type_says() -> None:
    own = LoadRules(COLD, DockRules(dwell=Constant(3 * HOUR)))
    made = dock("plant", loads=(own,), rules=DockRules(dwell=Constant(HOUR)), capacity=6)
    spec = loads(calm(6, docks=(made, dock("store", capacity=6))), (DRY, 0.5), (COLD, 0.5))
    desk = Desk(replace(spec, carriers=tuple(replace(c, fees=Fees(HOUR, 5_000)) for c in spec.carriers)))
    for order in (orders_of(desk, COLD)[0], orders_of(desk, DRY)[0]):
        for verb, vendor, stop, slot in (
            (Verb.QUOTE, "aster", Stop.NONE, -1),
            (Verb.TENDER, "aster", Stop.NONE, -1),
            (Verb.SCHEDULE, "plant", PICKUP, NOON),
            (Verb.SCHEDULE, "store", Stop.DELIVERY, 12),
        ):
            desk.ask(verb, vendor, stop, slot, **order)
        desk.after(2 * MINUTE)
        assert desk.ask(Verb.DISPATCH, "aster", **order).code == 200
    desk.world.settle()
    assert [e.amount_cents for e in desk.world.ledger.entries if e.reason == "detention"] == [10_000]


def test_clock_times_of_a_type_are_local_too() -> None:
    zone = "America/Chicago"
    own = LoadRules(COLD, DockRules(zone=zone, cutoff_s=9 * HOUR, blackouts=((12 * HOUR, 13 * HOUR),)))
    made = dock("plant", rules=DockRules(zone=zone), loads=(own,))
    moved = on_day(made, calm(docks=(made, dock("store")), date="2026-03-07"), 1).loads[0].rules
    assert (moved.cutoff_s, moved.blackouts) == (14 * HOUR, ((17 * HOUR, 18 * HOUR),))
    assert {key for key, _ in clock_times(made)} >= {"load_types.cold.cutoff", "load_types.cold.blackouts"}


def test_a_carriers_terms_of_a_type() -> None:
    own = CarrierLoad(COLD, 60.0, 2_200, Fees(0.0, 9_000, 3_300))
    vendors = tuple(replace(c, loads=(own,)) for c in calm().carriers)
    desk = Desk(loads(calm(6, carriers=vendors), (DRY, 0.5), (COLD, 0.5)))
    for order, code, fee in ((orders_of(desk, COLD)[0], 410, 2_200), (orders_of(desk, DRY)[0], 202, 15_000)):
        desk.ask(Verb.QUOTE, "aster", **order)
        desk.after(2 * MINUTE)
        assert desk.ask(Verb.TENDER, "aster", **order).code == code
        desk.ask(Verb.QUOTE, "birch", **order)
        desk.ask(Verb.TENDER, "birch", **order)
        desk.after(2 * MINUTE)
        desk.ask(Verb.CANCEL_TENDER, "birch", **order)
        assert desk.world.ledger.cost_of(order["order"], order["agent"]) == fee
    carrier, cold = desk.world.carriers["aster"], next(o for o in desk.plan.orders if o.load_type == COLD)
    assert detention_cents(carrier.says_of(cold).fees, HOUR) == 9_000
    desk.world.settle()
    assert sum(desk.world.ledger.balances().values()) == 0


CALLS = (Verb.HOLD, Verb.SCHEDULE, Verb.RESCHEDULE, Verb.CANCEL_APPOINTMENT)
STEPS = st.lists(
    st.tuples(st.sampled_from(CALLS), st.integers(0, 5), st.integers(0, 2), st.sampled_from([0, 1, 15, 90])),
    min_size=5,
    max_size=40,
)


def check_places(plant: Dock, load_of: dict[str, str], own: LoadRules) -> None:
    """Every slot, its places of the type included, now and at every moment that the logs tell of."""
    taken = [(a.order, a.slot) for a in plant.appointments if a.status in BOOKED]
    taken += [(hold.key[0], hold.slot) for hold in plant.holds.values()]
    all_used = Counter(slot for _, slot in taken)
    cold_used = Counter(slot for order, slot in taken if load_of[order] == COLD)
    quota = plant._quotas[COLD][1]
    assert quota.used == [cold_used[slot] for slot in range(plant.n_slots)]
    assert plant.places.used == [all_used[slot] for slot in range(plant.n_slots)]
    for log, most in ((plant.places.log, plant.spec.capacity), (quota.log, own.capacity or 0)):
        levels = Counter[int]()
        for _, slot, delta in log:
            levels[slot] += delta
            assert 0 <= levels[slot] <= most


@settings(max_examples=40, deadline=None)
@given(
    STEPS,
    st.sampled_from([AppointmentType.AUTOMATIC, AppointmentType.DEFERRED]),
    st.integers(1, 2),
    st.sampled_from([DockRules(), DockRules(lead_min_s=6 * HOUR), DockRules(cutoff_s=7 * HOUR)]),
)
def test_places_hold_over_arbitrary_calls(
    steps: list[tuple[Verb, int, int, int]], kind: AppointmentType, places: int, rules: DockRules
) -> None:
    own = LoadRules(COLD, rules, capacity=places)
    changes = {"kind": kind, "capacity": 2, "slot_s": 4 * HOUR, "hold_ttl_s": 30 * MINUTE}
    desk = desk_with(own, rules=DockRules(changes_decided=kind is AppointmentType.DEFERRED), **changes)
    load_of = {o.id: o.load_type for o in desk.plan.orders}
    orders = [*orders_of(desk, COLD), *orders_of(desk, DRY)]
    plant = desk.world.docks["plant"]
    for verb, owner, slot, minutes in steps:
        desk.ask(verb, "plant", PICKUP, slot + 1, **orders[owner])
        check_places(plant, load_of, own)
        desk.after(minutes * MINUTE)
        check_places(plant, load_of, own)
    booked = [a for a in plant.appointments if a.status in BOOKED and load_of[a.order] == COLD]
    assert all(plant.start_s(a.slot) - a.made_s >= rules.lead_min_s for a in booked if not a.past)
    desk.world.settle()
    check_places(plant, load_of, own)
