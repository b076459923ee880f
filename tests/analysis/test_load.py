"""Pins what a run folder may look like: every broken one is one RunError that says where, and nothing is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from masim.analysis.load import CURVE, TRACE, load_run
from masim.analysis.report import build_report
from masim.errors import RunError

Make = Callable[..., Path]


def test_a_whole_folder_loads(make_run: Make) -> None:
    run = load_run(make_run())
    assert run.meta.kind == "demo"
    assert run.meta.sources[0] == ("apis.quote.latency", "lognormal 400 ms", "public API benchmark")
    assert set(run.outcomes["arm"]) == {"random", "scripted", "untrained", "grpo", "progpo"}
    assert run.outcomes["completed"].dtype == bool


def test_absent_tables_are_empty_with_their_columns(make_run: Make, run_tables: dict[str, pd.DataFrame]) -> None:
    run = load_run(make_run(tables={"outcomes": run_tables["outcomes"]}))
    assert list(run.curve.columns) == list(CURVE)
    assert list(run.trace.columns) == list(TRACE)
    assert run.trace.empty


def test_optional_columns_are_filled(make_run: Make, run_tables: dict[str, pd.DataFrame]) -> None:
    run = load_run(make_run(tables={"outcomes": run_tables["outcomes"].drop(columns=["train_seed", "arm"])}))
    assert set(run.outcomes["train_seed"]) == {-1}
    assert set(run.outcomes["arm"]) == {""}


def test_missing_folder() -> None:
    with pytest.raises(RunError, match="no such run folder"):
        load_run("runs/nowhere")


def test_folder_without_run_json(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"no run\.json"):
        load_run(tmp_path)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"schema": 2}, "another version"),
        ({"schema": None}, "another version"),
        ({"kind": "trian"}, "unknown kind.*did you mean 'train'"),
        ({"status": "running"}, "half written.*masim train --resume"),
        ({"status": "running", "kind": "run"}, "half written.*run it again"),
        ({"status": "done"}, "unknown status"),
        ({"seed": "seven"}, "seed is not a whole number"),
        ({"versions": ["1"]}, "versions is not an object"),
        ({"sources": [["a", "b"]]}, "sources is not a list of rows"),
    ],
)
def test_wrong_run_json(make_run: Make, change: dict[str, object], match: str) -> None:
    with pytest.raises(RunError, match=match):
        load_run(make_run(**change))


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (b'{"schema": 1,\n "kind": ', r"run\.json:\d: run.json is damaged"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[]", "not a JSON"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_damaged_run_json(make_run: Make, text: bytes, match: str) -> None:
    folder = make_run()
    (folder / "run.json").write_bytes(text)
    with pytest.raises(RunError, match=match):
        load_run(folder)


def test_truncated_table(make_run: Make) -> None:
    folder = make_run()
    file = folder / "outcomes.parquet"
    file.write_bytes(file.read_bytes()[:-200])
    with pytest.raises(RunError, match=r"outcomes\.parquet: the table is truncated"):
        build_report(folder)
    assert sorted(path.name for path in folder.iterdir() if "report" in path.name) == []


def test_missing_columns_are_named(make_run: Make, run_tables: dict[str, pd.DataFrame]) -> None:
    tables = {"outcomes": run_tables["outcomes"].drop(columns=["safe", "landed_s"])}
    with pytest.raises(RunError, match="lacks columns; got landed_s"):
        load_run(make_run(tables=tables))


def test_wrong_type_of_column(make_run: Make, run_tables: dict[str, pd.DataFrame]) -> None:
    tables = {"outcomes": run_tables["outcomes"].assign(cost_cents="a lot")}
    with pytest.raises(RunError, match="column 'cost_cents' is not int"):
        load_run(make_run(tables=tables))


def test_a_folder_without_results(make_run: Make) -> None:
    with pytest.raises(RunError, match="holds no results"):
        load_run(make_run(tables={}))


def test_an_interrupted_run_loads(make_run: Make) -> None:
    folder = make_run(status="interrupted", finished=None)
    assert load_run(folder).meta.finished == ""
    assert json.loads((folder / "run.json").read_text())["finished"] is None
