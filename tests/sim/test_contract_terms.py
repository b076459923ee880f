"""How decisions arrive, and what becomes of idempotency keys.

1. A vendor that is polled sends no message; its pending answer has a number and says when to ask.
2. A carrier that decides at once says so in its answer.
3. A key that is honoured, strict or not yet expired gives the first answer again and has no second effect.
4. A key reused with another request is a 409 where the vendor is strict; a refused attempt uses up no key.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from sim.desk import Desk
from sim.worlds import calm, carrier, dock, events, play

from masim.env.core import Session
from masim.policy.base import Ask
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rng import Noise
from masim.sim.idempotency import KEY_REUSED
from masim.sim.spec import AppointmentType, Instance, Status, Verb, WorldSpec
from masim.sim.terms import Decisions, KeyRule, Terms
from masim.sim.wire import Result, Stop
from masim.units import HOUR, MINUTE

POLL = Terms(Decisions.POLL, 5 * MINUTE)
DEFERRED = AppointmentType.DEFERRED
NOON, ONE = 6, 7


def world(terms: Terms, kind: AppointmentType = AppointmentType.AUTOMATIC) -> WorldSpec:
    """Return the calm world with the same terms at every vendor."""
    spec = calm(docks=(dock("plant", kind), dock("store", kind)))
    return replace(
        spec,
        carriers=tuple(replace(c, terms=terms) for c in spec.carriers),
        docks=tuple(replace(d, terms=terms) for d in spec.docks),
    )


def test_a_polled_vendor_is_silent_and_says_when_to_ask() -> None:
    desk = Desk(world(POLL, DEFERRED))
    desk.ask(Verb.QUOTE, "aster")
    body = desk.ask(Verb.TENDER, "aster")
    assert (body.result, body.request, body.retry_after_s) == (Result.PENDING, "aster/t0", 5 * MINUTE)
    booked = desk.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, NOON)
    assert (booked.result, booked.request, booked.retry_after_s) == (Result.PENDING, "plant/a0", 5 * MINUTE)
    desk.after(HOUR)
    assert desk.messages == []
    assert desk.ask(Verb.TENDER_STATUS, "aster").status is Status.CONFIRMED
    assert desk.ask(Verb.APPOINTMENT_DETAILS, "plant", Stop.PICKUP).status is Status.CONFIRMED


def test_a_callback_vendor_says_nothing_about_when_to_ask() -> None:
    desk = Desk(calm())
    desk.ask(Verb.QUOTE, "aster")
    body = desk.ask(Verb.TENDER, "aster")
    assert (body.request, body.retry_after_s) == ("aster/t0", 0.0)


@pytest.mark.parametrize("accept_p", [1.0, 0.0])
def test_a_carrier_decides_in_its_answer(accept_p: float) -> None:
    at_once = Terms(Decisions.SYNCHRONOUS)
    desk = Desk(calm(carriers=(carrier("aster", accept_p=accept_p, terms=at_once), carrier("birch"))))
    desk.ask(Verb.QUOTE, "aster")
    body = desk.ask(Verb.TENDER, "aster")
    wanted = (200, Status.CONFIRMED) if accept_p else (422, Status.REJECTED)
    assert (body.code, body.status) == wanted
    desk.after(HOUR)
    assert desk.messages == []


@pytest.mark.parametrize("terms", [Terms(Decisions.SYNCHRONOUS), POLL, Terms()])
def test_the_workflow_completes_whatever_way_decisions_come(terms: Terms) -> None:
    kind = AppointmentType.AUTOMATIC if terms.decisions is Decisions.SYNCHRONOUS else DEFERRED
    policy, noise = WorkflowPolicy("w", Habits()), Noise(1, "policy")
    session: Session = play(world(terms, kind), lambda decision: policy.choose([Ask(decision, noise)])[0].action)
    assert all(outcome.safe for outcome in session.outcomes())
    assert bool(events(session, "message")) == (terms.decisions is not Decisions.POLL)


@pytest.mark.parametrize("rule", list(KeyRule))
def test_a_replayed_key(rule: KeyRule) -> None:
    desk = Desk(world(Terms(key_rule=rule, key_ttl_s=HOUR if rule is KeyRule.EXPIRES else None)))
    plant = desk.world.docks["plant"]
    first = desk.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, NOON, idempotency_key="k")
    again = desk.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, NOON, idempotency_key="k")
    assert again == (first if rule is KeyRule.IGNORED else replace(first, replayed=True))
    assert len(plant.appointments) == (2 if rule is KeyRule.IGNORED else 1)
    other = desk.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, ONE, idempotency_key="k")
    if rule is KeyRule.STRICT:
        assert (other.code, other.problem) == (409, KEY_REUSED)
    elif rule is not KeyRule.IGNORED:
        assert other == again
    desk.after(HOUR)
    made = len(plant.appointments)
    desk.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, NOON, idempotency_key="k")
    grows = rule in (KeyRule.EXPIRES, KeyRule.IGNORED)
    assert len(plant.appointments) - made == int(grows and plant.spec.capacity > made)


def test_keys_of_two_vendors_are_apart_and_a_refusal_uses_none_up() -> None:
    spec = world(Terms(key_rule=KeyRule.STRICT))
    desk = Desk(spec, outages={})
    assert desk.ask(Verb.TENDER, "aster", idempotency_key="k").code == 404
    desk.ask(Verb.QUOTE, "aster")
    assert desk.ask(Verb.TENDER, "aster", idempotency_key="k").code == 202
    desk.ask(Verb.QUOTE, "birch")
    assert not desk.ask(Verb.TENDER, "birch", idempotency_key="k").replayed
    assert desk.ask(Verb.TENDER, "aster", idempotency_key="k").replayed
    assert [len(c.tenders) for c in desk.world.carriers.values()] == [1, 1]
    notes = [row.note for row in desk.world.trace.rows if row.event == "effect" and row.verb == "tender"]
    assert notes == ["no quote", "", "", "replayed"]


def test_a_new_day_knows_no_keys() -> None:
    spec = world(Terms(key_rule=KeyRule.HONOURED))
    for day in (0, 1):
        session = Session(spec, Instance(1, day))
        assert session.world._keys._seen == {}
