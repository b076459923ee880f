"""Thinking takes simulated time, in a queue where many want to think at once.

1. A decision is noted when the agent is asked, with how long it thinks; its call leaves exactly then.
2. First come, first served: with room for one, agents that are asked together act one after the other.
3. A choice that has become illegal meanwhile counts as illegal, and the agent is told why.
4. A pace of 0 changes nothing at all, and a run that took its time can be simulated again from its trace.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from masim.cli.main import run
from masim.env.actions import ActionTable
from masim.errors import ConfigError
from masim.llm.settings import ModelSettings
from masim.memory.book import MemoryBook
from masim.memory.config import MemoryConfig
from masim.policy.base import Ask, Choice, Pace, Policy
from masim.policy.scripted import RandomPolicy
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rollout.group import GroupTask, Rollout, play_group
from masim.rollout.thinking import Queue
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance, WorldSpec

FIRST = load_scenario("freight/first-steps-v0").spec
TWO = load_scenario("freight/first-steps-v0", {"agents.count": "2"}).spec


class Slow(WorkflowPolicy):
    """The workflow, which takes ten tokens to say anything."""

    def __init__(self, pace: Pace, tokens: int = 10) -> None:
        super().__init__("slow", Habits())
        self.pace = pace
        self.tokens = tokens
        self.asked: list[Ask] = []

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        self.asked += asks
        return [replace(choice, tokens=self.tokens) for choice in super().choose(asks)]


class Dice(RandomPolicy):
    """Chance, which thinks as long as the workflow."""

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self.asked: list[Ask] = []

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        self.asked += asks
        return [replace(choice, tokens=1) for choice in super().choose(asks)]


def play(spec: WorldSpec, policy: Policy) -> Rollout:
    task = GroupTask(spec, Instance(3, 0, "test"), 1, 0, policy_seed=7, record=True, trace=True)
    return play_group(task, policy, MemoryBook(spec.agents, MemoryConfig()), ActionTable(spec))[0]


def test_the_call_leaves_when_the_thinking_is_over() -> None:
    played = play(FIRST, Slow(Pace(token_s=3.0)))
    thought = [row for row in played.trace if row.event == "decision"]
    calls = [row for row in played.trace if row.event == "call"]
    assert {row.latency_s for row in thought} == {30.0}
    called = [row for row in thought if not row.note.startswith(("wait", "declare"))]
    assert [call.t_s for call in calls] == [row.t_s + 30.0 for row in called]
    assert [step.values["event_time_s"] for step in played.samples["booker_0"].steps] == [row.t_s for row in thought]


def test_no_pace_is_no_change() -> None:
    plain = play(TWO, WorkflowPolicy("slow", Habits()))
    assert play(TWO, Slow(Pace())).trace == plain.trace
    assert play(TWO, Slow(Pace(token_s=2.0), tokens=0)).trace == plain.trace


def test_one_after_the_other() -> None:
    first = [row for row in play(TWO, Slow(Pace(token_s=3.0, at_once=1))).trace if row.event == "decision"][:2]
    assert [(row.agent, row.latency_s) for row in first] == [("booker_0", 30.0), ("booker_1", 60.0)]
    together = [row for row in play(TWO, Slow(Pace(token_s=3.0, at_once=2))).trace if row.event == "decision"][:2]
    assert [row.latency_s for row in together] == [30.0, 30.0]


def test_the_queue_serves_who_came_first() -> None:
    queue = Queue(Pace(token_s=1.0, at_once=2))
    took = [queue.admit(Choice(0, 0, tokens=n), now).s for now, n in ((0, 10), (0, 4), (1, 5), (2, 1), (50, 3))]
    assert took == [10.0, 4.0, 8.0, 8.0, 3.0]


def test_what_became_illegal_meanwhile_is_told_and_costs() -> None:
    chain = load_scenario("freight/short-chain-v0").spec
    paid = []
    for illegal in (0.0, -1.0):
        spec = replace(chain, rewards=replace(chain.rewards, illegal=illegal))
        policy = Dice(Pace(token_s=1800.0))
        played = play(spec, policy)
        stale = [row for row in played.trace if row.event == "stale"]
        told = [error for ask in policy.asked for error in ask.errors]
        assert stale and len(stale) - len(chain.agents) <= len(told) <= len(stale)
        assert all(error.text for error in told)
        paid.append(sum(float(step.values["r_pen"]) for s in played.samples.values() for step in s.steps))
    assert paid[1] == pytest.approx(paid[0] - len(stale))


def test_a_queue_without_time_is_a_contradiction() -> None:
    with pytest.raises(ConfigError, match=r"model\.at_once: nobody queues.*fix: set model\.token_s"):
        ModelSettings("tiny-llama", at_once=3)


@pytest.mark.skipif(find_spec("transformers") is None, reason="transformers is not installed: pip install 'masim[llm]'")
def test_a_run_that_took_its_time_is_simulated_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    card = tmp_path / "slow.yaml"
    card.write_text("schema: 1\npolicy: language\nmodel: {source: tiny-llama, token_s: 7.5, at_once: 1}\n")
    played = ["freight/first-steps-v0", "--agents", str(card), "-n", "1", "--executor", "serial", "--no-report"]
    assert run(["run", *played, "--set", "agents.count=2", "--out", str(tmp_path / "run"), "--json"]) == 0
    capsys.readouterr()
    assert run(["replay", str(tmp_path / "run"), "--json"]) == 0
    assert "simulated again" in json.dumps(json.loads(capsys.readouterr().out))
