"""``masim memory``: what is shown of a stored memory, how it is drawn, and how it goes from store to store.

1. The table and the picture are of the same graph, before and after a sweep; the picture has the same bytes each time.
2. Export and import carry memories between stores and never overwrite one. 3. Bad input is one line with exit code 2.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from memory.days import days

from masim.analysis.memory_picture import Line, places_of
from masim.cli.main import run
from masim.memory import MemoryBook, MemoryConfig
from masim.memory.store.sqlite import SqliteStore

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run folder with the memories of two jobs."""
    for job, last in (("GRPO-s0", 3), ("ProGPO-s0", 6)):
        made = tmp_path / "run" / "checkpoints" / job
        made.mkdir(parents=True)
        store = SqliteStore(made / "memory.sqlite")
        for campaign in ("train-0-1", "train-0-2"):
            days(MemoryBook(["ann", "bob"], MemoryConfig(), store, campaign), 0, last)
        store.close()
    return tmp_path / "run"


def shown(capsys: pytest.CaptureFixture[str], *argv: object) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["memory", *map(str, argv), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_table_says_what_a_sweep_would_do(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = shown(capsys, "show", folder, "--agent", "bob", "--arm", "ProGPO", "--days", 4)
    assert (found["agent"], found["version"]) == ("train-0-2/bob", 6)
    gone = [row for row in found["rows"] if row["forgotten_by"]]
    assert 0 < len(gone) == found["edges"] - found["edges_after"]
    weights = [row["weight"] for row in found["rows"]]
    assert weights == sorted(weights, reverse=True) and all(r["weight_after"] < r["weight"] for r in found["rows"])
    assert shown(capsys, "show", folder, "--agent", "bob")["version"] == 3
    kept = shown(capsys, "show", folder, "--agent", "train-0-1/bob", "--days", 4, "--policy", "none")
    assert kept["edges"] == kept["edges_after"] and kept["agent"] == "train-0-1/bob"


def test_the_picture_has_the_same_bytes_each_time(folder: Path, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg", "c.png"):
        argv = ["memory", "show", str(folder), "--agent", "ann", "--days", "3", "--picture", str(tmp_path / name)]
        assert run(argv) == 0
    svg = (tmp_path / "a.svg").read_bytes()
    assert svg == (tmp_path / "b.svg").read_bytes() and b"after a sweep 3 days later" in svg and b"dock" in svg
    assert (tmp_path / "c.png").read_bytes().startswith(PNG)


def test_heavy_nodes_stand_in_columns_by_kind() -> None:
    lines = [Line("agent|a", f"vendor|{i}", float(i), 0.0) for i in range(9)] + [Line("user|u", "vendor|8", 9.0, 0.0)]
    places = places_of(lines, shown=5)
    assert set(places) == {"agent|a", "user|u", "vendor|8", "vendor|7", "vendor|6"}
    assert places["user|u"][0] < places["agent|a"][0] < places["vendor|8"][0] == places["vendor|6"][0]
    assert places == places_of(reversed(lines), shown=5) and places_of([]) == {}


@pytest.mark.parametrize("suffix", ["json", "graphml"])
def test_memories_go_from_store_to_store(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    file, into = tmp_path / f"m.{suffix}", tmp_path / "new.sqlite"
    out = shown(capsys, "export", folder, "--out", file)
    assert list(out["agents"]) == ["train-0-1/ann", "train-0-1/bob", "train-0-2/ann", "train-0-2/bob"]
    assert shown(capsys, "import", file, "--into", into)["agents"] == out["agents"]
    for agent in out["agents"]:
        there, here = (shown(capsys, "show", where, "--agent", agent) for where in (into, folder))
        assert there == here and len(here["rows"]) == out["agents"][agent]
    assert run(["memory", "import", str(file), "--into", str(into)]) == 2
    assert "already" in capsys.readouterr().err
    one = shown(capsys, "export", folder, "--agent", "ann", "--out", tmp_path / f"one.{suffix}")
    assert list(one["agents"]) == ["train-0-2/ann"]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["show", "{run}", "--agent", "nobody"], "allowed: ann, bob"),
        (["show", "{run}", "--arm", "PPO"], "GRPO-s0, ProGPO-s0"),
        (["show", "{run}", "--policy", "lruu"], "did you mean 'lru'?"),
        (["show", "{run}", "--picture", "m.gif"], ".png, .svg"),
        (["show", "{run}", "--picture", "{tmp}/absent/m.svg"], "cannot be written"),
        (["show", "{tmp}"], "this run stored no memory"),
        (["show", "redis://127.0.0.1:1/0"], "needs a durable store"),
        (["show", "mongo://127.0.0.1"], "no such kind of memory store"),
        (["export", "{run}", "--out", "m.csv"], ".json, .graphml"),
        (["import", "{tmp}/none.json", "--into", "{tmp}/x.sqlite"], "none.json"),
        (["import", "{file}", "--into", "{tmp}/x.sqlite", "--limit", "3"], "--limit"),
        (["import", "{file}", "--into", "{tmp}/x.sqlite", "--agent", "zoe"], "no such agent in this file"),
    ],
)
def test_bad_input_is_one_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], argv: list[str], said: str
) -> None:
    file = tmp_path / "m.json"
    assert run(["memory", "export", str(folder), "--out", str(file)]) == 0
    capsys.readouterr()
    assert run(["memory", *(part.format(run=folder, tmp=tmp_path, file=file) for part in argv)]) == 2
    error = capsys.readouterr().err.strip().splitlines()
    assert said in error[-1] and error[-1].startswith("masim:")
    assert not (tmp_path / "x.sqlite").exists()
