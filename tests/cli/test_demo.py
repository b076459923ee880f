"""``masim demo``: bad input is one line and leaves nothing; what it prints of a demo that is there already."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from masim.cli.main import run


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["--seconds", "0"], "impossible --seconds"),
        (["--seconds", "soon"], "--seconds"),
        (["--seed", "5000"], "impossible --seed"),
        (["--workers", "999"], "impossible number of workers"),
        (["--data", "gone.csv"], "gone.csv"),
        (["--resume", "gone"], "there is no such run"),
        (["--quik"], "--quik"),
    ],
)
def test_bad_input_is_one_line(
    argv: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["demo", *argv]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1 and told in captured.err
    assert run(["demo", *argv, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["problem"]
    assert list(tmp_path.iterdir()) == []


def test_folders_that_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.json").write_text('{"schema": 1, "kind": "run", "status": "complete"}')
    assert run(["demo", "--out", str(tmp_path)]) == 2
    assert "exists and is not empty" in capsys.readouterr().err
    assert run(["demo", "--resume", str(tmp_path)]) == 2
    assert "not a demo" in capsys.readouterr().err
