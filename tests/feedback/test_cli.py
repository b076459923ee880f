"""``masim label`` as people type it.

1. Served: the address is printed, Ctrl-C ends it with exit code 0; killed without mercy it loses nothing.
2. ``--fit`` prints weights and writes the model.
3. Bad input is one line, exit code 2, and nothing is lost or written.
"""

from __future__ import annotations

import http.client
import json
import shutil
import signal
import subprocess
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pandas as pd
import pytest
from cli.processes import PATIENCE_S, start
from feedback.judges import judged

from masim.cli.main import run as masim
from masim.feedback.labels import FILE, LabelBook, read_labels
from masim.feedback.units import read_units


def judge(url: str, pair: int) -> None:
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.netloc, timeout=60)
    connection.request("GET", f"/?{place.query}")
    cookie = connection.getresponse().headers["Set-Cookie"].partition(";")[0]
    connection.close()
    connection = http.client.HTTPConnection(place.netloc, timeout=60)
    form = urlencode({"pair": pair, "verdict": "a", "who": "ana"})
    connection.request("POST", "/judge", form, {"Cookie": cookie})
    assert connection.getresponse().status == 303
    connection.close()


def served(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_killed_and_started_again_and_ended(run: Path) -> None:
    first = start("label", str(run), "--who", "ana")
    judge(served(first), 0)
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=PATIENCE_S)
    assert len(read_labels(run)) == 1
    second = start("label", str(run), "--who", "ana")
    url = served(second)
    judge(url, 1)
    second.send_signal(signal.SIGINT)
    out, err = second.communicate(timeout=PATIENCE_S)
    assert second.returncode == 0, err
    assert "1 of 240 pairs judged" in err and "2 judgements in" in err and "--fit" in err
    assert out == ""
    assert url.startswith("http://127.0.0.1:") and "?token=" in url
    assert [(x.who, x.verdict) for x in read_labels(run)] == [("ana", "a"), ("ana", "a")]


def test_fit_writes_a_model(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    units = read_units(run)
    with LabelBook(run) as book:
        for label in judged(units, "thrifty", units.pairs()[:80], "ana"):
            book.add(label)
    assert masim(["label", str(run), "--fit"]) == 0
    said = capsys.readouterr().out
    assert "What people value" in said and "80 comparisons" in said
    assert said.splitlines()[-1] == str(run / "preference.json")
    assert masim(["label", str(run), "--fit", "--who", "ana", "--out", str(tmp_path / "m.json"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["held_out_accuracy"] > 0.8 and told["weights"]["completed"] > 0
    assert (tmp_path / "m.json").read_bytes() == (run / "preference.json").read_bytes()


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["nowhere"], "there is no such run"),
        (["{run}", "--unit", "rolout"], "unknown unit"),
        (["{run}", "--unit", "{name: segment, segment_len: 0}"], ">= 1"),
        (["{run}", "--unit", "[1"], "not YAML"),
        (["{run}", "--unit", "3"], "not a credit unit"),
        (["{run}", "--fit"], "too few comparisons"),
        (["{run}", "--fit", "--port", "80"], "--port: --fit asks nobody: this option would do nothing"),
        (["{run}", "--fit", "--open"], "--open: --fit asks nobody"),
        (["{run}", "--out", "x.json"], "--out: only --fit writes a model"),
        (["{run}", "--fit", "--who", "bob"], "nobody of that name"),
        (["{run}", "--port", "70000"], "port cannot be had"),
    ],
)
def test_bad_input(run: Path, argv: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = {file.name for file in run.iterdir()}
    code = masim(["label", *(word.replace("{run}", str(run)) if word == "{run}" else word for word in argv)])
    told = capsys.readouterr()
    assert code == 2
    assert says in told.err and told.err.count("\n") == 1 and told.out == ""
    assert {file.name for file in run.iterdir()} - before <= {FILE, ".labels.lock"}


def test_a_run_without_groups_and_damaged_labels(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / FILE).write_bytes(b'{"schema": 1}\n')
    for more in ([], ["--fit"]):
        assert masim(["label", str(run), *more]) == 2
        assert f"{FILE}:1" in capsys.readouterr().err
    assert (run / FILE).read_bytes() == b'{"schema": 1}\n'
    units = read_units(run)
    label = judged(units, "thrifty", units.pairs()[:1])[0]
    (run / FILE).unlink()
    with LabelBook(run) as book:
        book.add(label)
    held = (run / FILE).read_bytes()
    (run / FILE).write_bytes(held.replace(label.a.encode(), b"nobody/-1/0/booker_0/0"))
    assert masim(["label", str(run), "--fit"]) == 2
    assert "unknown unit; got 'nobody/-1/0/booker_0/0'" in capsys.readouterr().err
    (run / FILE).write_bytes(held)
    lone = shutil.copytree(run, run.parent / "lone")
    steps = pd.read_parquet(lone / "steps.parquet")
    steps[steps["arm"] == "naive"].to_parquet(lone / "steps.parquet")
    for more in ([], ["--fit"]):
        assert masim(["label", str(lone), *more]) == 2
        assert "no comparison groups" in capsys.readouterr().err
    assert (lone / FILE).read_bytes() == held
