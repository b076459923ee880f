"""``masim micro``: listed, checked, learned on; bad input has exit code 2 and one clear line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from masim.cli.main import run
from masim.micro.registry import GAMES


def said(words: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    assert run([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_all_are_listed_with_their_answers(capsys: pytest.CaptureFixture[str]) -> None:
    found = said(["micro"], capsys)["games"]
    assert [row["name"] for row in found] == list(GAMES)
    assert all(0.0 <= row["p_random"] < row["p_star"] <= 1.0 for row in found)


def test_played_episodes_stand_beside_closed_forms(capsys: pytest.CaptureFixture[str]) -> None:
    found = said(["micro", "micro/early-hold", "--set", "types=2", "--set", "rounds=3", "-n", "400"], capsys)
    assert found["options"]["types"] == 2
    assert [row["policy"] for row in found["policies"]] == ["random", "optimal"]
    for row in found["policies"]:
        assert row["low"] <= row["closed_form"] <= row["high"]


def test_a_memory_without_a_best_policy_is_checked_blind(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["micro", "vendor-swap", "--set", "rounds=6", "--set", "needed=3", "-n", "50"]
    assert [row["policy"] for row in said(words, capsys)["policies"]] == ["random"]


@pytest.mark.parametrize("learner", ["progpo", "ppo-gae", "FILE"])
def test_learners_are_tried(learner: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if learner == "FILE":
        learner = str(tmp_path / "mine.yaml")
        Path(learner).write_text("estimator: rloo\noptimizer: sgd\nlr: 30.0\n")
    words = ["micro", "token-ladder", "--set", "subgoals=3", "--set", "budget=5", "--train", learner]
    found = said([*words, "--updates", "13"], capsys)
    assert found["curve"][0] == {"update": 0, "episodes": 0, "success": pytest.approx(0.163, abs=1e-3)}
    assert found["curve"][-1]["update"] == 13
    assert found["curve"][-1]["success"] > found["curve"][0]["success"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["early-holt"], "did you mean 'early-hold'"),
        (["early-hold", "--set", "types=1"], "2 to 100"),
        (["early-hold", "--set", "typos=3"], "did you mean 'types'"),
        (["early-hold", "--set", "types=many"], "wrong type"),
        (["early-hold", "--train", "gropo"], "did you mean 'grpo'"),
        (["early-hold", "--train", "none.yaml"], "there is no such file"),
        (["early-hold", "-n", "0"], "--episodes"),
        (["vendor-swap", "--set", "remembers=belief", "--train", "grpo"], "too many to list"),
    ],
)
def test_bad_input_has_one_clear_line(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["micro", *words]) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1
