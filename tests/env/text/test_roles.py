"""Texts of agents with roles.

1. An agent has the tools of its role alone, and its calls and actions stand for each other.
2. It reads of the orders that it has, and who took or handed over which; also how a call of the giver ended.
3. Calls for orders that it does not have, or that are on their way, say so.
"""

from __future__ import annotations

import json
from dataclasses import replace

from env.staffs import booker, clerk, named, staffed, start, until
from env.text.play import spec_of
from env.text.test_observe import section_of

from masim.env.actions import ActionTable
from masim.env.decision import Decision
from masim.env.make import parallel_env
from masim.env.text.brief import brief
from masim.env.text.observe import observe
from masim.env.text.parse import parse_call
from masim.env.text.toolbox import toolbox_of
from masim.env.text.version import CHARSET, TEXT_VERSION
from masim.errors import ToolError
from masim.scenario.load import Scenario, load_scenario
from masim.sim.spec import Verb
from masim.units import HOUR


def error(name: str, decision: Decision, **arguments: object) -> str:
    found = parse_call(json.dumps({"name": name, "arguments": arguments}), decision)
    return str(found) if isinstance(found, ToolError) else "may"


def test_tools_are_those_of_the_role() -> None:
    table = ActionTable(staffed())
    tools = {agent: toolbox_of(table, agent) for agent in table.spec.agents}
    assert {"quote", "tender", "hand_over"} <= set(tools["booker_0"].tools)
    assert {"dispatch", "declare", "schedule"} & set(tools["booker_0"].tools) == set()
    assert {"dispatch", "declare", "schedule", "hand_over"} <= set(tools["clerk_0"].tools)
    assert [p.values for p in tools["booker_0"].tools["hand_over"].parameters] == [(0, 1), ("clerk",)]
    for agent, box in tools.items():
        for index in box.actions:
            call = box.call(index)
            assert box.find(call["name"], call["arguments"]) == index, agent


def test_a_brief_is_of_the_agent_and_its_role() -> None:
    spec = staffed()
    table = ActionTable(spec)
    mine, theirs = (brief(table, agent) for agent in spec.agents)
    assert mine.splitlines()[0] == f"[masim text {TEXT_VERSION}] brief of booker_0"
    assert "You are one of 1 with the role booker" in mine and "hand an order over to: clerk." in mine
    assert "role clerk" in theirs and set(mine + theirs) <= set(CHARSET)
    assert "role" not in brief(ActionTable(spec_of("freight/first-steps-v0")), "booker_0")


def test_a_brief_says_when_its_agent_comes_and_goes() -> None:
    spec = staffed(booker(leaves_s=13.5 * HOUR), clerk(joins_s=7 * HOUR))
    mine, theirs = (brief(ActionTable(spec), agent) for agent in spec.agents)
    assert "You go at 13:30 local: hand over before what others have to finish." in mine.splitlines()
    assert "You come at 07:00 local." in theirs.splitlines()
    assert "You come" not in mine and "You go" not in theirs


def test_an_order_that_changes_hands_is_read_of_by_both() -> None:
    session = start(staffed())
    mine = until(session, "booker_0")
    assert len(section_of(observe(mine), "orders")) > 1
    assert "unknown_tool" in error("dispatch", mine, order=0, leg=0, carrier="aster")
    assert error("hand_over", mine, order=1, to="clerk").startswith("no_order: you have no order 1")
    assert "bad_value" in error("hand_over", mine, order=0, to="booker")
    session.submit("booker_0", named(mine, Verb.HAND_OVER, order=0))
    mine = until(session, "booker_0")
    (line,) = section_of(observe(mine), "orders")
    assert line.endswith("on its way to somebody else")
    assert error("quote", mine, order=0, leg=0, carrier="aster").startswith("handed_over: order 0 is on its way")
    session.submit("booker_0", 0)
    mine, theirs = session.advance()
    text = observe(theirs)
    assert section_of(text, "heard") == ["d0 06:02:00 local booker_0 has handed order 0 over to you"]
    assert section_of(text, "orders")[0].startswith("order 0: booker_0-order_0 of shipper ")
    text = observe(mine)
    assert section_of(text, "heard") == ["d0 06:02:00 local clerk_0 has taken order booker_0-order_0 over from you"]
    assert section_of(text, "orders") == ["you have no orders now"]
    assert error("quote", mine, order=0, leg=0, carrier="aster").startswith("no_order")


def test_an_order_that_nobody_takes_stays() -> None:
    session = start(staffed(booker(), clerk(joins_s=20 * HOUR)))
    mine = until(session, "booker_0")
    session.submit("booker_0", named(mine, Verb.HAND_OVER, order=0))
    until(session, "booker_0")
    session.submit("booker_0", 0)
    mine = until(session, "booker_0")
    assert section_of(observe(mine), "heard") == ["d0 06:02:00 local nobody takes order 0: it stays yours"]
    assert error("quote", mine, order=0, leg=0, carrier="aster") == "may"


def test_every_illegal_call_of_a_role_has_a_reason() -> None:
    session = start(staffed())
    codes = set()
    for _ in range(60):
        asked = session.open_decisions() or session.advance()
        if not asked:
            break
        decision = asked[0]
        box, legal = toolbox_of(decision.table, decision.agent), set(decision.legal.tolist())
        for index in box.actions:
            found = parse_call(box.call(index), decision)
            assert (found == index) == (index in legal)
            if isinstance(found, ToolError):
                assert found.code != "not_now", box.call(index)
                codes.add(found.code)
        session.submit(decision.agent, int(decision.legal[-1 - decision.turn % len(decision.legal)]))
    assert {"no_order", "handed_over"} <= codes


def test_one_that_has_not_joined_yet_reads_so() -> None:
    spec = staffed(booker(), clerk(joins_s=7 * HOUR))
    scenario = load_scenario("freight/short-chain-v0")
    env = parallel_env(replace(scenario, spec=spec) if isinstance(scenario, Scenario) else scenario)
    env.reset(seed=0)
    text = env.observe_text("clerk_0")
    assert text.splitlines()[0].endswith("clerk_0, you have not joined yet")
    found = env.parse_call("clerk_0", '{"name": "declare", "arguments": {"order": 0}}')
    assert isinstance(found, ToolError) and found.code == "busy"
    assert {tool["function"]["name"] for tool in env.tools("clerk_0")} > {"declare", "dispatch"}
