"""Several calls in one decision, where the scenario's ``turn`` allows them.

1. A list of calls, also as servers give it, stands for its actions in their order; a single call needs no list.
2. One that stands for nothing has an error that says which it was, and does not stop the others.
3. Too many calls and an empty list do nothing at all; without the setting a list is no call.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from env.text.play import SHORT, decisions, spec_of
from env.text.test_observe import section_of

from masim.env.decision import Decision
from masim.env.make import aec_env, parallel_env
from masim.env.ready import ready_env
from masim.env.text.several import ILLEGAL, Said, parse_decision
from masim.env.text.toolbox import toolbox_of
from masim.env.text.wrapper import TextWrapper
from masim.policy.company import gym_env
from masim.scenario.load import load_scenario
from masim.sim.spec import Verb
from masim.sim.turn import TurnSpec


@pytest.fixture(scope="module")
def three() -> Decision:
    return next(decisions(replace(spec_of(SHORT), turn=TurnSpec(calls=3))))


def quotes(decision: Decision, n: int) -> tuple[list[dict[str, Any]], tuple[int, ...]]:
    """Return n calls and their actions."""
    box = toolbox_of(decision.table, decision.agent)
    found = [i for i in decision.legal.tolist() if decision.table.verb[i] is Verb.QUOTE][:n]
    return [box.call(i) for i in found], tuple(found)


def test_a_list_of_calls_is_their_actions(three: Decision) -> None:
    calls, actions = quotes(three, 3)
    served = {"tool_calls": [{"id": str(n), "type": "function", "function": call} for n, call in enumerate(calls)]}
    for raw in (calls, json.dumps(calls), tuple(calls), served, json.dumps(served)):
        assert parse_decision(raw, three) == Said(actions)
    assert parse_decision(calls[0], three) == parse_decision([calls[0]], three) == Said(actions[:1])
    assert Said(actions).action == actions and Said(actions[:1]).action == actions[0]


def test_one_that_stands_for_nothing_does_not_stop_the_others(three: Decision) -> None:
    calls, actions = quotes(three, 2)
    tender = {"name": "tender", "arguments": calls[0]["arguments"]}
    said = parse_decision([calls[0], tender, "?"], three)
    assert said.actions == (actions[0], ILLEGAL, ILLEGAL)
    assert [error.code for error in said.errors] == ["no_quote", "not_json"]
    assert said.errors[0].text.startswith("call 2 of 3: you have no price of ")


@pytest.mark.parametrize("raw", ["[]", [], '{"tool_calls": []}'])
def test_no_call_at_all(three: Decision, raw: object) -> None:
    said = parse_decision(raw, three)
    assert said.actions == (ILLEGAL,) and said.errors[0].code == "how_many"


def test_too_many_do_nothing(three: Decision) -> None:
    said = parse_decision(quotes(three, 3)[0] + quotes(three, 1)[0], three)
    assert said.actions == (ILLEGAL,)
    assert str(said.errors[0]).startswith("how_many: there are 4 calls in this decision. Allowed: 1 to 3.")


def test_without_the_setting_a_list_is_no_call() -> None:
    one = next(decisions(SHORT))
    for raw in (quotes(one, 1)[0], {"tool_calls": quotes(one, 1)[0]}):
        said = parse_decision(raw, one)
        assert said.actions == (ILLEGAL,) and said.errors[0].code == "not_a_call"
    assert parse_decision('[{"name"', one).errors[0].code == "half_json"


@pytest.mark.parametrize("make", [parallel_env, aec_env, ready_env, gym_env])
def test_several_calls_through_the_adapters(make: Callable[..., Any]) -> None:
    env = TextWrapper(make(load_scenario(SHORT, {"turn": "{calls: 3, mode: async}"})))
    env.reset(seed=0)
    calls, _ = quotes(env.unwrapped.stage.open_decisions()[0], 2)
    said = json.dumps([*calls, {"name": "hold"}])
    env.step({"booker_0": said} if make in (parallel_env, ready_env) else said)
    text = env.unwrapped.observe_text("booker_0") if make is gym_env else env.observe_text("booker_0")
    names = [f"quote(order 0, leg 0, carrier {call['arguments']['carrier']}" for call in calls]
    assert [line.split(")")[0] for line in section_of(text, "under way")] == names


def test_a_part_that_did_nothing_is_told_with_its_number() -> None:
    env = TextWrapper(parallel_env(load_scenario(SHORT, {"turn": "{calls: 3}"})))
    env.reset(seed=0)
    calls, _ = quotes(env.unwrapped.stage.open_decisions()[0], 2)
    texts, _, _, _, infos = env.step({"booker_0": json.dumps([*calls, {"name": "hold"}])})
    (line,) = section_of(texts["booker_0"], "error")
    assert line.startswith('this did nothing. not_a_call: call 3 of 3: "arguments" is missing.')
    assert infos["booker_0"]["illegal"] == 1
    while not infos["booker_0"]["ready"]:
        texts, _, _, _, infos = env.step({})
    assert len([line for line in section_of(texts["booker_0"], "heard") if " answer to quote(" in line]) == 2
