"""Idempotency keys: one for all attempts at an effect, another for every other effect."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sim.desk import AGENT
from sim.worlds import apis, calm, dock
from tools.rig import Rig, retrying

from masim.errors import ConfigError
from masim.sim.faults.kinds.status import EmptySuccess
from masim.sim.faults.rules import FaultSpec, Match, Rate
from masim.sim.spec import Transient, Verb
from masim.sim.terms import KeyRule, Terms
from masim.sim.wire import Result, Stop
from masim.tools.settings import ClientSettings
from masim.units import MINUTE

KEYED = ClientSettings(idempotency=True)
PATIENT = replace(retrying(attempts=3, write_timeouts=True), idempotency=True)
OTHER = "booker_1"


def keys(rig: Rig) -> list[str]:
    return [call.idempotency_key for _, _, call in rig.wire.sent]


def test_all_attempts_of_a_call_and_its_repetition_carry_one_key() -> None:
    rig = Rig(calm(apis=apis(transient=Transient(1.0, 1.0, 0.0, MINUTE))), {AGENT: PATIENT})
    for _ in range(2):
        rig.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, 6)
    assert len(keys(rig)) == 6 and len(set(keys(rig))) == 1 and keys(rig)[0]


def test_other_effects_have_other_keys_and_reads_none() -> None:
    rig = Rig(calm(), {AGENT: KEYED, OTHER: KEYED})
    rig.ask(Verb.QUOTE, "aster")
    assert keys(rig) == [""]
    rig.ask(Verb.HOLD, "plant", Stop.PICKUP, 6)
    rig.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, 6)
    rig.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, 7)
    rig.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, 7)
    rig.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, 7, agent=OTHER)
    assert len(set(keys(rig))) == 6


def test_keys_per_request_follow_from_what_is_asked_alone() -> None:
    stable = replace(KEYED, key_per="request")
    rig = Rig(calm(), {AGENT: stable, OTHER: stable})
    rig.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, 6)
    rig.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, 6)
    assert len(set(keys(rig))) == 1 and keys(rig)[0]
    bare = replace(rig.wire.sent[0][2], idempotency_key="")
    assert rig.clients.keyed(OTHER, bare).idempotency_key == keys(rig)[0], "the same task in other hands"
    rig.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, 7)
    assert len(set(keys(rig))) == 2


def test_a_scope_of_keys_without_keys_is_refused() -> None:
    with pytest.raises(ConfigError, match="key_per"):
        ClientSettings(key_per="request")


def test_the_same_content_gets_the_same_key_whatever_was_asked_before() -> None:
    first, second = Rig(calm(), {AGENT: KEYED}), Rig(calm(), {AGENT: KEYED})
    second.ask(Verb.QUOTE, "birch")
    for rig in (first, second):
        rig.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, 6)
    assert keys(first)[-1] == keys(second)[-1]


def test_a_success_that_says_nothing_keeps_the_key_until_the_agent_knows() -> None:
    empty = FaultSpec("empty", EmptySuccess(), Match(endpoints=("schedule",)), rate=Rate(nth=1))
    honours = dock("plant", terms=Terms(key_rule=KeyRule.HONOURED))
    rig = Rig(calm(docks=(honours, dock("store")), faults=(empty,)), {AGENT: KEYED})
    for _ in range(3):
        rig.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, 6)
    silent, said, other = keys(rig)
    assert silent == said != other
    assert len(rig.world.docks["plant"].appointments) == 2, (
        "the third one is asked for by somebody who knows of the first"
    )


def test_an_unknown_end_keeps_the_key_until_the_agent_knows() -> None:
    rig = Rig(calm(apis=apis(lost_response_p=1.0)), {AGENT: KEYED})
    for _ in range(2):
        assert rig.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, 6).result is Result.TIMEOUT
    assert rig.ask(Verb.APPOINTMENT_DETAILS, "plant", Stop.PICKUP).result is Result.SUCCESS
    rig.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, 6)
    written = [key for key in keys(rig) if key]
    assert written[0] == written[1] != written[2]


def test_a_callback_ends_the_old_key() -> None:
    rig = Rig(calm(apis=apis(lost_response_p=1.0)), {AGENT: KEYED})
    rig.ask(Verb.QUOTE, "aster")
    rig.ask(Verb.TENDER, "aster")
    rig.after(5 * MINUTE)
    rig.ask(Verb.TENDER, "aster")
    written = [key for key in keys(rig) if key]
    assert written[0] != written[1], "the carrier's decision came as a message"


def test_a_vendor_that_honours_keys_books_once_for_retries_after_lost_responses() -> None:
    def bookings(settings: ClientSettings, rule: KeyRule) -> int:
        docks = (dock("plant", terms=Terms(key_rule=rule)), dock("store"))
        rig = Rig(calm(apis=apis(lost_response_p=1.0), docks=docks), {AGENT: settings})
        rig.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, 6)
        return len(rig.world.docks["plant"].appointments)

    bold = replace(PATIENT, idempotency=False)
    assert bookings(PATIENT, KeyRule.STRICT) == 1
    assert bookings(PATIENT, KeyRule.IGNORED) == bookings(bold, KeyRule.STRICT) == 2


def test_keys_by_order_are_the_same_for_different_bodies_and_a_strict_vendor_refuses() -> None:
    strict = dock("plant", terms=Terms(key_rule=KeyRule.STRICT))
    by_order = ClientSettings(idempotency=True, key_per="order")
    rig = Rig(calm(docks=(strict,)), {AGENT: by_order})
    assert rig.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, 6).result is Result.SUCCESS
    body = rig.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, 7)
    assert body.code == 409 and len(set(keys(rig))) == 1
