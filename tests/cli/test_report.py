"""``masim report``: finds a run by folder, name or as the last one, and writes one file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from masim.analysis.load import OUTCOMES
from masim.cli.main import run

EMPTY = {"str": "", "int": 0, "float": 0.0, "bool": False}


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make two finished runs below the current folder; ``new`` is the newer one."""
    monkeypatch.chdir(tmp_path)
    for age, name in enumerate(("new", "old")):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        meta = {"schema": 1, "kind": "run", "scenario": "freight/x-v0", "seed": 7, "status": "complete"}
        (folder / "run.json").write_text(json.dumps(meta))
        os.utime(folder / "run.json", (1e9 - age, 1e9 - age))
        rows = [{name: EMPTY[kind] for name, kind in OUTCOMES.items()} | {"episode": e, "day": e} for e in range(4)]
        pd.DataFrame(rows).to_parquet(folder / "outcomes.parquet")
    return tmp_path / "runs"


def reported(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    """Run ``masim report`` with ``--json`` and return its object."""
    run(["report", *argv, "--json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", ["new", "runs/new", "last", None])
def test_a_run_is_found(name: str | None, runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = Path(reported(capsys, *([name] if name else []))["report"])
    assert report.resolve() == runs / "new/report.html"
    assert report.read_text(encoding="utf-8").lower().startswith("<!doctype html>")


def test_out_is_where_it_goes(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reported(capsys, "old", "--out", "mine.html")["report"] == "mine.html"
    assert not (runs / "old/report.html").exists()


def test_a_place_that_cannot_be_written_is_the_users_error(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = reported(capsys, "old", "--out", "runs/old/run.json/mine.html")["error"]
    assert "run.json" in error["where"]


def test_unknown_runs_name_the_nearest(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reported(capsys, "odl")["error"]["fix"] == "did you mean 'old'?"


def test_no_runs_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert "masim run" in reported(capsys)["error"]["fix"]
