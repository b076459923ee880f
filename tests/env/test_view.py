"""The agent's view: milestones are bounded and never lost; a timeout leaves the state unknown, not undone."""

from __future__ import annotations

from masim.env.actions import ActionTable
from masim.env.core import Session, SessionOptions
from masim.env.leg_view import NO, PENDING, UNKNOWN, YES, milestones
from masim.env.legality import legal_mask
from masim.env.view import AgentView
from masim.scenario.load import load_scenario
from masim.sim.plan import draw_plan
from masim.sim.spec import Instance, Status, Verb
from masim.sim.wire import Answer, Body, Call, Message, Result, Slot, Stop

SPEC = load_scenario("freight/short-chain-v0").spec
TABLE = ActionTable(SPEC)
PLAN = draw_plan(SPEC, Instance(0, 0))
ORDER = PLAN.orders[0]
CARRIER = SPEC.carriers[0].id
DOCK = ORDER.legs[0].pickup_dock


def view() -> AgentView:
    return AgentView(TABLE, (ORDER,))


def tell(seen: AgentView, verb: Verb, body: Body, stop: Stop = Stop.NONE, slot: int = -1) -> None:
    vendor = CARRIER if stop is Stop.NONE else DOCK
    seen.answer(Answer(0, ORDER.agent, Call(verb, vendor, ORDER.id, 0, stop, slot), 0.0, 10.0, body))


def test_cancelling_loses_no_milestone_and_repeating_makes_no_new_key() -> None:
    seen = view()
    booked = Body(Result.SUCCESS, 200, Status.CONFIRMED, slot=Slot(6, 100.0))
    tell(seen, Verb.SCHEDULE, booked, Stop.PICKUP, 6)
    key = seen.key_fields()
    tell(seen, Verb.CANCEL_APPOINTMENT, Body(Result.SUCCESS, 200, Status.CANCELED), Stop.PICKUP)
    assert seen.legs[0].stops[0].state == NO
    assert seen.key_fields() == key
    tell(seen, Verb.SCHEDULE, booked, Stop.PICKUP, 6)
    assert seen.key_fields() == key


def test_every_step_of_a_chain_is_a_milestone_of_its_own() -> None:
    seen = view()
    keys = [seen.key_fields()]
    tell(seen, Verb.QUOTE, Body(Result.SUCCESS, 200, price_cents=100, expires_s=1e9))
    keys.append(seen.key_fields())
    tell(seen, Verb.TENDER, Body(Result.PENDING, 202, Status.PENDING))
    keys.append(seen.key_fields())
    seen.message(Message(ORDER.agent, 20.0, "tender", CARRIER, ORDER.id, 0, Stop.NONE, Status.CONFIRMED))
    keys.append(seen.key_fields())
    tell(seen, Verb.DISPATCH, Body(Result.SUCCESS, 200, Status.CONFIRMED))
    keys.append(seen.key_fields())
    seen.declared[0] = True
    keys.append(seen.key_fields())
    assert len(set(keys)) == len(keys)


def test_a_claim_before_the_dispatch_is_no_progress() -> None:
    seen = view()
    key = seen.key_fields()
    seen.declared[0] = True
    assert seen.key_fields() == key


def test_timeouts_leave_the_state_unknown_and_reads_resolve_it() -> None:
    seen = view()
    timeout = Body(Result.TIMEOUT, 0)
    tell(seen, Verb.TENDER, timeout)
    tell(seen, Verb.SCHEDULE, timeout, Stop.PICKUP, 6)
    leg = seen.legs[0]
    assert (leg.tender[0], leg.stops[0].state) == (UNKNOWN, UNKNOWN)
    assert milestones(leg) == 0
    tell(seen, Verb.TENDER_STATUS, Body(Result.SUCCESS, 200, Status.PENDING))
    tell(seen, Verb.APPOINTMENT_DETAILS, Body(Result.SUCCESS, 200, Status.CONFIRMED, slot=Slot(6, 1.0)), Stop.PICKUP)
    assert (leg.tender[0], leg.stops[0].state) == (PENDING, YES)


def test_a_timeout_never_hides_what_was_known() -> None:
    seen = view()
    tell(seen, Verb.SCHEDULE, Body(Result.SUCCESS, 200, Status.CONFIRMED, slot=Slot(6, 1.0)), Stop.PICKUP, 6)
    tell(seen, Verb.SCHEDULE, Body(Result.TIMEOUT, 0), Stop.PICKUP, 7)
    assert seen.legs[0].stops[0].state == YES


def test_the_median_question_has_at_least_six_legal_answers() -> None:
    session = Session(SPEC, Instance(0, 0), options=SessionOptions(trace=False))
    counts = []
    while batch := session.advance():
        for decision in batch:
            counts.append(len(decision.legal))
            session.submit(decision.agent, int(decision.legal[(7 * decision.turn) % len(decision.legal)]))
    assert sorted(counts)[len(counts) // 2] >= 6


def test_one_refused_request_does_not_undo_a_granted_one() -> None:
    seen = view()
    slot = Slot(6, 100.0)
    tell(seen, Verb.SCHEDULE, Body(Result.SUCCESS, 200, Status.CONFIRMED, slot=slot), Stop.PICKUP, 6)
    other = Slot(7, 1.0)
    seen.message(Message(ORDER.agent, 20.0, "appointment", DOCK, ORDER.id, 0, Stop.PICKUP, Status.REJECTED, other))
    assert (seen.legs[0].stops[0].state, seen.legs[0].stops[0].booked) == (YES, slot)
    seen.message(Message(ORDER.agent, 20.0, "tender", CARRIER, ORDER.id, 0, Stop.NONE, Status.CONFIRMED))
    seen.message(Message(ORDER.agent, 21.0, "tender", CARRIER, ORDER.id, 0, Stop.NONE, Status.REJECTED))
    assert seen.legs[0].tender[0] == YES


def test_a_pending_decision_does_not_mark_the_slot_as_refused() -> None:
    seen = view()
    tell(seen, Verb.HOLD, Body(Result.FAILURE, 409, problem="decision pending"), Stop.PICKUP, 6)
    assert seen.legs[0].stops[0].refused == frozenset()
    tell(seen, Verb.HOLD, Body(Result.FAILURE, 409, problem="slot is taken"), Stop.PICKUP, 6)
    assert seen.legs[0].stops[0].refused == frozenset({6})


def test_calls_of_two_legs_are_not_mixed_up() -> None:
    spec = load_scenario("freight/twelve-apis-v0").spec
    table = ActionTable(spec)
    order = draw_plan(spec, Instance(0, 0)).orders[0]
    seen = AgentView(table, (order,))
    carrier = spec.carriers[2].id
    quoted = Body(Result.SUCCESS, 200, price_cents=100, expires_s=1e9)
    seen.answer(Answer(0, order.agent, Call(Verb.QUOTE, carrier, order.id, 1), 0.0, 10.0, quoted))
    mask = legal_mask(seen, table)
    tenders = [i for i in range(len(table)) if table.verb[i] is Verb.TENDER and mask[i]]
    assert tenders == [table.find(Verb.TENDER, 1, 2)]
