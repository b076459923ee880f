"""A stored episode with roles, step by step and drawn: who handed an order to whom, and who took it."""

from __future__ import annotations

import pandas as pd
from env.staffs import booker, clerk, play_by, staffed, start

from masim.analysis.gantt import DOTS, marks_of
from masim.policy.base import Ask
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rng import Noise
from masim.study.replay import choose, steps_of
from masim.units import HOUR

ORDER = "booker_0-order_0"


def episode() -> pd.DataFrame:
    policy = WorkflowPolicy("workflow", Habits())
    session = start(staffed(booker(), clerk(joins_s=8 * HOUR)))
    play_by(session, lambda d: policy.choose([Ask(d, Noise(0, "nobody"))])[0].action)
    return pd.DataFrame([row._asdict() for row in session.trace_rows])


def test_steps_tell_of_hand_overs() -> None:
    steps = steps_of(episode())
    sent = [step for step in steps if step.action == "hand_over(order 0, to clerk)"]
    assert len(sent) > 1
    assert {(step.order, step.answer) for step in sent} == {(ORDER, "PENDING to clerk")}
    assert any("hand_over REJECTED no clerk takes it" in event for step in steps for event in step.events)
    taken = next(step for step in steps if step.agent == "clerk_0")
    assert any("hand_over CONFIRMED from booker_0" in event for event in taken.events)
    assert taken.chains[ORDER]["hand-over"] == "CONFIRMED from booker_0"
    assert {step.agent for step in choose(steps, 0, None, "", ORDER)} == {"booker_0", "clerk_0"}


def test_the_picture_shows_who_takes_an_order_over() -> None:
    marks = [mark for mark in marks_of(episode()) if mark.label in ("order taken over", "rejected")]
    assert (marks[-1].lane, marks[-1].label) == ("clerk_0", "order taken over")
    assert {mark.lane for mark in marks[:-1]} == {"booker_0"}
    assert "order taken over" in DOTS
