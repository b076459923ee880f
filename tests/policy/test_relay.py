"""Scripted agents that share the orders of a world with roles.

1. On the bundled relay the floor is 0, the loop ends, the workflow completes most orders and the oracle all it can.
2. Every call is made by an agent whose role may make it, and orders go from booker to dispatcher to clerk and back.
3. An agent that goes parts with its orders; one whose hand-over nobody takes does not ask at once again.
4. A20: a hand-over that drops what was bought makes the taker buy again; keys that both make alike prevent it.
5. An order goes towards the role that can do the next step, by the shortest way.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from env.staffs import booker, clerk, play_by, staffed

from masim.env.core import Session
from masim.policy.base import Ask
from masim.policy.card import load_card
from masim.policy.duties import way_to
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rng import Noise
from masim.rollout.evaluate import CampaignJob, CampaignRows, play_campaign
from masim.scenario.load import load_scenario
from masim.sim.dists import Constant
from masim.sim.spec import HiddenSpec, Instance, Status, Verb, WorldSpec
from masim.sim.staff import RoleSpec, StaffSpec
from masim.sim.terms import KeyRule, Terms
from masim.tools.settings import ClientSettings
from masim.units import HOUR, MINUTE

RELAY = load_scenario("freight/relay-v0").spec
DAYS = 3


def play(card: str, seed: int = 3) -> CampaignRows:
    return play_campaign(CampaignJob(RELAY, load_card(card), card, seed, DAYS, 0, trace=True))


def completed(rows: CampaignRows) -> int:
    return sum(bool(row["completed"]) for row in rows.outcomes)


def workflow(spec: WorldSpec, seed: int = 1, clients: dict[str, ClientSettings] | None = None) -> Session:
    """Return a finished day of the workflow."""
    policy = WorkflowPolicy("workflow", Habits())
    session = Session(spec, Instance(seed, 0, "test"), clients=clients)
    return play_by(session, lambda d: policy.choose([Ask(d, Noise(0, "nobody"))])[0].action)


@pytest.mark.parametrize("card", ["null", "loop", "claim"])
def test_the_floor_is_zero_and_comes_to_an_end(card: str) -> None:
    rows = play(card)
    assert len(rows.outcomes) == 4 * DAYS
    assert completed(rows) == 0
    assert rows.decisions <= DAYS * len(RELAY.agents) * RELAY.max_decisions


@pytest.mark.parametrize("seed", [3, 4])
def test_the_workflow_is_shared_and_the_oracle_is_above_it(seed: int) -> None:
    scripted, oracle = play("scripted", seed), play("oracle", seed)
    assert {str(row["failure"]) for row in scripted.outcomes} <= {"", "truck_late"}, "nothing is lost between the roles"
    assert completed(oracle) >= completed(scripted)
    assert sum(int(row["duplicates"]) for row in scripted.outcomes) == 0


def test_every_call_is_made_by_a_role_that_may() -> None:
    staff = RELAY.staff
    assert staff is not None
    rows = play("scripted").trace
    made = {(row["agent"], row["verb"]) for row in rows if row["event"] == "call"}
    assert all(verb in staff.role_of(agent).verbs for agent, verb in made)
    assert {agent for agent, _ in made} == set(RELAY.agents)
    way = [row["agent"] for row in rows if row["event"] == "hand_over" and row["status"] == "CONFIRMED"]
    assert set(way) == {"dispatcher_0", "clerk_0"}
    order = next(row["order"] for row in rows if row["event"] == "hand_over")
    mine = [r["agent"] for r in rows if r["day"] == 0 and r["order"] == order and r["status"] == "CONFIRMED"]
    assert [a for a in mine if a in way][-1] == "dispatcher_0"


def test_an_agent_that_goes_parts_with_what_is_open() -> None:
    """No carrier decides before the booker must go; the clerk hears the answer and goes on."""
    slow = tuple(replace(c, decision_delay=Constant(3 * HOUR)) for c in staffed().carriers)
    spec = staffed(booker(leaves_s=8 * HOUR), clerk(), carriers=slow)
    session = play_by_patient(spec)
    sent = next(r for r in session.trace_rows if r.event == "hand_over")
    assert 7.5 * HOUR <= sent.t_s < 8 * HOUR
    heard = [r.agent for r in session.trace_rows if r.event == "message" and r.status == Status.CONFIRMED]
    assert heard[0] == "clerk_0"
    assert session.sample_outcomes()["booker_0"] == 1.0


def play_by_patient(spec: WorldSpec) -> Session:
    policy = WorkflowPolicy("patient", Habits(patience_s=6 * HOUR, poll=False))
    session = Session(spec, Instance(1, 0, "test"))
    return play_by(session, lambda d: policy.choose([Ask(d, Noise(0, "nobody"))])[0].action)


def test_who_is_refused_waits_before_it_asks_again() -> None:
    session = workflow(staffed(booker(), clerk(joins_s=9 * HOUR)))
    sent = [r.t_s for r in session.trace_rows if r.event == "hand_over" and r.status == "PENDING"]
    assert len(sent) > 2
    assert all(later - earlier >= 30 * MINUTE for earlier, later in pairwise(sent))
    assert session.sample_outcomes() == {"booker_0": 1.0, "clerk_0": 1.0}


def bought_twice(rule: KeyRule, client: ClientSettings | None) -> int:
    """Return the duplicates of a day on which the taker is not told of the trucks that were ordered."""
    able = clerk(verbs=("quote", "tender", "cancel_tender", *clerk().verbs), hands_to=())
    only = (replace(staffed().carriers[0], terms=Terms(key_rule=rule)),)
    spec = staffed(booker(), able, drops=("trucks",), carriers=only, hidden=HiddenSpec((1.0,)))
    clients = None if client is None else dict.fromkeys(spec.agents, client)
    return sum(outcome.duplicates for outcome in workflow(spec, clients=clients).outcomes())


def test_a20_a_hand_over_that_drops_what_was_bought_buys_it_again() -> None:
    own = ClientSettings(idempotency=True)
    alike = ClientSettings(idempotency=True, key_per="request")
    assert bought_twice(KeyRule.IGNORED, None) == 1
    assert bought_twice(KeyRule.HONOURED, own) == 1, "each agent makes keys of its own"
    assert bought_twice(KeyRule.IGNORED, alike) == 1, "the carrier does not look at keys"
    assert bought_twice(KeyRule.HONOURED, alike) == 0


def test_a_hand_over_that_tells_everything_buys_nothing_twice() -> None:
    able = clerk(verbs=("quote", "tender", "cancel_tender", *clerk().verbs), hands_to=())
    session = workflow(staffed(booker(), able))
    assert [outcome.duplicates for outcome in session.outcomes()] == [0]
    assert session.sample_outcomes() == {"booker_0": 1.0, "clerk_0": 1.0}


def test_orders_go_the_shortest_way() -> None:
    names = {"a": ("b", "c"), "b": ("d",), "c": ("b", "e"), "d": (), "e": ()}
    verbs = {"a": ("quote",), "b": ("tender",), "c": ("track",), "d": ("dispatch",), "e": ("declare", "dispatch")}
    roles = tuple(RoleSpec(name, 1, 1, verbs[name], to) for name, to in names.items())
    staff = StaffSpec(roles, 1, Constant(60.0))
    assert way_to(staff, names["a"], Verb.TENDER) == ["b", "c"]
    assert way_to(staff, names["a"], Verb.DISPATCH) == ["b", "c"]
    assert way_to(staff, names["a"], Verb.DECLARE) == ["c"]
    assert way_to(staff, names["a"], Verb.HOLD) == []
