"""The circuit breaker: its states one by one, and that a call it holds back never reaches a vendor."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sim.desk import AGENT
from sim.worlds import apis, calm
from tools.rig import Rig, retrying

from masim.errors import ConfigError
from masim.sim.spec import RateLimit, Verb
from masim.sim.wire import Call, Stop
from masim.tools.breaker import Breaker, BreakerSettings, State
from masim.tools.client import CIRCUIT_OPEN, LOCAL
from masim.tools.settings import ClientSettings
from masim.units import HOUR, MINUTE

SETTINGS = BreakerSettings(failures=3, window_s=60.0, open_s=30.0, probes=2)


def opened(t_s: float = 0.0) -> Breaker:
    breaker = Breaker(SETTINGS)
    for _ in range(3):
        breaker.sent()
        breaker.ended(t_s, failed=True)
    return breaker


def test_it_opens_on_enough_failures_within_the_window_only() -> None:
    breaker = Breaker(SETTINGS)
    for t_s, state in ((0.0, "closed"), (30.0, "closed"), (61.0, "closed"), (89.0, "open")):
        breaker.ended(t_s, failed=True)
        assert breaker.state == state, t_s


def test_successes_between_do_not_close_the_count() -> None:
    breaker = Breaker(SETTINGS)
    for t_s, failed in ((0, True), (1, False), (2, True), (3, False), (4, True)):
        breaker.ended(float(t_s), failed)
    assert breaker.state is State.OPEN


def test_open_lets_nothing_pass_until_its_time() -> None:
    breaker = opened()
    assert not breaker.allows(29.9) and breaker.wait_s(10.0) == 20.0
    breaker.ended(5.0, failed=False)
    assert breaker.state is State.OPEN, "an old call's success changes nothing"
    assert breaker.allows(30.0)


def test_probes_close_it_or_open_it_again() -> None:
    breaker = opened()
    for _ in range(2):
        assert breaker.allows(30.0)
        breaker.sent()
    assert breaker.state is State.HALF_OPEN
    assert not breaker.allows(30.0), "two probes are under way"
    breaker.ended(31.0, failed=False)
    assert breaker.state is State.HALF_OPEN
    breaker.ended(32.0, failed=False)
    assert breaker.state is State.CLOSED
    again = opened()
    again.sent()
    again.ended(35.0, failed=True)
    assert again.state is State.OPEN and not again.allows(64.9) and again.allows(65.0)


def down(per: str = "endpoint") -> Rig:
    """The plant is down for an hour; two failures open the breaker for ten minutes."""
    breaker = BreakerSettings(failures=2, window_s=MINUTE, open_s=10 * MINUTE, per=per)
    start = Rig(calm(), {}).start
    return Rig(calm(), {AGENT: ClientSettings(breaker=breaker)}, {"plant": ((start, start + HOUR),)})


def test_a_call_that_is_held_back_fails_at_once_and_reaches_no_vendor() -> None:
    rig = down()
    assert [rig.ask(Verb.AVAILABILITY, "plant", Stop.PICKUP).problem for _ in range(2)] == ["service unavailable"] * 2
    before = rig.now
    body = rig.ask(Verb.AVAILABILITY, "plant", Stop.PICKUP)
    assert (body.code, body.problem, rig.now) == (503, CIRCUIT_OPEN, before)
    assert body.retry_after_s == pytest.approx(10 * MINUTE)
    assert (len(rig.wire.sent), rig.world.gateway.calls, rig.answers[-1].request_id) == (2, 2, LOCAL)
    (row,) = rig.rows("short_circuit")
    assert (row.verb, row.vendor, row.code, row.note) == ("availability", "plant", 503, CIRCUIT_OPEN)


@pytest.mark.parametrize(("per", "held"), [("endpoint", 0), ("vendor", 1)])
def test_the_scope_is_an_endpoint_or_a_vendor(per: str, held: int) -> None:
    rig = down(per)
    for _ in range(2):
        rig.ask(Verb.AVAILABILITY, "plant", Stop.PICKUP)
    rig.ask(Verb.APPOINTMENT_DETAILS, "plant", Stop.PICKUP)
    assert len(rig.rows("short_circuit")) == held
    assert rig.ask(Verb.AVAILABILITY, "store", Stop.DELIVERY).code == 200, "another vendor is another circuit"


def test_a_probe_after_the_pause_finds_the_vendor_back() -> None:
    rig = down()
    for _ in range(2):
        rig.ask(Verb.AVAILABILITY, "plant", Stop.PICKUP)
    rig.after(11 * MINUTE)
    assert rig.ask(Verb.AVAILABILITY, "plant", Stop.PICKUP).problem == "service unavailable", "the probe went out"
    assert rig.ask(Verb.AVAILABILITY, "plant", Stop.PICKUP).problem == CIRCUIT_OPEN
    rig.after(HOUR)
    assert rig.ask(Verb.AVAILABILITY, "plant", Stop.PICKUP).code == 200
    assert rig.clients.state(AGENT, Call(Verb.AVAILABILITY, "plant", "x")) is State.CLOSED


def test_throttling_is_no_failure_of_the_vendor() -> None:
    breaker = BreakerSettings(failures=1)
    spec = calm(apis=apis(rate_limit=RateLimit(1 / HOUR, 1)))
    rig = Rig(spec, {AGENT: ClientSettings(breaker=breaker)})
    assert [rig.ask(Verb.QUOTE, "aster").code for _ in range(3)] == [200, 429, 429]
    assert not rig.rows("short_circuit")


def test_a_breaker_that_opens_ends_the_retries_with_the_vendors_own_answer() -> None:
    start = Rig(calm(), {}).start
    settings = replace(retrying(attempts=9), breaker=BreakerSettings(failures=3))
    rig = Rig(calm(), {AGENT: settings}, {"plant": ((start, start + HOUR),)})
    assert rig.ask(Verb.AVAILABILITY, "plant", Stop.PICKUP).problem == "service unavailable"
    assert len(rig.wire.sent) == 3


@pytest.mark.parametrize("change", [{"failures": 0}, {"open_s": 0.0}, {"probes": 0}, {"per": "verb"}])
def test_impossible_settings_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="impossible breaker setting"):
        replace(SETTINGS, **change)  # type: ignore[arg-type]
