"""Roles as scenarios write them: what is refused, with file and line, and what comes out.

1. Every contradiction is one error that names the line, the value and the fix.
2. Orders that no chain of roles can finish are refused: by verbs, by who is reached, by the hours, by what is lost.
3. Defaults: everybody hands to every other role, a minute a hand-over, as many places as the largest morning needs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from scenario.tiny import BASE, line_of

from masim.errors import ScenarioError
from masim.scenario.load import load_scenario
from masim.sim.dists import Constant

Write = Callable[[str], Path]
OLD = "agents: {role: booker, count: 2, max_decisions: 12, client_deadline: '10 s'}\n"
BOOKER = "{id: booker, count: 2, verbs: [quote, tender, hand_over]}"
CLERK = "{id: clerk, count: 1, orders: 0, verbs: [availability, schedule, dispatch, declare]}"


def staffed(*roles: str, more: str = "") -> str:
    """Return the tiny scenario with roles."""
    lines = "".join(f"    - {role}\n" for role in roles)
    head = f"agents:\n  max_decisions: 12\n  client_deadline: '10 s'\n{more}  roles:\n"
    return BASE.replace(OLD, head + lines if roles else f"{head.rstrip()} []\n")


BAD = {
    "no verbs": ((BOOKER, CLERK.replace("[availability, schedule, dispatch, declare]", "[]")), "clerk: a role without"),
    "verb of no API": ((BOOKER.replace("tender", "track"), CLERK), "booker: this scenario has no API 'track'"),
    "unknown verb": ((BOOKER.replace("tender", "tendre"), CLERK), "unknown verb 'tendre'"),
    "leaves before it joins": (
        (BOOKER, CLERK.replace("count: 1", "count: 1, joins: '10:00', leaves: '09:30'")),
        "clerk: leaves before it joins; got '09:30'; allowed: after it joins at 10:00, up to 18:00",
    ),
    "joins too early": ((BOOKER, CLERK.replace("count: 1", "count: 1, joins: '05:00'")), "clerk: joins outside"),
    "joins too late": ((BOOKER, CLERK.replace("count: 1", "count: 1, joins: '18:00'")), "clerk: joins outside"),
    "leaves too late": ((BOOKER, CLERK.replace("count: 1", "count: 1, leaves: '18:01'")), "clerk: leaves outside"),
    "the same twice": ((BOOKER, CLERK, CLERK), "duplicate id 'clerk'"),
    "name with a digit": ((BOOKER, CLERK.replace("clerk", "clerk2")), "not a valid name of a role"),
    "hands to nobody": ((BOOKER.replace("count: 2", "count: 2, hands_to: [clark]"), CLERK), "did you mean 'clerk'?"),
    "hands to itself": (
        (BOOKER.replace("count: 2", "count: 1, hands_to: [booker]"), CLERK),
        "hands_to names itself, and there is only one",
    ),
    "hands over without the verb": (
        (BOOKER.replace("tender, hand_over]", "tender], hands_to: [clerk]"), CLERK),
        "hands_to without the verb hand_over",
    ),
    "no orders": ((BOOKER.replace("count: 2", "count: 2, orders: 0"), CLERK), "no agent has an order"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_contradiction_is_one_line(write: Write, case: str) -> None:
    roles, words = BAD[case]
    path = write(staffed(*roles))
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    message = str(caught.value)
    assert words in message
    line = int(message.removeprefix(f"{path}:").split(":")[0])
    first = line_of(staffed(*roles), "  roles:")
    assert first <= line <= first + len(roles)


def test_each_line_is_the_line_of_the_role(write: Write) -> None:
    text = staffed(BOOKER, CLERK.replace("declare", "track"))
    path = write(text)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    assert caught.value.where == f"{path}:{line_of(text, 'id: clerk')}"
    assert caught.value.fix == "add `track: {}` under `apis`, or remove the verb"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (staffed(), "agents.roles is empty"),
        (staffed(BOOKER, CLERK, more="  count: 2\n"), "agents.count contradicts agents.roles"),
        (staffed(BOOKER, CLERK, more="  role: booker\n"), "agents.role contradicts agents.roles"),
        (BASE.replace("count: 2, ", "count: 2, places: 3, "), "agents.places belongs to roles"),
        (BASE.replace("count: 2, ", "count: 2, hand_over: {}, "), "agents.hand_over belongs to roles"),
        (BASE.replace("count: 2, ", ""), "missing key 'agents.count'"),
        (
            staffed(BOOKER.replace("count: 2", "count: 2, orders: 3"), CLERK, more="  places: 2\n"),
            "agents.places is too small; got 2; allowed: at least 3",
        ),
        (staffed(BOOKER, CLERK, more="  hand_over: {drops: [money]}\n"), "agents.hand_over.drops.0"),
    ],
)
def test_forms_that_contradict_each_other(write: Write, text: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=r"tiny-v0\.yaml:") as caught:
        load_scenario(write(text))
    assert words in str(caught.value)


UNFINISHED = {
    "nobody dispatches": ((BOOKER, CLERK.replace("dispatch, ", "")), "dispatch"),
    "nobody is handed it": ((BOOKER.replace(", hand_over", ""), CLERK), "availability"),
    "it goes to another": (
        (BOOKER.replace("count: 2", "count: 2, hands_to: [guard]"), CLERK, "{id: guard, count: 1, verbs: [declare]}"),
        "availability",
    ),
    "gone before the other comes": (
        (
            BOOKER.replace("count: 2", "count: 2, leaves: '09:00'"),
            CLERK.replace("count: 1", "count: 1, joins: '09:00'"),
        ),
        "availability",
    ),
    "the other way round": (
        (
            "{id: booker, count: 2, verbs: [availability, schedule, dispatch, hand_over]}",
            "{id: clerk, count: 1, orders: 0, verbs: [quote, tender]}",
        ),
        "dispatch",
    ),
}


@pytest.mark.parametrize("case", UNFINISHED)
def test_orders_that_nobody_can_finish(write: Write, case: str) -> None:
    roles, verb = UNFINISHED[case]
    with pytest.raises(ScenarioError) as caught:
        load_scenario(write(staffed(*roles)))
    assert f"booker: nobody can finish its orders: on no way from role to role comes '{verb}'" in str(caught.value)


def test_what_is_lost_on_the_way_must_be_made_good(write: Write) -> None:
    drops = "  hand_over: {drops: [trucks]}\n"
    with pytest.raises(ScenarioError, match=r"comes 'tender'.* after what was dropped"):
        load_scenario(write(staffed(BOOKER, CLERK, more=drops)))
    able = CLERK.replace("dispatch", "quote, tender, dispatch")
    assert load_scenario(write(staffed(BOOKER, able, more=drops))).spec.agents[-1] == "clerk_0"


def test_a_way_there_and_back_is_found(write: Write) -> None:
    """Booked first, then tendered, then dispatched by who booked."""
    planner = "{id: planner, count: 1, verbs: [availability, schedule, dispatch, hand_over]}"
    buyer = "{id: buyer, count: 1, orders: 0, verbs: [quote, tender, hand_over]}"
    assert load_scenario(write(staffed(planner, buyer))).spec.agents == ("planner_0", "buyer_0")


def test_defaults(write: Write) -> None:
    spec = load_scenario(write(staffed(BOOKER.replace("count: 2", "count: 2, orders: 3"), CLERK))).spec
    assert spec.agents == ("booker_0", "booker_1", "clerk_0")
    assert spec.staff is not None
    assert (spec.staff.places, spec.staff.delay, spec.staff.drops) == (3, Constant(60.0), ())
    assert [role.hands_to for role in spec.staff.roles] == [("clerk",), ()]
    assert [role.orders for role in spec.staff.roles] == [3, 0]
    assert load_scenario(write(BASE)).spec.staff is None


def test_a_base_with_a_number_of_agents_can_be_given_roles(write: Write) -> None:
    path = write(BASE)
    over = path.with_name("over-v0.yaml")
    roles = f"roles: [{BOOKER}, {CLERK}]"
    over.write_text(f"extends: tiny-v0.yaml\nid: over-v0\nagents: {{role: null, count: null, {roles}}}\n", "utf-8")
    assert load_scenario(over).spec.agents == ("booker_0", "booker_1", "clerk_0")
