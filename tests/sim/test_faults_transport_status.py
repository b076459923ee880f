"""What one strike of each kind of the families transport and status does.

1. latency adds, slow_body multiplies; a hang never answers but has done it; a reset tells code 0 at once.
2. A truncated list is shorter and single values are missing.
3. abort refuses; wrong_code throttles and says 403; ok_with_error did nothing; empty_success did it and says nothing.
4. Settings out of range are refused.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sim.desk import Desk
from sim.worlds import calm

from masim.errors import ConfigError
from masim.sim.dists import Constant
from masim.sim.faults.base import Fault
from masim.sim.faults.kinds.status import Abort, EmptySuccess, OkWithError, WrongCode
from masim.sim.faults.kinds.transport import Hang, Latency, Reset, SlowBody, Truncation
from masim.sim.faults.rules import FaultSpec, Rate
from masim.sim.spec import Status, Verb
from masim.sim.wire import Body, Result, Stop

PICKUP, NOON = Stop.PICKUP, 6


def struck(fault: Fault, rate: Rate | None = None) -> Desk:
    """Return a calm world with one fault."""
    return Desk(calm(faults=(FaultSpec("f", fault, rate=rate or Rate()),)))


def book(desk: Desk) -> tuple[Body, float, int]:
    """Book noon; return the answer, how long it took, and how many appointments there are in the end."""
    start = desk.now
    body = desk.ask(Verb.SCHEDULE, "plant", PICKUP, NOON)
    took = desk.now - start
    desk.world.settle()
    return body, took, len(desk.world.docks["plant"].appointments)


@pytest.mark.parametrize(
    ("fault", "code", "took", "booked"),
    [
        (Latency(Constant(4.0)), 200, 5.0, 1),
        (Latency(Constant(10.0)), 0, 10.0, 1),
        (SlowBody(3.0), 200, 3.0, 1),
        (SlowBody(30.0), 0, 10.0, 1),
        (Hang(), 0, 10.0, 1),
        (Reset("request"), 0, 0.05, 0),
        (Reset("effect"), 0, 1.0, 1),
        (Abort(500), 500, 0.05, 0),
        (WrongCode(), 403, 0.05, 0),
        (OkWithError(), 200, 0.05, 0),
        (EmptySuccess(), 201, 1.0, 1),
    ],
)
def test_one_strike(fault: Fault, code: int, took: float, booked: int) -> None:
    body, seconds, made = book(struck(fault))
    assert (body.code, made) == (code, booked)
    assert seconds == pytest.approx(took)


def test_a_hang_and_a_slow_answer_are_timeouts_but_a_reset_is_a_failure() -> None:
    assert book(struck(Hang()))[0].result is Result.TIMEOUT
    assert book(struck(Reset()))[0] == Body(Result.FAILURE, 0, problem="connection reset")


def test_a_truncated_answer() -> None:
    desk = struck(Truncation(keep=2))
    assert len(Desk(calm()).ask(Verb.AVAILABILITY, "plant", PICKUP).slots) == 4
    assert len(desk.ask(Verb.AVAILABILITY, "plant", PICKUP).slots) == 2
    quote = desk.ask(Verb.QUOTE, "aster")
    assert (quote.code, quote.price_cents, quote.expires_s) == (200, 0, 0.0)


def test_abort_tells_what_it_is_set_to() -> None:
    body = struck(Abort(503, retry_after_s=30.0)).ask(Verb.QUOTE, "aster")
    assert (body.result, body.code, body.retry_after_s) == (Result.FAILURE, 503, 30.0)


def test_a_wrong_code_passes_by_waiting_and_hits_one_agent_at_one_vendor() -> None:
    desk = struck(WrongCode(lasts_s=60.0), Rate(nth=1))
    start = desk.now
    assert desk.ask(Verb.QUOTE, "aster").code == 403
    assert desk.ask(Verb.TENDER_STATUS, "aster").code == 403, "the rate drew one call, the throttle lasts"
    assert desk.ask(Verb.QUOTE, "birch").code == 200
    desk.until(start + 60.0)
    assert desk.ask(Verb.QUOTE, "aster").code == 200
    other = "booker_1"
    assert desk.ask(Verb.QUOTE, "aster", agent=other, order=f"{other}-order_0").code == 403, "its own first call"
    assert desk.ask(Verb.QUOTE, "aster").code == 200


def test_ok_with_error_says_success_in_the_code_and_failure_in_the_text() -> None:
    body = book(struck(OkWithError("no capacity")))[0]
    assert (body.result, body.status, body.problem) == (Result.SUCCESS, Status.NOT_SCHEDULED, "no capacity")


def test_empty_success_says_nothing() -> None:
    assert book(struck(EmptySuccess()))[0] == Body(Result.SUCCESS, 201)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: SlowBody(0.5), "factor"),
        (lambda: Abort(200), "http_status"),
        (lambda: WrongCode(302), "http_status"),
        (lambda: EmptySuccess(404), "http_status"),
    ],
)
def test_settings_out_of_range(make: Callable[[], Fault], field: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make()
    assert caught.value.where == field
