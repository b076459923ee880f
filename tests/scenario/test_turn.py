"""The section ``turn``: waits of a scenario's own, and what cannot be.

1. Absent, the world is what it was: the waits, the table and what agents see.
2. Waits last as long as the file says, and end with a message.
3. Impossible values and settings that change nothing are refused with their line.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from masim.env.core import Session
from masim.env.features import STATIC_F, FeatureBuilder
from masim.env.make import parallel_env
from masim.errors import ScenarioError
from masim.policy.base import Ask
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rng import Noise
from masim.scenario.load import Scenario, load_scenario
from masim.sim.spec import Instance, Verb
from masim.sim.turn import WAITS_S, TurnSpec

SHORT = "freight/short-chain-v0"


@cache
def scenario(turn: str | None = None) -> Scenario:
    return load_scenario(SHORT, {"turn": turn} if turn else None)


def test_a_scenario_without_the_section_has_the_usual_waits() -> None:
    spec = scenario().spec
    assert spec.turn == TurnSpec() and spec.turn.single
    waits = [a.wait_s for a in Session(spec, Instance(1, 0)).table.actions if a.verb == Verb.WAIT.value]
    assert tuple(waits) == WAITS_S == (7200.0, 30.0, 300.0, 1800.0)


def test_waits_last_as_long_as_the_file_says() -> None:
    env = parallel_env(scenario("{waits: ['20 min', '7 s']}"))
    observations, infos = env.reset(seed=0)
    assert env.stage.table.n_waits == 2
    assert env.stage.table.describe(1) == "wait(7 s)"
    assert observations["booker_0"]["action_mask"][:2].tolist() == [1, 1]
    start = infos["booker_0"]["t_s"]
    times = [env.step(dict.fromkeys(env.agents, a))[4]["booker_0"]["t_s"] - start for a in (1, 0, 1)]
    assert times == [7.0, 7.0 + 1200.0, 14.0 + 1200.0]


def test_rows_of_waits_keep_their_columns() -> None:
    for turn, n in ((None, 4), ("{waits: ['20 min', '7 s']}", 2)):
        session = Session(scenario(turn).spec, Instance(1, 0))
        columns = FeatureBuilder(session.table).static[:, STATIC_F - 9 : STATIC_F - 5]
        assert np.array_equal(columns[:n], np.eye(4)[:n]) and not columns[n:].any()


@pytest.mark.parametrize("waits", ["['1 h']", "['1 h', '30 s']", "['90 min', '20 s', '2 min', '10 min']"])
def test_the_workflow_takes_what_waits_there_are(waits: str) -> None:
    spec = scenario(f"{{waits: {waits}}}").spec
    session = Session(spec, Instance(3, 0))
    policy = WorkflowPolicy("workflow", Habits())
    made = []
    while decisions := session.advance():
        for decision in decisions:
            (choice,) = policy.choose([Ask(decision, Noise(0, "policy"))])
            made.append(session.table.verb[choice.action])
            assert session.submit(decision.agent, choice.action)
    assert any(outcome.completed for outcome in session.outcomes())
    assert Verb.WAIT in made


@pytest.mark.parametrize(
    ("turn", "text"),
    [
        ("{waits: []}", "turn: wrong number of waits; got 0 waits; allowed: 1 to 4"),
        ("{waits: ['1 h', '1 s', '2 s', '3 s', '4 s']}", "got 5 waits"),
        ("{waits: ['1 h', '60 min']}", "two waits of one duration; got '60 min'"),
        ("{waits: ['0 s']}", "more than 0 s"),
        ("{waits: [30]}", "the unit is missing"),
        ("{waits: '30 s'}", "waits"),
        ("{calls: 0}", "calls"),
        ("{calls: 9}", "too many calls in one decision; got 9; allowed: 1 to 8"),
        ("{calls: 2, mode: last}", "mode"),
        ("{mode: first}", "mode: first and calls: 1 contradict each other"),
        ("{same_call: drop}", "same_call: drop and calls: 1 contradict each other"),
        ("{wait: ['1 h']}", "did you mean 'waits'"),
    ],
)
def test_what_cannot_be_is_refused(turn: str, text: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        load_scenario(SHORT, {"turn": turn})
    assert text in str(refused.value)


def test_the_section_is_part_of_the_world() -> None:
    hashes: list[Any] = [scenario(turn).hash for turn in (None, "{waits: ['1 h']}", "{calls: 2}")]
    assert len(set(hashes)) == 3
