"""What the kinds of the families outage and staleness do.

1. down refuses by its schedule, one verb or all, one vendor or all upstream; flapping turns with the clock.
2. A brown-out is slower and no refusal. A stampede waits behind the refused calls, and the backlog drains.
3. A cache and a replica show the past of slots, appointments and tenders; a replica may go back in time.
4. A read soon after one's own write shows what was before it, others' reads and later ones do not.
5. A drifting list loses a slot or shows one twice.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from sim.desk import Desk
from sim.worlds import calm, dock

from masim.errors import ConfigError
from masim.sim.dists import Constant
from masim.sim.faults.base import Fault
from masim.sim.faults.kinds.outage import BrownOut, Down, Flapping, RecoveryStampede
from masim.sim.faults.kinds.staleness import (
    CacheAge,
    PaginationDrift,
    ReadYourWritesMiss,
    ReplicaLag,
    drifted,
)
from masim.sim.faults.rules import FaultSpec, Match, Rate, When
from masim.sim.spec import Status, Verb
from masim.sim.wire import Body, Result, Slot, Stop
from masim.units import HOUR, MINUTE

PICKUP, NOON = Stop.PICKUP, 6
OPEN = 6 * HOUR
"""When the agents start."""


def world(*specs: FaultSpec, **changes: object) -> Desk:
    return Desk(calm(faults=specs, **changes))


def test_a_planned_outage_refuses_in_its_window() -> None:
    when = When(windows=((OPEN + MINUTE, OPEN + 2 * MINUTE),))
    desk = world(FaultSpec("f", Down(retry_after_s=60.0), when=when))
    assert desk.ask(Verb.QUOTE, "aster").code == 200
    desk.until(OPEN + MINUTE)
    body = desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    assert (body.code, body.retry_after_s) == (503, 60.0)
    assert desk.world.docks["plant"].appointments == []
    desk.until(OPEN + 2 * MINUTE)
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON).code == 200


def test_one_verb_is_down() -> None:
    desk = world(FaultSpec("f", Down(), Match(endpoints=("tender",))))
    assert [desk.ask(verb, "aster").code for verb in (Verb.QUOTE, Verb.TENDER)] == [200, 503]


def test_flapping_turns_with_the_clock() -> None:
    desk = world(FaultSpec("f", Flapping(up_s=40.0, down_s=20.0)))
    codes = []
    for t in (39, 41, 59, 61):
        desk.until(OPEN + t)
        codes.append(desk.ask(Verb.QUOTE, "aster").code)
    assert codes == [200, 503, 503, 200]


def test_a_brown_out_is_slow_but_answers() -> None:
    desk = world(FaultSpec("f", BrownOut(5.0, 9.0)))
    for _ in range(8):
        assert desk.ask(Verb.QUOTE, "aster").code == 200
    took = [answer.t_s - answer.sent_s for answer in desk.answers]
    assert min(took) >= 5.0 and max(took) <= 9.0 and len(set(took)) == 8
    causes = {row.cause_id.split(":")[0] for row in desk.world.trace.rows if row.cause_id}
    assert causes == {"brown_out"}, "what counts outages does not count it"


def test_after_an_outage_calls_wait_behind_the_backlog() -> None:
    when = When(windows=((OPEN, OPEN + MINUTE),))
    down, stampede = FaultSpec("d", Down(), when=when), FaultSpec("s", RecoveryStampede(crowd=10.0, service_s=2.0))
    desk = world(down, stampede, client_deadline_s=100.0)
    desk.until(OPEN + 59)
    for _ in range(3):
        assert desk.ask(Verb.QUOTE, "aster").code == 503
    last = desk.answers[-1].sent_s
    desk.until(OPEN + MINUTE)
    assert desk.ask(Verb.QUOTE, "aster").code == 200
    waited = 3 * 10 * 2.0 - (OPEN + MINUTE - last)
    assert desk.answers[-1].t_s - desk.answers[-1].sent_s == pytest.approx(1.0 + waited, abs=0.2)
    desk.after(5 * MINUTE)
    assert desk.ask(Verb.QUOTE, "aster").code == 200
    assert desk.answers[-1].t_s - desk.answers[-1].sent_s == 1.0, "the backlog is gone"
    assert world(stampede).ask(Verb.QUOTE, "aster").code == 200


def test_a_stampede_counts_the_endpoints_own_outages() -> None:
    spec = calm(faults=(FaultSpec("s", RecoveryStampede(crowd=10.0, service_s=0.5)),))
    desk = Desk(spec, outages={"aster": ((OPEN, OPEN + 1.0),)})
    assert desk.ask(Verb.QUOTE, "aster").code == 503
    desk.until(OPEN + 1.0)
    assert desk.ask(Verb.QUOTE, "aster").code == 200
    assert desk.answers[-1].t_s - desk.answers[-1].sent_s == pytest.approx(1.0 + 5.0 - 1.0)


def test_a_cache_shows_the_past() -> None:
    desk = world(FaultSpec("f", CacheAge(Constant(5 * MINUTE))), docks=(dock("plant", capacity=1), dock("store")))
    desk.ask(Verb.QUOTE, "aster")
    desk.ask(Verb.TENDER, "aster")
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    noon = desk.world.docks["plant"].start_s(NOON)

    def seen() -> tuple[Status, Status, bool]:
        slots = desk.ask(Verb.AVAILABILITY, "plant", PICKUP, not_before_s=noon).slots
        details = desk.ask(Verb.APPOINTMENT_DETAILS, "plant", PICKUP)
        return desk.ask(Verb.TENDER_STATUS, "aster").status, details.status, NOON in {slot.index for slot in slots}

    assert seen() == (Status.NOT_SCHEDULED, Status.NOT_SCHEDULED, True)
    desk.after(4 * MINUTE + 58)
    assert seen() == (Status.PENDING, Status.CONFIRMED, False)
    desk.after(MINUTE)
    assert seen()[0] is Status.CONFIRMED, "it was accepted after a minute, and that is five minutes ago now"


def test_a_cancelled_appointment_lives_on_in_the_cache() -> None:
    desk = world(FaultSpec("f", CacheAge(Constant(5 * MINUTE))))
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    desk.after(6 * MINUTE)
    desk.ask(Verb.CANCEL_APPOINTMENT, "plant", PICKUP)
    body = desk.ask(Verb.APPOINTMENT_DETAILS, "plant", PICKUP)
    assert (body.status, body.slot and body.slot.index) == (Status.CONFIRMED, NOON)
    desk.after(6 * MINUTE)
    assert desk.ask(Verb.APPOINTMENT_DETAILS, "plant", PICKUP).status is Status.CANCELED


def test_replicas_go_back_in_time() -> None:
    desk = world(FaultSpec("f", ReplicaLag(lag_s=HOUR, followers=2)))
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    seen = [desk.ask(Verb.APPOINTMENT_DETAILS, "plant", PICKUP).status for _ in range(40)]
    assert set(seen) == {Status.CONFIRMED, Status.NOT_SCHEDULED}
    assert any(a is Status.CONFIRMED and b is Status.NOT_SCHEDULED for a, b in pairwise(seen))
    faults = desk.world.faults
    assert faults is not None and faults.counts()["f"][1] == seen.count(Status.NOT_SCHEDULED)


def test_a_read_misses_ones_own_write_for_a_while() -> None:
    desk = world(FaultSpec("f", ReadYourWritesMiss(within_s=MINUTE)))
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    assert desk.ask(Verb.APPOINTMENT_DETAILS, "plant", PICKUP).status is Status.NOT_SCHEDULED
    assert desk.ask(Verb.APPOINTMENT_DETAILS, "plant", PICKUP, agent="booker_1").status is Status.CONFIRMED
    desk.after(MINUTE)
    assert desk.ask(Verb.APPOINTMENT_DETAILS, "plant", PICKUP).status is Status.CONFIRMED


def test_writes_are_remembered_whatever_the_rate_draws() -> None:
    desk = world(FaultSpec("f", ReadYourWritesMiss(), rate=Rate(nth=2)))
    desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    assert desk.ask(Verb.APPOINTMENT_DETAILS, "plant", PICKUP).status is Status.NOT_SCHEDULED
    assert desk.ask(Verb.APPOINTMENT_DETAILS, "plant", PICKUP).status is Status.CONFIRMED


SLOTS = tuple(Slot(i, float(i)) for i in range(4))


@pytest.mark.parametrize(
    ("missing", "u", "indices"),
    [
        (True, 0.0, [1, 2, 3]),
        (True, 0.99, [0, 1, 2]),
        (False, 0.0, [0, 0, 1, 2]),
        (False, 0.6, [0, 1, 1, 2]),
        (False, 0.99, [0, 1, 2, 2]),
    ],
)
def test_a_list_drifts(missing: bool, u: float, indices: list[int]) -> None:
    body = drifted(Body(Result.SUCCESS, 200, slots=SLOTS), missing, u)
    assert [slot.index for slot in body.slots] == indices
    assert drifted(Body(Result.SUCCESS, 200), missing, u).slots == ()


def test_drift_strikes_lists_alone() -> None:
    desk = world(FaultSpec("f", PaginationDrift(missing_p=1.0)))
    assert len(desk.ask(Verb.AVAILABILITY, "plant", PICKUP).slots) == 3
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON).code == 200
    faults = desk.world.faults
    assert faults is not None and faults.counts()["f"][1] == 1


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Down(204), "http_status"),
        (lambda: BrownOut(0.5, 2.0), "factor_low"),
        (lambda: BrownOut(9.0, 2.0), "factor_low"),
        (lambda: Flapping(down_s=0.0), "down_s"),
        (lambda: ReplicaLag(followers=0), "followers"),
    ],
)
def test_settings_out_of_range(make: Callable[[], Fault], field: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make()
    assert caught.value.where == field
