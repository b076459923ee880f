"""What one strike does, kind by kind: commit, asynchronous and the agent's own side.

1. Commit: effect without answer, answer without effect, twice, later, and a batch of which one part stays.
2. Asynchronous: decisions that never come, come late, on other terms, or are taken back; callbacks astray.
3. Agent: what it knew is gone, its writes go twice, another agent does them too, a person takes time.
"""

from __future__ import annotations

import pytest
from sim.desk import AGENT, ORDER, Desk
from sim.worlds import calm, dock, rounds

from masim.env.core import Session
from masim.env.decision import Decision
from masim.errors import ConfigError
from masim.sim.appointments import OPEN_STATES
from masim.sim.dists import Constant
from masim.sim.faults.base import Fault
from masim.sim.faults.kinds import agent, asynchronous, commit
from masim.sim.faults.rules import FaultSpec, Match, Rate
from masim.sim.spec import AppointmentType, Instance, Status, Verb
from masim.sim.terms import KeyRule, Terms
from masim.sim.wire import REVERSED, Result, Stop
from masim.tools.settings import ClientSettings
from masim.units import HOUR, MINUTE

SLOT = 6
"""Noon at the plant."""


def desk_with(fault: Fault, *endpoints: str, **changes: object) -> Desk:
    """Return a calm world in which a fault strikes everything at these endpoints."""
    return Desk(calm(faults=(FaultSpec("f", fault, Match(endpoints=endpoints)),), **changes))


def strikes(desk: Desk) -> list[str]:
    """Return the kinds that struck, in order."""
    return [row.cause_id.partition(":")[0] for row in desk.world.trace.rows if row.event == "fault"]


def made_at(desk: Desk, name: str) -> list[Status]:
    return [a.status for a in desk.world.docks[name].appointments]


def tender(desk: Desk, vendor: str = "aster") -> None:
    desk.ask(Verb.QUOTE, vendor)
    desk.ask(Verb.TENDER, vendor)


# -- commit --------------------------------------------------------------------------------------------------------


def test_a_lost_request_has_no_effect_and_a_lost_response_has() -> None:
    for fault, effects in ((commit.LostRequest(), []), (commit.LostResponse(), [Status.CONFIRMED])):
        desk = desk_with(fault, "schedule")
        start = desk.now
        assert desk.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, SLOT).result is Result.TIMEOUT
        assert desk.now - start == pytest.approx(desk.spec.client_deadline_s)
        assert made_at(desk, "plant") == effects
        assert strikes(desk) == [fault.kind]


def test_a_duplicate_commit_books_twice_for_one_answer() -> None:
    desk = desk_with(commit.DuplicateCommit(after_s=3.0))
    desk.ask(Verb.QUOTE, "aster")
    assert desk.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, SLOT).code == 200
    assert len(made_at(desk, "plant")) == 1
    desk.after(5.0)
    assert made_at(desk, "plant") == [Status.CONFIRMED] * 2 and len(desk.answers) == 2
    assert strikes(desk) == ["duplicate_commit"], "reads are left alone"


def test_a_delayed_commit_is_answered_before_it_happens() -> None:
    desk = desk_with(commit.DelayedCommit(Constant(10 * MINUTE)))
    assert desk.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, SLOT).code == 202
    assert made_at(desk, "plant") == []
    desk.after(11 * MINUTE)
    assert made_at(desk, "plant") == [Status.CONFIRMED]


def test_a_partial_batch_keeps_the_newest_part_and_says_all_are_gone() -> None:
    desk = desk_with(commit.PartialBatch())
    for slot in (SLOT, SLOT + 1):
        desk.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, slot)
    body = desk.ask(Verb.CANCEL_APPOINTMENT, "plant", Stop.PICKUP)
    assert (body.code, body.status) == (200, Status.CANCELED)
    assert made_at(desk, "plant") == [Status.CANCELED, Status.CONFIRMED]
    plant = desk.world.docks["plant"]
    assert (plant.free(SLOT), plant.free(SLOT + 1)) == (2, 1), "its place stays taken"
    tender(desk)
    desk.ask(Verb.TENDER, "aster")
    desk.ask(Verb.CANCEL_TENDER, "aster")
    assert [load.status for load in desk.world.carriers["aster"].tenders] == [Status.CANCELED, Status.PENDING]
    assert strikes(desk) == ["partial_batch"] * 2


# -- asynchronous --------------------------------------------------------------------------------------------------


def test_decisions_that_never_come_and_that_come_late() -> None:
    desk = desk_with(asynchronous.PendingForever())
    tender(desk)
    desk.after(8 * HOUR)
    assert desk.ask(Verb.TENDER_STATUS, "aster").status is Status.PENDING and not desk.messages
    desk = desk_with(asynchronous.SlowDecision(Constant(HOUR)))
    tender(desk)
    desk.after(59 * MINUTE)
    assert not desk.messages
    desk.after(3 * MINUTE)
    assert [m.status for m in desk.messages] == [Status.CONFIRMED]


def test_a_load_is_accepted_at_another_price() -> None:
    desk = desk_with(asynchronous.ConditionalAccept(price_factor=1.5))
    price = desk.ask(Verb.QUOTE, "aster").price_cents
    desk.ask(Verb.TENDER, "aster")
    desk.after(2 * MINUTE)
    made = desk.world.carriers["aster"].tenders[0]
    assert (made.status, made.price_cents) == (Status.CONFIRMED, round(1.5 * price))
    assert desk.messages[0].problem == "accepted on other terms"


@pytest.mark.parametrize("kind", [AppointmentType.DEFERRED, AppointmentType.CARRIER_CONFIRMATION_REQUIRED])
def test_an_appointment_is_confirmed_for_a_later_slot(kind: AppointmentType) -> None:
    fault = asynchronous.ConditionalAccept(slots_later=2)
    desk = desk_with(fault, docks=(dock("plant", kind), dock("store")))
    desk.ask(Verb.HOLD, "plant", Stop.PICKUP, SLOT)
    desk.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, SLOT)
    desk.after(20 * MINUTE)
    told = desk.messages[0].slot
    assert told is not None and told.index == SLOT + 2 and desk.messages[0].status is Status.CONFIRMED
    plant = desk.world.docks["plant"]
    assert [plant.free(SLOT), plant.free(SLOT + 2)] == [2, 1]


def test_an_acceptance_may_lapse_and_a_confirmation_may_be_taken_back() -> None:
    for fault in (asynchronous.ConditionalAccept(within_s=HOUR), asynchronous.Reversal(Constant(HOUR))):
        desk = desk_with(fault)
        tender(desk)
        desk.after(2 * HOUR)
        assert [m.status for m in desk.messages] == [Status.CONFIRMED, Status.REJECTED]
        assert desk.messages[-1].problem == REVERSED
        assert desk.ask(Verb.DISPATCH, "aster").code == 404
    with pytest.raises(ConfigError, match="without a condition"):
        asynchronous.ConditionalAccept(price_factor=1.0, slots_later=0)


def test_callbacks_twice_late_or_never() -> None:
    for fault, told in (
        (asynchronous.CallbackDuplicate(5 * MINUTE), [61.0, 61.0 + 5 * MINUTE]),
        (asynchronous.CallbackReordered(Constant(30 * MINUTE)), [61.0 + 30 * MINUTE]),
        (asynchronous.CallbackLost(), []),
    ):
        desk = desk_with(fault, "callback")
        desk.ask(Verb.QUOTE, "aster")
        start = desk.now
        desk.ask(Verb.TENDER, "aster")
        desk.after(2 * HOUR)
        assert [m.t_s - start for m in desk.messages] == [pytest.approx(t + 0.6) for t in told]
        assert desk.ask(Verb.TENDER_STATUS, "aster").status is Status.CONFIRMED


def test_a_callback_overtakes_the_response() -> None:
    desk = desk_with(asynchronous.CallbackEarly())
    desk.ask(Verb.QUOTE, "aster")
    desk.ask(Verb.TENDER, "aster")
    assert [m.status for m in desk.messages] == [Status.CONFIRMED]
    assert desk.messages[0].t_s < desk.answers[-1].t_s and desk.answers[-1].body.code == 202


def test_a_dead_receiver_loses_all_callbacks_for_a_while() -> None:
    fault = FaultSpec("f", asynchronous.DeadReceiver(down_s=HOUR), rate=Rate(nth=1))
    desk = Desk(calm(faults=(fault,)))
    tender(desk)
    desk.after(30 * MINUTE)
    tender(desk, "birch")
    desk.after(2 * HOUR)
    assert desk.messages == []
    desk.ask(Verb.SCHEDULE, "store", Stop.DELIVERY, 10)
    desk.after(HOUR)
    assert [m.kind for m in desk.messages] == ["appointment"]


# -- the agent's own side ------------------------------------------------------------------------------------------


def steps(session: Session, *verbs: Verb) -> Decision:
    """Let the first agent take the first legal action of each verb, everybody else wait; return its next decision."""
    left = list(verbs)
    while True:
        for decision in sorted(session.advance(), key=lambda d: d.agent == AGENT):
            if decision.agent != AGENT:
                session.submit(decision.agent, 0)
            elif left:
                verb = left.pop(0)
                session.submit(AGENT, next(int(i) for i in decision.legal if session.table.verb[int(i)] is verb))
            else:
                return decision


def session_with(fault: Fault, *endpoints: str) -> Session:
    return Session(calm(faults=(FaultSpec("f", fault, Match(endpoints=endpoints, agents=(AGENT,))),)), Instance(1, 0))


BOOK = (Verb.QUOTE, Verb.TENDER, Verb.AVAILABILITY, Verb.SCHEDULE)


def bookings(session: Session) -> list[tuple[str, Status]]:
    """Return the open appointments of the first agent's order at the plant: by whom and how they stand."""
    made = session.world.docks["plant"].appointments
    return [(a.agent, a.status) for a in made if a.order == ORDER and a.status in OPEN_STATES]


def test_a_crashed_agent_has_forgotten_and_the_world_has_not() -> None:
    session = session_with(agent.Crash(), "schedule")
    view = steps(session, *BOOK).view
    assert bookings(session) == [(AGENT, Status.CONFIRMED)]
    assert not (view.price > 0).any() and not view.tender.any()
    assert not view.legs[0].stops[0].slots, "the answer that came after the crash is all that it knows"


def test_a_replayed_task_sends_its_writes_twice() -> None:
    session = session_with(agent.Replay())
    steps(session, *BOOK)
    assert bookings(session) == [(AGENT, Status.CONFIRMED)] * 2
    assert len(session.world.carriers["aster"].tenders) == 2
    assert session.world.gateway.calls == 2 + 2 * 2 and session.decisions(AGENT) == len(BOOK)


def test_two_agents_on_one_order() -> None:
    session = session_with(agent.TwoAgents(after_s=0.1))
    steps(session, *BOOK)
    assert bookings(session) == [(AGENT, Status.CONFIRMED), ("booker_1", Status.CONFIRMED)]
    session.submit(AGENT, 0)
    for _ in rounds(session, lambda decision: 0):
        continue
    outcome = next(o for o in session.outcomes() if o.order == ORDER)
    assert outcome.duplicates == 2, "a second slot and a second truck"


@pytest.mark.parametrize(("key_per", "booked"), [("effect", 2), ("request", 1)])
def test_two_agents_with_keys_of_the_task_are_one_to_a_vendor_that_honours_them(key_per: str, booked: int) -> None:
    fault = FaultSpec("f", agent.TwoAgents(after_s=0.1), Match(agents=(AGENT,)))
    spec = calm(faults=(fault,), docks=(dock("plant", terms=Terms(key_rule=KeyRule.HONOURED)), dock("store")))
    own = ClientSettings(idempotency=True, key_per=key_per)
    session = Session(spec, Instance(1, 0), clients=dict.fromkeys(spec.agents, own))
    steps(session, *BOOK)
    assert len(bookings(session)) == booked


def test_a_person_in_between_takes_time() -> None:
    session = session_with(agent.HumanDelay(Constant(30 * MINUTE)), "tender")
    start = session.now
    steps(session, Verb.QUOTE, Verb.TENDER)
    assert session.now - start == pytest.approx(30 * MINUTE + 2.0)
