"""Agent cards: what loads, and that every bad card gives one line with file and line number."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from masim.assets import list_assets
from masim.errors import RunError, ScenarioError
from masim.policy.card import POLICIES, card_from_mapping, card_to_mapping, load_card
from masim.tools.breaker import BreakerSettings
from masim.tools.retry import RetrySettings
from masim.tools.settings import ClientSettings

GOOD = "schema: 1\nname: mine\npolicy: workflow\nhabits: {remember: false, quotes: 2}\nmemory: {half_life_s: 3600}\n"


def write(tmp_path: Path, text: str) -> str:
    path = tmp_path / "card.yaml"
    path.write_text(text, "utf-8")
    return str(path)


def test_bundled_cards_load() -> None:
    cards = {name: load_card(name) for name in list_assets("agents")}
    assert {"random", "null", "naive", "scripted", "production", "scorer"} <= set(cards)
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
    (GOOD + "name: twice\n", 6, "duplicate key 'name'"),
    ("- a\n- b\n", 1, "one mapping"),
    ("schema: 1\npolicy: scorer\nhidden: 0\n", 3, "1 to 4096"),
    (GOOD + "client:\n  idempotency: true\n  key_per: leg\n", 8, "effect, order"),
    (GOOD + "client:\n  key_per: order\n", 7, "with idempotency: true"),
]

CLIENT = (
    GOOD
    + """client:
  deadline: '20 s'
  idempotency: true
  retry:
    policy: full-jitter
    attempts: 4
    base: '500 ms'
    budget_tokens: 10
  breaker: {failures: 3, open: '1 min', per: vendor}
"""
)
BAD += [
    (CLIENT.replace("deadline", "dedline"), 7, "did you mean 'deadline'"),
    (CLIENT.replace("'20 s'", "20"), 7, "write it as '5 s'"),
    (CLIENT.replace("'20 s'", "'20'"), 7, "is not a duration"),
    (CLIENT.replace("'20 s'", "'0 s'"), 7, "above 0"),
    (CLIENT.replace("true", "maybe"), 8, "wrong type"),
    (CLIENT.replace("full-jitter", "full-jiter"), 10, "did you mean 'full-jitter'"),
    (CLIENT.replace("full-jitter", "none"), 11, "nothing beside policy 'none'"),
    (CLIENT.replace("attempts: 4", "attempts: 0"), 11, "1 to 100"),
    (CLIENT.replace("'500 ms'", "'5 h'"), 12, "at most the cap"),
    (CLIENT.replace("base:", "based:"), 12, "did you mean 'base'"),
    (CLIENT.replace("failures: 3", "failures: 3.5"), 14, "wrong type"),
    (CLIENT.replace("per: vendor", "per: verb"), 14, "endpoint, vendor"),
    (GOOD + "client: yes\n", 6, "a mapping of settings"),
    (GOOD.replace("memory: {half_life_s: 3600}", "memory:\n  theta: 0.1\n  half_life_s: -1"), 7, "memory.half_life_s"),
    (GOOD.replace("half_life_s: 3600", "policy: recomended"), 5, "did you mean 'recommended'"),
    (GOOD.replace("quotes: 2", "nap: 5"), 4, "habits.nap; got 5; allowed: an integer from 0 to 3"),
    (GOOD.replace("quotes: 2", "quotes: 0"), 4, "habits.quotes; got 0; allowed: an integer from 1"),
    (GOOD.replace("quotes: 2", "slack_s: -5"), 4, "habits.slack_s; got -5; allowed: a number from 0"),
    (GOOD.replace("quotes: 2", "patience_s: .inf"), 4, "not a finite number"),
    (GOOD.replace("name: mine", "name: ../mine"), 2, "not a name; got '../mine'"),
    (GOOD.replace("schema: 1", "schema: true"), 1, "unknown card version; got true"),
    (GOOD + "client: &a {retry: *a}\n", 6, "anchors are refused"),
    (GOOD + "client: " + "[" * 40 + "]" * 40 + "\n", 6, "nested too deeply"),
    (GOOD + "client: [\n", 7, "not valid YAML"),
    (GOOD + "\thabits: {}\n", 6, "not valid YAML"),
]

MODEL = "schema: 1\npolicy: language\nmodel:\n  source: tiny-llama\n  act: score\n"
BAD += [
    ("schema: 1\npolicy: language\n", 2, "needs a model"),
    (MODEL.replace("policy: language", "policy: random"), 4, "belongs to the policy 'language'"),
    (MODEL.replace("source:", "sorce:"), 4, "did you mean 'source'"),
    (MODEL.replace("  source: tiny-llama\n", ""), 4, "model.source"),
    (MODEL.replace("score", "scores"), 5, "did you mean 'score'"),
    (MODEL + "  dtype: float16\n", 6, "allowed: float32, bfloat16"),
    (MODEL + "  temperature: -1.0\n", 6, "a number from 0 to 100"),
    (MODEL + "  threads: two\n", 6, "wrong type"),
    (MODEL + "  batch: 0\n", 6, "an integer from 1 to 1024"),
]
SERVED = """schema: 1
policy: language
model: {source: served, act: json}
server:
  base_url: 'http://127.0.0.1:8000/v1'
  model: small
"""
BAD += [
    (SERVED.replace("act: json", "act: score"), 3, "a served model cannot score calls"),
    (SERVED.partition("server:")[0], 3, "a served model needs a server"),
    (SERVED.replace("source: served", "source: smollm2"), 5, "belongs to the source 'served'"),
    (SERVED.replace("http:", "gopher:"), 5, "http://host:port/v1"),
    (SERVED.replace("//127", "//me:secret@127"), 5, "put the key into an environment variable"),
    (SERVED.replace("model: small", "modle: small"), 6, "did you mean 'model'"),
    (SERVED + "  attempts: 0\n", 7, "an integer from 1 to 100"),
    (SERVED + "  timeout_s: soon\n", 7, "wrong type"),
]


def test_a_served_card_comes_back_as_it_was_stored(tmp_path: Path) -> None:
    card = load_card(write(tmp_path, SERVED))
    assert card.server is not None and (card.server.model, card.server.key_env) == ("small", "")
    assert card_from_mapping(json.loads(json.dumps(card_to_mapping(card))), "run.json") == card


def test_a_model_is_named_from_the_cards_own_folder(tmp_path: Path) -> None:
    tiny = load_card(write(tmp_path, MODEL)).model
    assert tiny is not None and (tiny.source, tiny.act, tiny.length) == ("tiny-llama", "score", "sum")
    own = load_card(write(tmp_path, MODEL.replace("tiny-llama", "models/mine"))).model
    assert own is not None and own.source == str(tmp_path / "models/mine")
    card = load_card(write(tmp_path, MODEL))
    assert card_from_mapping(json.loads(json.dumps(card_to_mapping(card))), "run.json") == card


def test_client_settings_reach_the_card(tmp_path: Path) -> None:
    client = load_card(write(tmp_path, CLIENT)).client
    retry = RetrySettings("full-jitter", attempts=4, base_s=0.5, budget_tokens=10.0)
    breaker = BreakerSettings(failures=3, open_s=60.0, per="vendor")
    assert client == ClientSettings(20.0, retry, breaker, idempotency=True)


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
    card = load_card(write(tmp_path, CLIENT))
    stored = json.loads(json.dumps(card_to_mapping(card)))
    assert card_from_mapping(stored, "run.json") == card
    older = {key: value for key, value in stored.items() if key != "client"}
    assert card_from_mapping(older, "run.json") == replace(card, client=ClientSettings())
    with pytest.raises(RunError, match="stored agent card"):
        card_from_mapping({**stored, "client": {"retry": {"policy": "never"}}}, "run.json")
    with pytest.raises(RunError, match="stored agent card"):
        card_from_mapping({**stored, "memory": {"half_life": 1}}, "run.json")
