"""Rollouts of worlds with roles: counts that are whole, and memories that go on when somebody was never asked.

1. Decisions and calls of all agents are in the rows of the orders, once each.
2. A day is committed when everybody that was asked has its return, also when another never was.
"""

from __future__ import annotations

from env.staffs import booker, clerk, staffed

from masim.learn.buffer import give_feedback
from masim.policy.card import load_card
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rollout.campaigns import CampaignCollector, CampaignPlan
from masim.rollout.evaluate import CampaignJob, play_campaign
from masim.units import HOUR

ALONE = ("quote", "tender", "availability", "schedule", "hold", "dispatch", "declare", "hand_over")


def test_the_rows_of_a_days_orders_hold_every_decision_and_call() -> None:
    spec = staffed(booker(count=2, orders=2), clerk(), places=4)
    rows = play_campaign(CampaignJob(spec, load_card("scripted"), "scripted", 7, 1, 0, trace=True))
    per_agent = {row["agent"]: (row["decisions"], row["calls"]) for row in rows.outcomes}
    assert set(per_agent) == {"booker_0", "booker_1"}
    assert sum(decisions for decisions, _ in per_agent.values()) == rows.decisions
    assert sum(calls for _, calls in per_agent.values()) == sum(row["event"] == "call" for row in rows.trace)


def test_memories_go_on_when_an_agent_was_never_asked() -> None:
    spec = staffed(booker(verbs=ALONE), clerk(joins_s=17 * HOUR))
    collect = CampaignCollector(CampaignPlan(spec, n_rollouts=2, lanes=1), WorkflowPolicy("workflow", Habits()))
    versions = []
    for draw in range(2):
        batch = collect(draw, 0)
        give_feedback(batch)
        versions.append(set(batch.table.memory_version.tolist()))
        assert not batch.table.valid[batch.table.agent == 1].any()
    assert versions == [{0}, {1}]
