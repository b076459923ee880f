"""The decision core with reference agents.

1. The null agent scores 0; an agent that only waits, or only repeats a refused call, comes to an end.
2. In a calm world the workflow completes every order safely, in every kind of dock.
3. Members of a comparison group share the reset digest, and differ in nothing but their policy's noise.
4. Nobody else's events change an agent's turns.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from sim.worlds import calm, dock, play

from masim.env.actions import ActionTable
from masim.env.core import Decision, Session
from masim.memory.book import MemoryBook
from masim.memory.config import MemoryConfig
from masim.policy.base import Ask, Policy
from masim.policy.scripted import NullPolicy, RandomPolicy
from masim.policy.workflow import NAIVE, Habits, WorkflowPolicy
from masim.rng import Noise
from masim.rollout.group import GroupTask, play_group
from masim.sim.spec import AppointmentType, Instance, Verb, WorldSpec


def by_policy(spec: WorldSpec, policy: Policy) -> Session:
    """Return a finished session of one policy for all agents."""
    noise = Noise(0, "policy")
    return play(spec, lambda decision: policy.choose([Ask(decision, noise)])[0].action)


def test_the_null_agent_scores_nothing_and_ends() -> None:
    session = by_policy(calm(3), NullPolicy())
    assert session.sample_outcomes() == {"booker_0": 0.0, "booker_1": 0.0, "booker_2": 0.0}
    assert {o.failure for o in session.outcomes()} == {"not_dispatched"}
    assert session.world.gateway.calls == 0
    assert session.now <= 24 * 3600


@pytest.mark.parametrize("wait", range(4))
def test_a_loop_of_waits_ends(wait: int) -> None:
    spec = calm()
    session = play(spec, lambda decision: wait)
    assert session.over
    assert all(session.decisions(agent) <= spec.max_decisions for agent in spec.agents)


def test_a_loop_of_the_same_call_ends() -> None:
    def quote(decision: Decision) -> int:
        return next(int(i) for i in decision.legal if decision.table.verb[int(i)] is Verb.QUOTE)

    session = play(calm(), quote)
    assert [session.decisions(agent) for agent in session.agents] == [40, 40]


@pytest.mark.parametrize("habits", [Habits(), NAIVE], ids=["careful", "naive"])
@pytest.mark.parametrize("kind", [t for t in AppointmentType if t is not AppointmentType.FCFS])
def test_the_workflow_completes_a_calm_day(kind: AppointmentType, habits: Habits) -> None:
    spec = calm(2, docks=(dock("plant", kind, capacity=4), dock("store", kind, capacity=4)))
    session = by_policy(spec, WorkflowPolicy("workflow", habits))
    assert [(o.completed, o.safe, o.failure) for o in session.outcomes()] == [(True, True, "")] * 2
    assert session.world.claims == {}


def test_group_members_share_the_instance_and_differ_by_their_noise() -> None:
    spec = calm(2)
    task = GroupTask(spec, Instance(7, 1, "train"), 4, 0, 0, record=True, trace=True)
    members = play_group(task, RandomPolicy(), MemoryBook(spec.agents, MemoryConfig()), ActionTable(spec))
    assert len({member.reset_digest for member in members}) == 1
    assert len({repr(member.trace) for member in members}) == 4
    other = play_group(replace(task, instance=Instance(8, 1, "train")), RandomPolicy(),
                       MemoryBook(spec.agents, MemoryConfig()), ActionTable(spec))  # fmt: skip
    assert other[0].reset_digest != members[0].reset_digest


def test_nobody_elses_events_change_an_agents_turns() -> None:
    def turns(others: int) -> list[tuple[float, int]]:
        found = []

        def choose(decision: Decision) -> int:
            if decision.agent != "booker_0":
                return others
            found.append((decision.t_s, int(decision.reason)))
            return int(decision.legal[decision.turn % 4])

        play(calm(2), choose)
        return found

    assert turns(0) == turns(1) == turns(3)
