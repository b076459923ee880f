"""The way of a call, fault by fault.

1. A calm call answers after its latency; its effect comes before the answer.
2. A lost request has no effect, a lost response has it; the caller sees the same TIMEOUT.
3. A call that is slower than its caller's deadline times out, and takes effect all the same, later.
4. Rate limits answer 429 with (or, by setting, without) the seconds to wait, which are true.
5. An outage answers 503 at once and has no effect; a transient error answers 502 and has none.
6. An extra call of one agent changes none of another agent's latencies and fates.
7. A repeated call is a new draw, whatever it asks for.
8. A read from an old snapshot shows what was free then.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from sim.desk import AGENT, Desk
from sim.worlds import apis, calm, dock

from masim.sim.dists import Constant, LogNormal
from masim.sim.spec import RateLimit, Transient, Verb
from masim.sim.wire import Result, Stop
from masim.units import HOUR, MINUTE

PICKUP, DELIVERY = Stop.PICKUP, Stop.DELIVERY
NOON = 6
"""The slot of the plant that starts at 12:00."""


def test_a_calm_call() -> None:
    desk = Desk(calm())
    start = desk.now
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON).result is Result.SUCCESS
    assert desk.now == start + 1.0
    effect, answer = [next(row for row in desk.world.trace.rows if row.event == e) for e in ("effect", "answer")]
    assert start < effect.t_s < answer.t_s == desk.now
    assert {row.cause_id for row in desk.world.trace.rows} == {""}


@pytest.mark.parametrize(("lost", "booked"), [("lost_request_p", 0), ("lost_response_p", 1)])
def test_a_lost_message_looks_the_same_but_is_not(lost: str, booked: int) -> None:
    desk = Desk(calm(apis=apis(**{lost: 1.0})))
    start = desk.now
    body = desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    assert (body.result, body.code, desk.now - start) == (Result.TIMEOUT, 0, 10.0)
    assert len(desk.world.docks["plant"].appointments) == booked
    cause = desk.world.trace.rows[-1].cause_id
    assert cause.startswith(f"{lost[:-2]}:plant:schedule:")
    assert cause.split(":")[0] not in repr(body), "no answer to an agent names the fault"


def test_reads_lose_no_response() -> None:
    desk = Desk(calm(apis=apis(lost_response_p=1.0)))
    assert desk.ask(Verb.AVAILABILITY, "plant", PICKUP).result is Result.SUCCESS


def test_a_retry_after_a_lost_response_books_twice() -> None:
    desk = Desk(calm(apis=apis(lost_response_p=1.0)))
    for _ in range(2):
        assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON).result is Result.TIMEOUT
    assert desk.world.docks["plant"].free(NOON) == 0


def test_a_slow_write_takes_effect_after_its_caller_gave_up() -> None:
    desk = Desk(calm(apis=apis(Constant(30.0))))
    start = desk.now
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON).result is Result.TIMEOUT
    assert desk.now == start + 10.0
    assert desk.world.docks["plant"].appointments == []
    desk.after(10.0)
    assert len(desk.world.docks["plant"].appointments) == 1
    assert len(desk.answers) == 1


@pytest.mark.parametrize("told", [True, False])
def test_a_rate_limit_says_when_to_come_back(told: bool) -> None:
    desk = Desk(calm(apis=apis(rate_limit=RateLimit(1 / 60, 2, told))))
    assert [desk.ask(Verb.AVAILABILITY, "plant", PICKUP).code for _ in range(2)] == [200, 200]
    sent = desk.now
    body = desk.ask(Verb.AVAILABILITY, "plant", PICKUP)
    assert body.code == 429
    assert body.retry_after_s == (pytest.approx(58.0, abs=0.01) if told else 0.0)
    desk.until(sent + 57.9)
    assert desk.ask(Verb.AVAILABILITY, "plant", PICKUP).code == 429
    desk.until(sent + 58.1)
    assert desk.ask(Verb.AVAILABILITY, "plant", PICKUP).code == 200


def test_a_rate_limit_is_per_vendor_and_endpoint_and_shared_by_agents() -> None:
    desk = Desk(calm(apis=apis(rate_limit=RateLimit(1 / 60, 1))))
    assert desk.ask(Verb.AVAILABILITY, "plant", PICKUP).code == 200
    assert desk.ask(Verb.AVAILABILITY, "store", DELIVERY).code == 200
    assert desk.ask(Verb.HOLD, "plant", PICKUP, NOON).code == 200
    assert desk.ask(Verb.AVAILABILITY, "plant", PICKUP, agent="booker_1", order="booker_1-order_0").code == 429


def test_an_outage_answers_503_and_ends() -> None:
    start = Desk(calm()).now
    desk = Desk(calm(), outages={"plant": ((start, start + MINUTE),)})
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON).code == 503
    assert desk.now - start < 1.0
    assert desk.world.docks["plant"].appointments == []
    assert desk.ask(Verb.AVAILABILITY, "store", DELIVERY).code == 200, "only one vendor is down"
    desk.until(start + MINUTE)
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON).code == 200


def test_a_transient_error_has_no_effect() -> None:
    desk = Desk(calm(apis=apis(transient=Transient(1.0, 1.0, 0.0, MINUTE))))
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON).code == 502
    desk.world.settle()
    assert desk.world.docks["plant"].appointments == []


def test_an_extra_call_changes_no_draw_of_another_agent() -> None:
    endpoints = apis(LogNormal(1.0, 1.0), transient=Transient(0.3, 0.3, 0.0, MINUTE), lost_response_p=0.2)

    def ends(extra: bool) -> list[tuple[str, int, float]]:
        desk = Desk(calm(apis=endpoints))
        if extra:
            desk.send(Verb.APPOINTMENT_DETAILS, "plant", PICKUP)
            desk.send(Verb.AVAILABILITY, "plant", PICKUP)
        for verb in (Verb.AVAILABILITY, Verb.APPOINTMENT_DETAILS, Verb.AVAILABILITY):
            for _ in range(5):
                desk.send(verb, "plant", PICKUP, agent="booker_1", order="booker_1-order_0")
        desk.world.settle()
        mine = [a for a in desk.answers if a.agent == "booker_1"]
        return [(a.call.verb.value, a.body.code, a.t_s - a.sent_s) for a in mine]

    alone = ends(extra=False)
    assert sorted(alone) == sorted(ends(extra=True))
    assert len({latency for _, _, latency in alone}) > 5


def test_a_repeated_call_draws_anew_even_when_it_asks_for_other_times() -> None:
    desk = Desk(calm(apis=apis(LogNormal(1.0, 1.0))))
    starts = [desk.ask(Verb.AVAILABILITY, "plant", PICKUP, not_before_s=hour * HOUR).code for hour in (8, 9, 10)]
    assert starts == [200] * 3
    assert len({round(a.t_s - a.sent_s, 6) for a in desk.answers}) == 3


def test_a_stale_read_shows_the_past() -> None:
    one_place = (dock("plant", capacity=1), dock("store"))
    desk = Desk(calm(apis=apis(stale_age=Constant(5 * MINUTE)), docks=one_place))
    desk.after(10 * MINUTE)
    assert desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON).code == 200
    noon = desk.world.docks["plant"].start_s(NOON)

    def listed() -> bool:
        return NOON in [s.index for s in desk.ask(Verb.AVAILABILITY, "plant", PICKUP, not_before_s=noon).slots]

    assert listed()
    assert desk.ask(Verb.HOLD, "plant", PICKUP, NOON, agent="booker_1", order="booker_1-order_0").code == 409
    desk.after(6 * MINUTE)
    assert not listed()


def test_the_trace_can_be_switched_off_without_changing_the_world() -> None:
    from sim.worlds import at_random, rounds

    from masim.env.core import Session, SessionOptions
    from masim.sim.spec import Instance

    spec = replace(calm(3), apis=apis(LogNormal(1.0, 1.0)))
    ends = []
    for trace in (True, False):
        session = Session(spec, Instance(1, 0), options=SessionOptions(trace=trace))
        ends.append((list(rounds(session, at_random(4))), session.outcomes()))
        assert bool(session.trace_rows) == trace
    assert ends[0] == ends[1]
    assert AGENT in spec.agents
