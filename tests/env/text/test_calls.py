"""Calls as JSON.

1. Every action of every bundled scenario and its call stand for each other, as object, as text, and in the envelope
   of OpenAI-compatible servers; the call satisfies the tool's schema.
2. Whatever else is said becomes an error with a code, what is allowed and a fix; nothing is raised or evaluated.
3. A call that is not legal now says why, in terms of what the agent was told.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from env.text.play import BUNDLED, FIRST, SHORT, TWELVE, decisions, mixed, spec_of
from hypothesis import given
from hypothesis import strategies as st

from masim.env.actions import ActionTable
from masim.env.decision import Decision
from masim.env.text.errors import TEXTS, Code
from masim.env.text.parse import parse_call, read_action
from masim.env.text.toolbox import Toolbox, toolbox
from masim.env.text.version import CHARSET, MAX_CALL_CHARS
from masim.env.text.why import RULES
from masim.env.text.words import TOOLS
from masim.errors import ToolError
from masim.sim.spec import Verb

# -- the tools --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", BUNDLED)
def test_every_action_and_its_call_stand_for_each_other(scenario: str) -> None:
    box = Toolbox(ActionTable(spec_of(scenario)))
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in box.schemas()}
    validators = {name: jsonschema.Draft202012Validator(schema) for name, schema in schemas.items()}
    for index in range(len(box.table)):
        call = box.call(index)
        validators[call["name"]].validate(call["arguments"])
        assert read_action(call, box) == index
        assert read_action(json.dumps(call), box) == index
        inner = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
        assert read_action({"id": "call_1", "type": "function", "function": inner}, box) == index


def test_tools_are_those_of_the_scenario_and_valid_schemas() -> None:
    box = toolbox(ActionTable(spec_of(FIRST)))
    assert list(box.tools) == ["wait", "declare", "dispatch", "quote", "tender"]
    for tool in box.schemas():
        jsonschema.Draft202012Validator.check_schema(tool["function"]["parameters"])
    assert toolbox(box.table) is box


def test_a_schema_refuses_what_the_parser_refuses() -> None:
    box = toolbox(ActionTable(spec_of(SHORT)))
    for tool in box.tools.values():
        validator = jsonschema.Draft202012Validator(tool.schema()["function"]["parameters"])
        for name in tool.example:
            for wrong in (-1, 10_000, 0.5, True, None, "nowhere", [0], {}):
                arguments = {**tool.example, name: wrong}
                assert not validator.is_valid(arguments)
                with pytest.raises(ToolError):
                    read_action({"name": tool.verb.value, "arguments": arguments}, box)


def test_every_verb_has_words_and_rules() -> None:
    assert set(TOOLS) == set(RULES) == set(Verb)
    assert set(TEXTS) == set(Code)


# -- what is no call --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def first() -> Decision:
    return next(decisions(FIRST))


def quote(**arguments: Any) -> str:
    return json.dumps({"name": "quote", "arguments": {"order": 0, "leg": 0, "carrier": "aster"} | arguments})


@pytest.mark.parametrize(
    ("raw", "code", "part"),
    [
        ("", "not_json", "one JSON object"),
        ("I call quote now.", "not_json", '(character 0): "I call quote now."'),
        ("```json\n{}\n```", "not_json", r"\u0060"),
        (quote() + " and wait", "not_json", '"and wait"'),
        ("{'name': 'quote'}", "not_json", "(character 1)"),
        ('{"name": NaN}', "not_json", "one JSON object"),
        (quote()[:-1], "half_json", "close every bracket and quote"),
        (quote()[:9], "half_json", ""),
        ('{"name": "quote", "arguments": {"order": tr', "half_json", ""),
        ('{"name": "a\\"', "half_json", ""),
        ("[" * 3000, "half_json", ""),
        ("x" * (MAX_CALL_CHARS + 1), "too_long", f"at most {MAX_CALL_CHARS}"),
        ("[]", "not_a_call", "this is a list"),
        (f"[{quote()}]", "not_a_call", "this is a list"),
        ("3", "not_a_call", "this is a number"),
        ("null", "not_a_call", "this is null"),
        ('"quote"', "not_a_call", "this is a string"),
        ("{}", "not_a_call", '"name" is missing'),
        ('{"name": 3, "arguments": {}}', "not_a_call", '"name" is a number'),
        ('{"name": "quote"}', "not_a_call", '"arguments" is missing'),
        ('{"name": "quote", "arguments": [0]}', "not_a_call", '"arguments" is a list'),
        ('{"name": "quote", "order": 0}', "not_a_call", 'a key "order" beside name and arguments'),
        ('{"name": "quote", "name": "tender", "arguments": {}}', "not_a_call", 'key "name" is there twice'),
        ('{"function": {"name": "quote", "arguments": "{"}}', "half_json", ""),
        ('{"name": "qoute", "arguments": {}}', "unknown_tool", "did you mean 'quote'"),
        ('{"name": "hold", "arguments": {}}', "unknown_tool", "Allowed: wait, declare, dispatch, quote, tender"),
        ('{"name": "quote", "arguments": {}}', "missing_argument", "quote needs the argument order"),
        ('{"name": "quote", "arguments": {"carier": "aster"}}', "unknown_argument", "did you mean 'carrier'"),
        (quote(price=0), "unknown_argument", "leave it out"),
        (quote(order="0"), "wrong_type", 'order of quote is the string "0". Allowed: the integer 0'),
        (quote(order=0.5), "wrong_type", "the number 0.5"),
        (quote(order=True), "wrong_type", "order of quote is a boolean"),
        (quote(carrier=None), "wrong_type", "carrier of quote is null"),
        (quote(carrier={"id": "aster"}), "wrong_type", "carrier of quote is an object"),
        (quote(order=1), "bad_value", "order of quote is the number 1. Allowed: the integer 0"),
        (quote(order=10**30), "bad_value", "order of quote is a number"),
        (quote(carrier="Aster"), "bad_value", "did you mean 'aster'"),
        (quote(carrier="dhl"), "bad_value", '"aster", "birch", "cedar"'),
        (3, "not_a_call", "this is a number"),
        (None, "not_a_call", "this is null"),
        (b"{}", "not_a_call", "this is no JSON value"),
        ({1: 2}, "not_a_call", 'a key "1"'),
    ],
)
def test_what_is_no_call_is_an_error_to_read(first: Decision, raw: object, code: str, part: str) -> None:
    error = parse_call(raw, first)
    assert isinstance(error, ToolError)
    assert error.code == code and part in error.text
    assert " Allowed: " in error.text and " Fix: " in error.text
    assert set(str(error)) <= set(CHARSET) - {"\n"}


def test_a_stop_that_a_leg_does_not_have_is_no_such_call() -> None:
    spec = spec_of(TWELVE)
    first_leg, second_leg = spec.orders.legs
    legs = (first_leg, replace(second_leg, delivery_docks=()))
    box = toolbox(ActionTable(replace(spec, orders=replace(spec.orders, legs=legs))))
    call = {"name": "availability", "arguments": {"order": 0, "leg": 1, "stop": "delivery"}}
    with pytest.raises(
        ToolError, match="order 0, leg 0, stop pickup; order 0, leg 0, stop delivery; order 0, leg 1, stop pi"
    ):
        read_action(call, box)
    assert read_action(call | {"arguments": {"order": 0, "leg": 1, "stop": "pickup"}}, box) > 0


def test_whole_numbers_may_be_written_as_floats(first: Decision) -> None:
    assert parse_call(quote(order=0.0), first) == parse_call(quote(), first)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=8), children, max_size=3),
    max_leaves=8,
)
SHAPES = st.fixed_dictionaries(
    {"name": st.sampled_from(["quote", "wait", "tender"]) | JSON, "arguments": JSON},
    optional={"id": JSON, "function": JSON},
)


@given(st.text(max_size=80) | JSON | SHAPES | SHAPES.map(json.dumps))
def test_nothing_that_is_said_raises(raw: object) -> None:
    (decision,) = DECISION
    found = parse_call(raw, decision)
    assert found in decision.legal if isinstance(found, int) else set(str(found)) <= set(CHARSET)


DECISION = (next(decisions(FIRST)),)


def test_the_words_of_an_error_cannot_be_chosen(first: Decision) -> None:
    error = parse_call(json.dumps({"name": "x\n[may]\nwait: <<<" * 9, "arguments": {}}), first)
    assert isinstance(error, ToolError)
    assert "\n" not in error.text and "[" not in error.text and "<" not in error.text
    assert len(error.text) < 300


# -- what is not legal now --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", [name for name in BUNDLED if not name.startswith("regress/")])
def test_every_illegal_action_has_a_reason_and_no_legal_one(scenario: str) -> None:
    seen = set()
    for n, decision in enumerate(decisions(scenario, mixed, limit=150)):
        if n % 5:
            continue
        box, legal = toolbox(decision.table), set(decision.legal.tolist())
        for index in range(len(decision.table)):
            found = parse_call(box.call(index), decision)
            if index in legal:
                assert found == index
                continue
            assert isinstance(found, ToolError) and found.code != "not_now", box.call(index)
            assert found.code in set(Code) and "{" not in found.text.split("Fix")[0]
            seen.add(found.code)
    assert {"no_quote", "not_accepted"} <= seen


def test_reasons_follow_what_the_agent_was_told() -> None:
    reasons: dict[int, str] = {}
    for decision in decisions(FIRST, seed=3):
        found = parse_call({"name": "tender", "arguments": {"order": 0, "leg": 0, "carrier": "aster"}}, decision)
        reasons[decision.turn] = "may" if isinstance(found, int) else found.code
    assert list(dict.fromkeys(reasons.values())) == ["no_quote", "may", "leg_closed"]
