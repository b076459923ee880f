"""Lint: an error is reported once and with its line; each warning fires on the world it is about and on no other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from scenario.tiny import BASE, line_of

from masim.assets import list_assets
from masim.scenario.catalog import card_text, list_scenarios
from masim.scenario.json_schema import schema_json
from masim.scenario.lint import WARNINGS, lint_scenario

Write = Callable[[str], Path]


def faults(*entries: str) -> str:
    """Return a section of faults, before the shippers."""
    return "faults:\n" + "".join(f"  - {entry}\n" for entry in entries) + "shippers:"


ALIKE = "agents: {role: booker, count: 2, max_decisions: 12, client_deadline: '10 s'}"
CLERK = "{id: clerk, count: 1, orders: 0, verbs: [availability, schedule, dispatch, declare]}"


def staffed(*roles: str, hands_to: str = "null") -> str:
    """Return a section of agents: two bookers that hand over to other roles."""
    booker = f"{{id: booker, count: 2, verbs: [quote, tender, hand_over], hands_to: {hands_to}}}"
    lines = "".join(f"\n    - {role}" for role in (booker, *roles))
    return f"agents:\n  max_decisions: 12\n  client_deadline: '10 s'\n  places: 2\n  roles:{lines}"


CASES = {
    "no-source": (
        '  source: "[I]"\ncarriers',
        "carriers",
        "price: '250",
        "carriers.aster: the number '250 USD' has",
    ),
    "dock-demand": (
        "capacity: 2",
        "capacity: 1",
        "[plant]",
        "0 free places between 12:00 and 18:00 for 2 orders",
    ),
    "slow-decisions": (
        "{median: '4 min', sigma: 0.8}",
        "{constant: '13 h'}",
        "13 h",
        "one answer in ten takes more than",
    ),
    "useless-carrier": ("{id: birch}", "{id: birch, accept_p: 0}", "{id: birch", "never usable, it accepts no tender"),
    "never-on-time": ("[0.9, 0.5]", "[0.0, 0.0]", "[0.0", "no carrier is ever on time"),
    "unused-dock": ("pickup_docks: [plant]\n      pick", "pick", "id: plant", "no leg uses this dock"),
    "short-deadline": ("'10 s'", "'1 s'", "", "half of the answers take more than 4.4 s, but agents give up after 1 s"),
    "slow-station": (
        "  availability: {}",
        "  availability: {station: {servers: 1, service: {constant: '1 min'}}}",
        "station",
        "latency and service alone take",
    ),
    "few-decisions": (
        "max_decisions: 12",
        "max_decisions: 4",
        "max_decisions",
        "4 decisions are too few",
    ),
    "fault-window": (
        "shippers:",
        faults("{id: night, kind: down, when: {windows: [['19:00', '20:00']]}}"),
        "id: night",
        "faults.night: nobody calls between 19:00 and 20:00; agents book from 06:00 to 18:00",
    ),
    "fault-endless": (
        "shippers:",
        faults("{id: long, kind: down, when: {spells: {gap_mean: '1 d', length: {constant: '13 h'}}}}"),
        "id: long",
        "faults.long: a spell lasts 13 h on average, longer than the 12 h",
    ),
    "fault-contradiction": (
        "shippers:",
        faults(
            "{id: slow, kind: slow_body, match: {endpoints: [tender]}}",
            "{id: slower, kind: slow_body, with: {factor: 20}}",
        ),
        "id: slower",
        "faults.slower: strikes the same calls as faults.slow, with other settings",
    ),
    "fault-hidden": (
        "shippers:",
        faults(
            "{id: gone, kind: down, match: {vendors: [aster]}}",
            "{id: never, kind: abort, p: 0.1, match: {vendors: [aster]}}",
        ),
        "id: never",
        "faults.never: every call that it matches is refused by faults.gone before it",
    ),
    "fault-needs": (
        "shippers:",
        faults("{id: gone, kind: hold_expiry}"),
        "kind: hold",
        "faults.gone: hold_expiry strikes calls of hold, of which there are none here: add `hold: {}` under `apis`",
    ),
    "late-drift": (
        "[0.9, 0.5]",
        "[0.9, 0.5], drift: {every_days: 2}",
        "every_days",
        "hidden.drift: the first change would come on day 2 of 2, so never",
    ),
    "late-change": (
        "    capacity: 2",
        "    degrades: {at: '45 h', slower: 2}\n    capacity: 2",
        "degrades",
        "docks.plant: degrades after the last day of the campaign",
    ),
    "fault-never": (
        "shippers:",
        faults("{id: off, kind: hang, p: 0}"),
        "id: off",
        "faults.off: never strikes, its p is 0",
    ),
    "role-idle": (
        ALIKE,
        staffed(CLERK, "{id: guard, count: 1, orders: 0, verbs: [declare]}", hands_to="[clerk]"),
        "id: guard",
        "agents.guard: never acts: it has no orders, and nobody who has any hands it one in time",
    ),
    "role-useless": (
        ALIKE,
        staffed(CLERK, "{id: guard, count: 1, orders: 0, verbs: [schedule, hand_over]}").replace("schedule, h", "h"),
        "id: guard",
        "agents.guard: never acts on an order: in this scenario nobody can ever call its verbs (none but hand_over)",
    ),
    "role-declare": (
        ALIKE,
        staffed(CLERK.replace(", declare", "")),
        "id: booker",
        "nobody may `declare`, so no order is ever closed",
    ),
    "role-places": (
        ALIKE,
        staffed(CLERK).replace("places: 2", "places: 1"),
        "places",
        "agents.places: 1 places for 2 orders a day at who may dispatch (clerk)",
    ),
    "local-time": (
        "campaign_days: 2}",
        "campaign_days: 2, date: '2026-03-07'}\n"
        "dock_defaults: {zone: America/Chicago, blackouts: [{start: '02:30', end: '03:00'}]}",
        "blackouts",
        "docks.plant: blackouts 02:30 does not exist on 2026-03-08 in America/Chicago",
    ),
    "file-name": ("id: tiny-v0", "id: other-v0", "id: other", "does not end in the file's name 'tiny-v0'"),
}


@pytest.mark.parametrize("name", sorted(list_assets("scenarios")))
def test_bundled_scenarios_are_clean(name: str) -> None:
    assert lint_scenario(name) == []


def test_every_warning_has_a_case() -> None:
    assert set(CASES) == set(WARNINGS)


@pytest.mark.parametrize("rule", CASES)
def test_warnings(write: Write, rule: str) -> None:
    old, new, marked, words = CASES[rule]
    assert not [finding for finding in lint_scenario(write(BASE)) if finding.rule == rule]
    text = BASE.replace(old, new, 1)
    path = write(text)
    findings = [finding for finding in lint_scenario(path) if finding.rule == rule]
    assert findings and findings[0].severity == "warning"
    assert words in findings[0].text
    if marked:
        assert findings[0].where == f"{path}:{line_of(text, marked)}"


@pytest.mark.parametrize(
    ("life", "words"),
    [
        ("joins: '2 d'", "it joins after the campaign"),
        ("replaced: {at: '0 s'}", "it is gone before anybody can book it"),
        ("joins: '1 d', replaced: {at: '12 h', by: aster}", "it is gone before anybody can book it"),
    ],
)
def test_a_carrier_that_is_never_there_is_useless(write: Write, life: str, words: str) -> None:
    (finding,) = [
        f
        for f in lint_scenario(write(BASE.replace("{id: birch}", f"{{id: birch, {life}}}")))
        if f.rule == "useless-carrier"
    ]
    assert finding.text == f"carriers.birch: never usable, {words}"


def test_an_error_is_one_finding(write: Write) -> None:
    path = write(BASE.replace("capacity: 2", "capacity: -2"))
    (finding,) = lint_scenario(path)
    assert str(finding).startswith(
        f"{path}:{line_of(BASE, 'capacity')}: error: docks.plant.capacity: out of range; got -2"
    )


def test_catalog_and_cards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [entry.title for entry in list_scenarios() if entry.id == "freight/first-steps-v0"] == [
        "One agent, three APIs, no docks"
    ]
    card = card_text("freight/twelve-apis-v0")
    for words in ("booker_3", "appointment_details", "[M] ONDC", "lost_response_p", "outages.gap_mean"):
        assert words in card
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "broken-v0.yaml").write_text("[")
    monkeypatch.chdir(tmp_path)
    assert {e.id: e.title for e in list_scenarios()}["broken-v0"].startswith("(unreadable: not valid YAML")


@pytest.mark.parametrize("kind", ["scenario", "apis"])
def test_the_json_schema_is_json(kind: str) -> None:
    schema = schema_json(kind)
    assert json.loads(json.dumps(schema)) == schema
    assert schema["additionalProperties"] is False
    assert "schema" in schema["required"]
