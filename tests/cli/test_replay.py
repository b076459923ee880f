"""``masim replay``: what is shown of a stored episode, how it is checked, and what is refused.

1. A fresh run is simulated again with the same trace, on every kind of client and in a changed scenario.
2. A changed scenario or a tampered trace is shown all the same, and said.
3. Filters choose decisions; bad input is one line with exit code 2.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from masim.cli.main import run

SHORT = "freight/short-chain-v0"
STRESS = "stress/all-faults-v0"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run with every fault, of a card with retries and of random actions, some of them illegal claims."""
    path = tmp_path_factory.mktemp("replay") / "run"
    argv = ["run", STRESS, "--agents", "production,random", "-n", "2", "-w", "1", "--seed", "3", "--no-report", "-q"]
    assert run([*argv, "--set", "agents.max_decisions=30", "--out", str(path)]) == 0
    return path


def replayed(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["replay", *argv, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("arm", ["production", "random"])
def test_a_fresh_run_is_simulated_again(folder: Path, arm: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = replayed(capsys, str(folder), "--episode", "1", "--arm", arm)
    assert found["same"], found["check"]
    assert found["check"].startswith(f"simulated again from {len(found['decisions'])} actions")


def test_decisions_are_those_of_the_trace(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = replayed(capsys, str(folder), "--arm", "production")["decisions"]
    trace = pd.read_parquet(folder / "trace.parquet").query("arm == 'production' and episode == 0")
    made = trace[trace["event"] == "decision"]
    assert [(d["t_s"], d["agent"], d["action"]) for d in found] == list(
        zip(made["t_s"], made["agent"], made["note"], strict=True)
    )
    faults = trace[(trace["event"] == "fault") & (trace["agent"] != "")]
    assert sorted(cause for d in found for cause in d["faults"]) == sorted(faults["cause_id"])
    ends = trace[trace["event"] == "outcome"]
    last = {d["agent"]: d for d in found}
    for order, agent, status in zip(ends["order"], ends["agent"], ends["status"], strict=True):
        assert last[agent]["chains"][order]["outcome"] == status


def test_filters_choose_and_compose(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = replayed(capsys, str(folder))["decisions"]
    some = replayed(capsys, str(folder), "--from", "5", "--to", "20", "--agent", "booker_1")["decisions"]
    assert some == [d for d in whole[5:21] if d["agent"] == "booker_1"] != []
    order = next(d["order"] for d in whole if d["order"])
    own = replayed(capsys, str(folder), "--order", order)["decisions"]
    assert own == [d for d in whole if d["order"] == order]


def test_text_for_pipes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", str(folder), "--all"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("simulated again from ")
    assert "fault brown_out:" in printed and "d0 06:00:00  booker_0" in printed


def copied(folder: Path, to: Path) -> Path:
    shutil.copytree(folder, to)
    return to


def test_a_tampered_trace_is_shown_and_said(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = copied(folder, tmp_path / "run")
    trace = pd.read_parquet(other / "trace.parquet")
    at = trace.index[(trace["event"] == "answer") & (trace["amount_cents"] > 0)][0]
    trace.loc[at, "amount_cents"] += 1
    trace.to_parquet(other / "trace.parquet")
    found = replayed(capsys, str(other))
    assert not found["same"] and f"differs from row {at} (answer at" in found["check"]
    assert found["decisions"]


def test_a_changed_scenario_is_not_simulated(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = copied(folder, tmp_path / "run")
    head = json.loads((other / "run.json").read_text("utf-8"))
    (other / "run.json").write_text(json.dumps({**head, "scenario_hash": "0" * 64}), "utf-8")
    found = replayed(capsys, str(other))
    assert not found["same"] and "the scenario has changed since (hash 000000000000 then" in found["check"]


def test_a_scenario_of_ones_own_is_found_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["init", "mine", "--from", "freight/first-steps-v0"]) == 0
    own = next(Path("mine").rglob("first-steps-v0.yaml"))
    own.write_text(own.read_text("utf-8").replace("id: freight/first-steps-v0", "id: mine/world-v0"), "utf-8")
    assert run(["run", str(own), "-n", "1", "-w", "1", "--no-report", "-q", "--out", "one"]) == 0
    assert json.loads(Path("one/run.json").read_text("utf-8"))["scenario"] == "mine/world-v0"
    assert replayed(capsys, "one")["same"]


@pytest.mark.parametrize("name", ["e.png", "e.svg"])
def test_a_picture_is_written(folder: Path, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", str(folder), "--gantt", str(tmp_path / name)]) == 0
    head = (tmp_path / name).read_bytes()[:200]
    assert head.startswith(b"\x89PNG") if name.endswith("png") else b"<?xml" in head


BAD: dict[str, tuple[list[str], str]] = {
    "no such episode": (["--episode", "7"], "--episode: the run has no such episode; got 7; allowed: 0 to 1"),
    "below": (["--episode", "-1"], "the nearest is 0"),
    "no such arm": (["--arm", "productoin"], "did you mean 'production'?"),
    "no such decision": (["--from", "9999"], "the nearest is "),
    "no such agent": (["--agent", "booker_9"], "--agent: the episode has no such agent"),
    "no such order": (["--order", "x"], "--order: the episode has no such order"),
    "not a picture": (["--gantt", "a.gif"], "allowed: .png, .svg"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(case: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv, said = BAD[case]
    assert run(["replay", str(folder), *argv]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1


def test_bad_folders_are_one_line(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", str(tmp_path / "none")]) == 2
    assert "there is no such run" in capsys.readouterr().err
    cut = copied(folder, tmp_path / "cut")
    (cut / "trace.parquet").write_bytes((folder / "trace.parquet").read_bytes()[:1000])
    assert run(["replay", str(cut)]) == 2
    assert "truncated or damaged" in capsys.readouterr().err
    old = copied(folder, tmp_path / "old")
    head = json.loads((old / "run.json").read_text("utf-8"))
    (old / "run.json").write_text(json.dumps({**head, "schema": 99}), "utf-8")
    assert run(["replay", str(old)]) == 2
    assert "the run is of another version" in capsys.readouterr().err
    bare = copied(folder, tmp_path / "bare")
    (bare / "trace.parquet").unlink()
    assert run(["replay", str(bare)]) == 2
    assert "kept no trace" in capsys.readouterr().err
