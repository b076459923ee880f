"""Zones and lives of vendors.

1. Opening hours are local: on the day the clocks change they move on the scenario's clock, by what the calendar says.
2. A time that the clocks skip or repeat is named.
3. A carrier that is replaced answers 410 and takes back what it has not driven; its successor joins then.
4. A carrier that degrades comes late more often from then on, and not before.
5. The workflow goes on with the others.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from sim.desk import AGENT, Desk
from sim.worlds import calm, carrier, dock, play

from masim.policy.base import Ask
from masim.policy.workflow import NAIVE, Habits, WorkflowPolicy
from masim.rng import Noise
from masim.sim.plan import draw_plan
from masim.sim.spec import HiddenSpec, Instance, Status, WorldSpec
from masim.sim.spec import Verb as V
from masim.sim.terms import DockRules, Life
from masim.sim.wire import GONE, NOT_YET
from masim.sim.zones import clock_on, oddity, on_day
from masim.units import DAY, HOUR, MINUTE

CHICAGO = DockRules(zone="America/Chicago", cutoff_s=9 * HOUR, blackouts=((12 * HOUR, 13 * HOUR),))
SPRING = "2026-03-07"  # the clocks in Chicago go from 02:00 to 03:00 on the 8th


def zoned(**changes: object) -> WorldSpec:
    return calm(docks=(dock("plant", rules=CHICAGO), dock("store")), date=SPRING, **changes)


@pytest.mark.parametrize(("day", "opens_h"), [(0, 12), (1, 11), (2, 11)])
def test_hours_are_local(day: int, opens_h: float) -> None:
    spec = zoned()
    moved = on_day(spec.docks[0], spec, day)
    assert (moved.open_s, moved.close_s) == (opens_h * HOUR, (opens_h + 16) * HOUR)
    assert moved.rules.cutoff_s == (opens_h + 3) * HOUR
    assert moved.rules.blackouts == (((opens_h + 6) * HOUR, (opens_h + 7) * HOUR),)


def test_the_scenarios_clock_has_an_offset_of_its_own() -> None:
    spec = zoned(utc_offset_s=-6 * HOUR)
    assert on_day(spec.docks[0], spec, 0).open_s == 6 * HOUR
    assert on_day(spec.docks[0], spec, 1).open_s == 5 * HOUR


def test_a_dock_without_a_zone_stays_as_it_is() -> None:
    spec = zoned()
    assert on_day(spec.docks[1], spec, 1) is spec.docks[1]


def test_hours_over_the_change_lose_an_hour() -> None:
    night = dock("plant", open_s=HOUR, close_s=5 * HOUR, rules=DockRules(zone="America/Chicago"))
    spec = calm(docks=(night, dock("store")), date=SPRING)
    lengths = [on_day(night, spec, day) for day in (0, 1)]
    assert [d.close_s - d.open_s for d in lengths] == [4 * HOUR, 3 * HOUR]


def test_others_book_the_slots_that_there_are() -> None:
    busy = dock("plant", rules=CHICAGO, background_per_slot=2.0)
    plan = draw_plan(calm(docks=(busy, dock("store")), date=SPRING), Instance(1, 1))
    assert plan.background and max(slot for _, _, slot in plan.background) < 16


def test_skipped_and_repeated_times_are_named() -> None:
    zone = "America/Chicago"
    assert oddity(zone, SPRING, 1, 2.5 * HOUR) == "gap"
    assert oddity(zone, SPRING, 1, 3.5 * HOUR) == oddity(zone, SPRING, 0, 2.5 * HOUR) == ""
    assert oddity(zone, "2026-11-01", 0, 1.5 * HOUR) == "twice"
    assert clock_on(zone, SPRING, 1, 2.5 * HOUR) == clock_on(zone, SPRING, 1, 3.5 * HOUR) == 8.5 * HOUR
    assert clock_on(zone, "2026-11-01", 0, 1.5 * HOUR) == 6.5 * HOUR


def replaced(at_s: float) -> WorldSpec:
    old = carrier("aster", life=Life(gone_s=at_s, successor="birch"))
    return calm(carriers=(old, carrier("birch", life=Life(joins_s=at_s))))


def test_a_replaced_carrier_is_gone_for_good() -> None:
    desk = Desk(replaced(8 * HOUR))
    assert desk.ask(V.QUOTE, "birch").problem == NOT_YET
    desk.ask(V.QUOTE, "aster")
    desk.ask(V.TENDER, "aster")
    desk.until(8 * HOUR + MINUTE)
    assert [m.status for m in desk.messages] == [Status.CONFIRMED, Status.CANCELED]
    body = desk.ask(V.QUOTE, "aster")
    assert (body.code, body.problem) == (410, f"{GONE}; ask birch")
    assert desk.ask(V.DISPATCH, "aster").code == 410
    assert desk.ask(V.QUOTE, "birch").code == 200
    desk.world.settle()
    assert desk.world.ledger.balances().get(AGENT, 0) == 0


def test_a_carrier_that_left_on_an_earlier_day_is_gone_from_the_start() -> None:
    spec = replaced(8 * HOUR)
    desk = Desk(spec)
    desk.plan = draw_plan(spec, Instance(1, 1))
    later = Desk(replaced(-1.0))
    assert later.ask(V.QUOTE, "aster").code == 410
    assert later.ask(V.QUOTE, "birch").code == 200


def test_a_carrier_degrades() -> None:
    worse = carrier("aster", life=Life(degrades_s=DAY, on_time_factor=0.0))
    spec = calm(carriers=(worse, carrier("birch")), docks=(), hidden=HiddenSpec((1.0, 1.0)), late_grace_s=0.0)
    legs = tuple(replace(leg, pickup_docks=(), delivery_docks=()) for leg in spec.orders.legs)
    spec = replace(spec, orders=replace(spec.orders, legs=legs))
    policy, noise = WorkflowPolicy("w", replace(NAIVE, quotes=1)), Noise(1, "policy")

    def failures(day: int) -> set[str]:
        session = play(spec, lambda decision: policy.choose([Ask(decision, noise)])[0].action, day=day)
        assert {leg.carrier for leg in session.world.legs.values()} == {"aster"}
        return {outcome.failure for outcome in session.outcomes()}

    assert failures(0) == {""}
    assert failures(1) == {"truck_late"}


@pytest.mark.parametrize("at_s", [6 * HOUR + 2 * MINUTE, 0.0])
def test_the_workflow_goes_on_with_the_others(at_s: float) -> None:
    policy, noise = WorkflowPolicy("w", Habits()), Noise(1, "policy")
    session = play(replaced(at_s), lambda decision: policy.choose([Ask(decision, noise)])[0].action)
    assert all(outcome.safe for outcome in session.outcomes())
