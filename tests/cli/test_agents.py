"""``masim agents``: every bundled card is listed and can be shown; a broken one does not break the list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from masim import assets
from masim.cli.main import run


def answer(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    """Run ``masim agents`` with ``--json`` and return its object."""
    run(["agents", *argv, "--json"])
    return json.loads(capsys.readouterr().out)


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {row["id"]: row for row in answer(capsys, "list")["agents"]}
    assert {"random", "null", "scripted", "scorer"} <= rows.keys()
    assert [row["error"] for row in rows.values() if row["error"]] == []
    assert run(["agents", "list", "--quiet"]) == 0
    assert capsys.readouterr().out.splitlines() == list(rows)


@pytest.mark.parametrize("name", assets.list_assets("agents"))
def test_show(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "show", name)["name"] == name.rpartition("/")[2]
    assert run(["agents", "show", name]) == 0
    assert "memory.policy" in capsys.readouterr().out


def test_a_broken_card_is_listed_with_its_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents/odd.yaml").write_text("schema: 1\npolicy: magic\n")
    monkeypatch.chdir(tmp_path)
    row = next(row for row in answer(capsys, "list")["agents"] if row["id"] == "odd")
    assert "odd.yaml:2" in row["error"]


def test_unknown_card_and_missing_sub_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "show", "scriptd")["error"]["fix"] == "did you mean 'scripted'?"
    assert answer(capsys, "shwo")["error"]["problem"].endswith("Did you mean 'show'?")


@pytest.mark.parametrize("name", ["null", "random", "naive", "scripted"])
def test_check(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "check", name)
    assert found["name"] == name and found["failure"] == "" and found["decisions"] > 0
    assert run(["agents", "check", name]) == 0
    assert capsys.readouterr().out.startswith(f"ok: {name}")


def test_check_a_broken_card(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    card = tmp_path / "odd.yaml"
    card.write_text("schema: 1\npolicy: random\nhabits: {hold: true}\n")
    assert run(["agents", "check", str(card)]) == 2
    assert "odd.yaml:3" in capsys.readouterr().err
