"""Verbs that find, show, check and copy scenarios, on the bundled ones.

1. list, show, where: what is bundled is found, by id and by the last part of an id; unknown ids name the nearest.
2. lint: one line per file, exit 2 when one is bad, the good ones still reported.
3. init: all parts or none, never over a file, and the copy wins the search inside its folder.
4. schema: a JSON Schema that refuses unknown keys.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from masim.cli.main import run
from masim.scenario.load import load_scenario

SCENARIO = "freight/first-steps-v0"
Captured = pytest.CaptureFixture[str]


def answer(capsys: Captured, *argv: str, code: int = 0) -> Any:
    """Run a verb with ``--json`` and return its object."""
    assert run([*argv, "--json"]) == code
    printed = capsys.readouterr()
    assert printed.err == ""
    return json.loads(printed.out)


def test_list_names_every_bundled_scenario(capsys: Captured) -> None:
    found = answer(capsys, "list")["scenarios"]
    assert SCENARIO in {row["id"] for row in found}
    assert [row for row in found if "unreadable" in row["title"]] == []
    assert run(["list", "first-steps", "--quiet"]) == 0
    assert SCENARIO in capsys.readouterr().out.splitlines()


def test_show_prints_the_page_of_the_documentation(capsys: Captured) -> None:
    assert run(["show", SCENARIO, "--page"]) == 0
    page = Path(__file__).parents[2] / "docs/reference/scenarios/freight.first-steps-v0.md"
    assert capsys.readouterr().out == page.read_text("utf-8")
    assert answer(capsys, "show", SCENARIO)["history"] == [
        {"version": 0, "date": "2026-12-01", "change": "First version."}
    ]


def test_a_broken_scenario_is_listed_with_its_error(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios/broken-v0.yaml").write_text("id: [\n")
    monkeypatch.chdir(tmp_path)
    row = next(row for row in answer(capsys, "list")["scenarios"] if row["id"] == "broken-v0")
    assert row["title"].startswith("(unreadable: ")


def test_show_gives_numbers_their_sources(capsys: Captured) -> None:
    shown = answer(capsys, "show", SCENARIO)
    assert shown["id"] == SCENARIO
    assert len(shown["hash"]) == 64
    assert all(set(row) == {"path", "value", "source"} for row in shown["sources"])
    assert shown["resolved"]["agents"]["count"] == 1
    assert run(["show", SCENARIO, "--sources"]) == 0
    printed = capsys.readouterr().out
    assert shown["title"] in printed
    assert all(row["path"] in printed for row in shown["sources"])


@pytest.mark.parametrize("verb", ["show", "where"])
def test_unknown_ids_name_the_nearest(verb: str, capsys: Captured) -> None:
    error = answer(capsys, verb, "freight/first-step-v0", code=2)["error"]
    assert error["fix"] == f"did you mean '{SCENARIO}'?"


def test_where_is_the_file(capsys: Captured) -> None:
    path = Path(answer(capsys, "where", SCENARIO)["scenario"])
    assert path.is_file()
    assert path.as_posix().endswith(f"scenarios/{SCENARIO}.yaml")


def test_lint_reports_good_and_bad_files(capsys: Captured, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("schema: 1\nid: x/bad-v0\ntitel: oops\n")
    found = answer(capsys, "lint", str(bad), SCENARIO, code=2)["files"]
    assert [finding["severity"] for finding in found[str(bad)]] == ["error"]
    assert found[str(bad)][0]["where"].startswith(f"{bad}:")
    assert found[SCENARIO] == []
    assert run(["lint", str(bad), SCENARIO, "--quiet"]) == 2
    assert capsys.readouterr().out.count("\n") == 1


def test_lint_applies_settings_and_warnings_fail_when_asked(capsys: Captured) -> None:
    assert run(["lint", SCENARIO, "--strict"]) == 0
    assert capsys.readouterr().out == f"{SCENARIO}: ok\n"
    hopeless = ["lint", SCENARIO, "--set", "carrier_defaults.accept_p=0.0"]
    assert run(hopeless) == 0
    assert "warning: " in capsys.readouterr().out
    assert run([*hopeless, "--strict"]) == 1
    capsys.readouterr()
    assert answer(capsys, "lint", SCENARIO, "--set", "agents.count", code=2)["error"]["where"] == "--set"


def test_init_copies_all_parts_and_the_copy_wins(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mine"
    files = [Path(name) for name in answer(capsys, "init", str(folder), "--from", SCENARIO)["files"]]
    assert sorted(files) == sorted(path for path in folder.rglob("*") if path.is_file())
    assert {path.relative_to(folder).parts[0] for path in files} == {"scenarios", "agents"}
    monkeypatch.chdir(folder)
    assert Path(answer(capsys, "where", SCENARIO)["scenario"]) == folder / f"scenarios/{SCENARIO}.yaml"
    assert run(["lint", f"scenarios/{SCENARIO}.yaml"]) == 0


def test_init_never_overwrites(capsys: Captured, tmp_path: Path) -> None:
    mine = tmp_path / f"scenarios/{SCENARIO}.yaml"
    mine.parent.mkdir(parents=True)
    mine.write_text("my work")
    error = answer(capsys, "init", str(tmp_path), "--from", SCENARIO, code=2)["error"]
    assert error["where"] == str(mine)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [mine]
    assert mine.read_text() == "my work"


def test_init_into_a_place_that_cannot_be_written(capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    error = answer(capsys, "init", str(tmp_path / "file"), code=2)["error"]
    assert error["problem"].startswith("cannot write")


@pytest.mark.parametrize("kind", ["scenario", "apis"])
def test_schema_refuses_unknown_keys(kind: str, capsys: Captured) -> None:
    assert answer(capsys, "schema", kind)["additionalProperties"] is False


def test_schema_to_a_file(capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "scenario.schema.json"
    assert run(["schema", "--out", str(file), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert json.loads(file.read_text())["title"] == "masim scenario"
    assert answer(capsys, "schema", "scenaro", code=2)["error"]["fix"] == "did you mean 'scenario'?"


def test_init_copies_what_a_scenario_extends(capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "regress/b1-lost-response-v0"
    files = [Path(file) for file in answer(capsys, "init", str(tmp_path), "--from", name)["files"]]
    assert tmp_path / "scenarios/_parts/one-leg.yaml" in files
    monkeypatch.chdir(tmp_path)
    base = tmp_path / "scenarios/_parts/one-leg.yaml"
    base.write_text(base.read_text("utf-8").replace("max_decisions: 40", "max_decisions: 39"), "utf-8")
    assert load_scenario(name).spec.max_decisions == 39


def test_init_keeps_every_copy_inside_its_folder(capsys: Captured, tmp_path: Path) -> None:
    card = tmp_path / "mine.yaml"
    card.write_text("schema: 1\npolicy: workflow\n", "utf-8")
    files = answer(capsys, "init", str(tmp_path / "a"), "--agent", str(card))["files"]
    assert str(tmp_path / "a" / "agents" / "mine.yaml") in files
    base = Path(answer(capsys, "where", "freight/first-steps-v0")["scenario"])
    beside = tmp_path / "far-v0.yaml"
    beside.write_text(f"schema: 1\nid: far-v0\nextends: {base}\n", "utf-8")
    error = answer(capsys, "init", str(tmp_path / "b"), "--from", str(beside), code=2)["error"]
    assert "outside the folder" in error["problem"] and not (tmp_path / "b").exists()
    assert run(["init", str(tmp_path / "c"), "--from", str(base)]) == 0
    assert "masim lint freight/first-steps-v0\n" in capsys.readouterr().out


def test_list_folds_a_large_family_unless_it_is_asked_for(capsys: Captured) -> None:
    assert run(["list"]) == 0
    text = capsys.readouterr().out
    assert "masim list regress/" in text
    assert "regress/b1-lost-response-v0" not in text
    assert SCENARIO in text
    assert run(["list", "regress/"]) == 0
    assert "regress/b1-lost-response-v0" in capsys.readouterr().out
    assert run(["list", "--quiet"]) == 0
    assert "regress/b1-lost-response-v0" in capsys.readouterr().out.splitlines()
