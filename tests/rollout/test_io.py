"""A run folder on a full disk: what is whole stays, what is not goes, and the head says that the run failed."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from masim.errors import RunError
from masim.rollout.io import RunFolder, write_atomically


def full(*_: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def status(folder: Path) -> str:
    return str(json.loads((folder / "run.json").read_text("utf-8"))["status"])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_table_that_cannot_go_on_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OSError, match="No space"), RunFolder(tmp_path, {}) as folder:
        folder.append("outcomes", {"a": [1, 2]})
        folder.append("steps", {"b": [1]})
        with monkeypatch.context() as patched:
            patched.setattr(pq.ParquetWriter, "write_table", full)
            folder.append("steps", {"b": [2]})
    assert names(tmp_path) == ["outcomes.parquet", "run.json"]
    assert pq.read_table(tmp_path / "outcomes.parquet").to_pydict() == {"a": [1, 2]}
    assert status(tmp_path) == "failed"


def test_tables_that_cannot_be_finished_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = RunFolder(tmp_path, {})
    folder.append("outcomes", {"a": [1, 2]})
    folder.append("steps", {"b": [1]})
    with monkeypatch.context() as patched, pytest.raises(OSError, match="No space"):
        patched.setattr(pq.ParquetWriter, "close", full)
        folder.close("complete")
    assert names(tmp_path) == ["run.json"]
    assert status(tmp_path) == "failed"


def test_half_a_file_does_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.json").write_text("old", "utf-8")
    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(tmp_path / "x.json", b"new")
    assert names(tmp_path) == ["x.json"] and (tmp_path / "x.json").read_text("utf-8") == "old"


def test_two_writers_of_one_run_are_refused(tmp_path: Path) -> None:
    with RunFolder(tmp_path, {"kind": "train"}):
        with pytest.raises(RunError, match="another process is writing this run") as error:
            RunFolder(tmp_path, {"kind": "run"})
        assert error.value.where == str(tmp_path)
        assert json.loads((tmp_path / "run.json").read_text("utf-8"))["kind"] == "train"
    RunFolder(tmp_path, {"kind": "run"}).close("complete")
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
