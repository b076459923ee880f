"""``masim run``: the same bytes in every process and on any number of workers, and one line for every bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli.processes import finish, start

from masim.cli.main import run

FIRST = "freight/first-steps-v0"
TABLES = ("trace", "outcomes", "steps")


def test_the_same_bytes_in_two_processes(tmp_path: Path) -> None:
    """Another hash seed and another number of workers change nothing."""
    argv = ["run", FIRST, "--seed", "7", "--agents", "scripted,random", "--no-report", "--quiet"]
    folders = [tmp_path / "one", tmp_path / "two"]
    processes = [
        start(*argv, "--workers", str(i + 1), "--out", str(folder), hash_seed=str(41 + i))
        for i, folder in enumerate(folders)
    ]
    for process in processes:
        assert finish(process)[0] == 0
    for name in TABLES:
        one, two = ((folder / f"{name}.parquet").read_bytes() for folder in folders)
        assert one == two, name


def test_what_a_run_leaves_and_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    argv = ["run", FIRST, "--agents", "null,scripted", "-n", "4", "-w", "1", "--out", str(folder), "--json"]
    assert run(argv) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {arm["arm"]: arm["metrics"]["completion"]["value"] for arm in printed["arms"]}["null"] == 0.0
    names = {path.name for path in folder.iterdir()}
    assert names == {"run.json", "metrics.json", "report.html", *(f"{name}.parquet" for name in TABLES)}
    content = json.loads((folder / "run.json").read_text("utf-8"))
    assert content["status"] == "complete"
    assert content["command"] == " ".join(["masim", *argv])


def test_settings_change_the_world(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    heads = []
    for number, setting in enumerate(([], ["--set", "agents.max_decisions=3"])):
        folder = tmp_path / str(number)
        assert run(["run", FIRST, "-n", "1", "-w", "1", "--no-report", "-q", "--out", str(folder), *setting]) == 0
        heads.append(json.loads((folder / "run.json").read_text("utf-8"))["scenario_hash"])
        assert capsys.readouterr().out.splitlines() == [str(folder)]
    assert heads[0] != heads[1]


BAD: dict[str, tuple[list[str], str]] = {
    "unknown scenario": (["freight/frist-steps-v0"], "did you mean 'freight/first-steps-v0'?"),
    "unknown agent": ([FIRST, "--agents", "scriptd"], "did you mean 'scripted'?"),
    "no agent": ([FIRST, "--agents", ","], "nobody to play"),
    "no episodes": ([FIRST, "--episodes", "0"], "--episodes: impossible --episodes; got 0"),
    "too many episodes": ([FIRST, "--episodes", "100000"], "allowed: 1 to 1000"),
    "negative seed": ([FIRST, "--seed", "-1"], "--seed"),
    "seed of training": ([FIRST, "--seed", "900"], "allowed: 0 to 899"),
    "workers": ([FIRST, "--workers", "1000"], "impossible number of workers"),
    "text for a number": ([FIRST, "--episodes", "many"], "--episodes"),
    "unknown setting": ([FIRST, "--set", "agents.cuont=2"], "cuont"),
    "bad value": ([FIRST, "--set", "agents.count=-2"], "-2"),
    "no equals sign": ([FIRST, "--set", "agents.count"], "KEY=VALUE"),
    "missing card": ([FIRST, "--agents", "gone.yaml"], "no such file"),
    "unknown option": ([FIRST, "--episods", "3"], "--episods"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    argv, told = BAD[case]
    assert run(["run", *argv]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("masim: ") and len(captured.err.splitlines()) == 1
    assert told in captured.err
    assert run(["run", *argv, "--json"]) == 2
    error: dict[str, Any] = json.loads(capsys.readouterr().out)["error"]
    assert error["problem"]
    assert list(tmp_path.iterdir()) == []


def test_an_output_folder_in_use_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    assert run(["run", FIRST, "--out", str(tmp_path)]) == 2
    assert "exists and is not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_two_agents_of_one_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    card = tmp_path / "other.yaml"
    card.write_text("schema: 1\nname: scripted\npolicy: random\n")
    assert run(["run", FIRST, "--agents", f"scripted,{card}", "--out", str(tmp_path / "run")]) == 2
    assert "same name" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
