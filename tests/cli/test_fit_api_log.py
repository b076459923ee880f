"""``masim fit api-log``: options, output and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from masim.cli.main import run


def log(path: Path, endpoint: str = "/v1/rates") -> Path:
    rows = [f"{60 * i},acme,{endpoint},{300 + 7 * i},200" for i in range(30)]
    path.write_text("\n".join(["t,provider,path,duration_ms,code", *rows, "soon,acme,/v1/rates,1,200", ""]), "utf-8")
    return path


def test_prints_guesses_and_drops_and_writes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "apis-mine.yaml"
    assert run(["fit", "api-log", str(log(tmp_path / "calls.csv")), "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert "time 't', vendor 'provider', endpoint 'path', latency 'duration_ms', status 'code'" in printed.out
    assert "'/v1/rates' is quote (guessed; --map '/v1/rates=..')" in printed.out
    assert "time: 'soon' is no date (line 32)" in printed.out
    assert f"wrote 1 endpoints to {out}" in printed.err
    assert "id: apis-mine-v0" in out.read_text("utf-8")


def test_json_and_options(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = str(log(tmp_path / "calls.csv", "/labels"))
    options = [
        "--map",
        "/labels=tender",
        "--map",
        "/v1/rates=-",
        "--unit",
        "ms",
        "--timeout",
        "5 s",
        "--column",
        "status=code",
    ]
    assert run(["fit", "api-log", file, *options, "--vendor", "acme", "--json"]) == 0
    fitted = json.loads(capsys.readouterr().out)
    (endpoint,) = fitted["endpoints"]
    assert (endpoint["verb"], endpoint["calls"]) == ("tender", 30)
    assert fitted["out"] is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--unit", "h"], "--unit: unknown unit; got h; allowed: s, ms"),
        (["--timeout", "10"], "--timeout: '10' is not a duration"),
        (["--timeout", "0 s"], "--timeout: no deadline"),
        (["--map", "rates"], "--map: not a pair; got rates"),
        (["--map", "/v1/rates=rate"], "--map: not an endpoint of masim; got rate"),
        (["--column", "code=status"], "--column: unknown role of a column; got code"),
    ],
)
def test_bad_options(options: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out.yaml"
    assert run(["fit", "api-log", str(log(tmp_path / "calls.csv")), *options, "--out", str(out)]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and said in printed.err and printed.err.count("\n") == 1
    assert not out.exists()


def test_options_of_another_kind(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["fit", "scms", str(log(tmp_path / "calls.csv")), "--unit", "ms"]) == 2
    assert "--unit: scms has no such option; got ms; fix: remove it" in capsys.readouterr().err
