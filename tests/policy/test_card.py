"""Agent cards: what loads, and that every bad card gives one line with file and line number."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from masim.assets import list_assets
from masim.errors import RunError, ScenarioError
from masim.policy.card import POLICIES, card_from_mapping, card_to_mapping, load_card

GOOD = "schema: 1\nname: mine\npolicy: workflow\nhabits: {remember: false, quotes: 2}\nmemory: {half_life_s: 3600}\n"


def write(tmp_path: Path, text: str) -> str:
    path = tmp_path / "card.yaml"
    path.write_text(text, "utf-8")
    return str(path)


def test_bundled_cards_load() -> None:
    cards = {name: load_card(name) for name in list_assets("agents")}
    assert {"random", "null", "naive", "scripted", "scorer"} <= set(cards)
    assert {card.policy for card in cards.values()} == set(POLICIES)


def test_settings_reach_the_card(tmp_path: Path) -> None:
    card = load_card(write(tmp_path, GOOD))
    assert (card.name, card.habits.remember, card.habits.quotes, card.habits.hold) == ("mine", False, 2, True)
    assert card.memory.half_life_s == 3600


BAD = [
    (GOOD.replace("habits", "habbits"), 4, "did you mean 'habits'"),
    (GOOD.replace("quotes", "qotes"), 4, "did you mean 'quotes'"),
    (GOOD.replace("quotes: 2", "quotes: two"), 4, "wrong type"),
    (GOOD.replace("policy: workflow", "policy: workflw"), 3, "did you mean 'workflow'"),
    (GOOD.replace("policy: workflow", "policy: random"), 4, "belongs to the policy 'workflow'"),
    (GOOD.replace("schema: 1", "schema: 7"), 1, "unknown card version"),
    (GOOD.replace("3600", "-1"), 5, "impossible memory setting"),
    (GOOD + "name: twice\n", 6, "stands twice"),
    ("- a\n- b\n", 1, "a mapping"),
    ("schema: 1\npolicy: scorer\nhidden: 0\n", 3, "1 to 4096"),
]


@pytest.mark.parametrize(("text", "line", "words"), BAD)
def test_bad_card_names_file_and_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ScenarioError) as caught:
        load_card(path)
    assert f"{path}:{line}" in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize("text", ["policy: !!python/object:os.system {}\n", "a: [1\n", "\x00\x01"])
def test_unsafe_or_broken_yaml_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ScenarioError):
        load_card(write(tmp_path, text))


def test_large_card_is_refused_before_parsing(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="too large"):
        load_card(write(tmp_path, "#" * 70_000))


def test_unknown_card_says_the_nearest_name() -> None:
    with pytest.raises(ScenarioError, match="did you mean 'scripted'"):
        load_card("scriptd")


def test_a_stored_card_comes_back_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    card = load_card(write(tmp_path, GOOD))
    stored = json.loads(json.dumps(card_to_mapping(card)))
    assert card_from_mapping(stored, "run.json") == card
    with pytest.raises(RunError, match="stored agent card"):
        card_from_mapping({**stored, "memory": {"half_life": 1}}, "run.json")
