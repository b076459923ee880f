"""``masim run``: a run folder with trace, steps, metrics and report; the same seed gives the same bytes.

1. The folder holds what it should, and the command that made it.
2. Unknown agents, impossible numbers and a folder in use are the user's errors; nothing is left behind.
3. Processes with different hash seeds and numbers of workers write byte-equal traces.
4. Ctrl-C exits 130 and leaves a folder that a report can be built from.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from masim.cli.main import run

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = "freight/first-steps-v0"
FILES = {"run.json", "outcomes.parquet", "trace.parquet", "steps.parquet", "metrics.json"}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def answer(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    """Run ``masim run`` with ``--json`` and return its object."""
    run(["run", *argv, "--json"])
    printed = capsys.readouterr()
    assert printed.err == ""
    return json.loads(printed.out)


def test_a_run_leaves_its_folder(capsys: pytest.CaptureFixture[str]) -> None:
    made = answer(capsys, SCENARIO, "--agents", "scripted,null", "--episodes", "4")
    folder = Path(made["run"])
    assert folder.parent == Path("runs")
    assert {file.name for file in folder.iterdir()} == FILES | {"report.html"}
    head = json.loads((folder / "run.json").read_text())
    assert head["command"] == f"masim run {SCENARIO} --agents scripted,null --episodes 4 --json"
    completion = {arm["arm"]: arm["metrics"]["completion"]["value"] for arm in made["arms"]}
    assert completion["null"] == 0.0
    assert completion["scripted"] > 0.5


def test_text_shows_every_agent_and_where_the_report_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", SCENARIO, "--agents", "scripted,random", "--episodes", "2", "--workers", "1", "--out", "x"]) == 0
    printed = capsys.readouterr()
    assert "scripted" in printed.out
    assert "random" in printed.out
    assert printed.out.rstrip().endswith("x/report.html")


@pytest.mark.parametrize(
    ("argv", "part", "text"),
    [
        (["--agents", "scriptd"], "fix", "did you mean 'scripted'?"),
        (["--episodes", "0"], "allowed", "1 to "),
        (["--workers", "1000"], "allowed", "1 to "),
        (["--set", "agents.count=none"], "where", "agents.count"),
        (["--out", "used"], "where", "used"),
    ],
)
def test_bad_input_leaves_nothing(
    argv: list[str], part: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "used").mkdir()
    (tmp_path / "used/file").write_text("mine")
    assert text in answer(capsys, SCENARIO, *argv)["error"][part]
    assert [path.name for path in tmp_path.rglob("*")] == ["used", "file"]


def masim(*argv: str, **environment: str) -> subprocess.Popen[str]:
    """Start the command line in a process of its own."""
    everything = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.Popen([sys.executable, "-m", "masim", *argv], env=everything, stderr=subprocess.PIPE, text=True)


def test_the_same_seed_gives_the_same_bytes() -> None:
    traces = []
    for hash_seed in ("1", "2"):
        argv = [
            "run",
            SCENARIO,
            "--seed",
            "7",
            "--no-report",
            "--workers",
            hash_seed,
            "--quiet",
            "--out",
            f"r{hash_seed}",
        ]
        assert masim(*argv, PYTHONHASHSEED=hash_seed).communicate()[1] == ""
        traces.append([Path(f"r{hash_seed}", name).read_bytes() for name in ("trace.parquet", "steps.parquet")])
    assert traces[0] == traces[1]


def test_ctrl_c_leaves_a_valid_folder(capsys: pytest.CaptureFixture[str]) -> None:
    process = masim("run", "freight/short-chain-v0", "--episodes", "1000", "--workers", "1", "--out", "r")
    first = Path("r/.trace.parquet.part")
    deadline = time.monotonic() + 60
    while not first.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "masim report r" in errors
    assert errors.endswith("masim: interrupted\n")
    assert "Traceback" not in errors
    assert json.loads(Path("r/run.json").read_text())["status"] == "interrupted"
    assert not list(Path("r").glob("*.part"))
    assert run(["report", "r"]) == 0
