"""Roles where things go wrong: crashes, doubles, and who remembers what became of a truck.

1. A crash in the middle of a hand-over forgets what was known, not which orders an agent has or is parting with.
2. A double of another role writes under its own name; what it pays counts to the order.
3. The memory that hears of the truck is the one of the agent that owns the order then.
"""

from __future__ import annotations

import pytest
from env.staffs import booker, clerk, named, play_by, staffed, start, until

from masim.env.core import Session
from masim.env.decision import Decision
from masim.env.roles import desk
from masim.memory.book import MemoryBook
from masim.memory.config import MemoryConfig
from masim.policy.base import Ask
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rng import Noise
from masim.sim.faults.kinds.agent import Crash, TwoAgents
from masim.sim.faults.rules import FaultSpec, Match
from masim.sim.spec import Verb, WorldSpec

ORDER = "booker_0-order_0"
WORKFLOW = WorkflowPolicy("workflow", Habits())


def works(decision: Decision) -> int:
    return WORKFLOW.choose([Ask(decision, Noise(0, "nobody"))])[0].action


def crashing(*endpoints: str) -> WorldSpec:
    return staffed(booker(orders=2), clerk(), faults=(FaultSpec("crash", Crash(), Match((), endpoints)),))


def test_a_crash_forgets_what_was_known_and_not_what_is_under_way() -> None:
    session = start(crashing("tender"))
    for verb, order in ((Verb.QUOTE, 0), (Verb.HAND_OVER, 0), (Verb.QUOTE, 1), (Verb.TENDER, 1)):
        session.submit("booker_0", named(until(session, "booker_0"), verb, order=order))
    seat = session.seats()[0]
    view = desk(seat)
    assert view.leaving == {0}
    assert not view.price.any()
    taken = until(session, "clerk_0").view
    while not taken.holds(0):
        session.submit("clerk_0", 0)
        taken = until(session, "clerk_0").view
    assert not desk(seat).holds(0) and desk(seat).holds(1)
    assert not taken.price.any(), "the note was about what was known when it arrived"


@pytest.mark.parametrize("endpoint", ["tender", "schedule", "dispatch"])
def test_the_shared_workflow_comes_to_an_end_after_every_crash(endpoint: str) -> None:
    session = play_by(start(crashing(endpoint)), works)
    assert session.over
    assert any(row.event == "fault" for row in session.trace_rows)


def test_a_double_of_another_role_pays_under_its_own_name() -> None:
    spec = staffed(faults=(FaultSpec("both", TwoAgents(), Match((), ("tender",))),))
    session = play_by(start(spec), works)
    tenders = [row.agent for row in session.trace_rows if row.event == "call" and row.verb == "tender"]
    assert tenders == ["booker_0", "clerk_0"]
    (outcome,) = session.outcomes()
    paid = [e for e in session.world.ledger.entries if e.order == ORDER]
    assert outcome.cost_cents == sum(e.amount_cents for e in paid if e.payer in spec.agents)
    assert outcome.duplicates == 1


def test_who_owns_the_order_remembers_its_truck() -> None:
    spec = staffed()
    memories = MemoryBook(spec.agents, MemoryConfig()).overlays(6 * 3600.0)
    session: Session = play_by(start(spec, memories=memories), works)
    assert [o.completed for o in session.outcomes()] == [True]
    seen = {
        agent: memory.vendor_features(["aster", "birch"], "acme", session.now) for agent, memory in memories.items()
    }
    delivered = {agent: float(rows[:, 1].max()) for agent, rows in seen.items()}
    assert delivered["clerk_0"] > 0.5
    assert delivered["booker_0"] <= 0.5
