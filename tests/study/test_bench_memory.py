"""``masim bench memory`` measures what it says: the graph it works on, the updates it makes, and every part once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from masim.cli.main import run
from masim.memory.config import MemoryConfig
from masim.memory.forget.sweep import sweep
from masim.memory.graph import ProfileGraph
from masim.study.bench.memory import AGENT, EDGES, NODES, TOUCHES, graph_of, touched


def test_the_graph_has_the_size_of_the_targets_and_is_not_swept_away() -> None:
    base = graph_of(3)
    graph = ProfileGraph(base)
    assert (len(base.edges), len(graph.nodes())) == (EDGES, NODES)
    for rule in ("threshold", "recommended"):
        left = sweep(ProfileGraph(base), 0.0, MemoryConfig(policy=rule)).edges
        assert left > EDGES / 2, rule
    steps = touched(base, 50, 3)
    assert steps == touched(base, 50, 3) and {len(keys) for keys in steps} == {TOUCHES}
    assert all(key in base.edges for keys in steps for key in keys)


def test_a_quick_run_measures_every_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = f"sqlite://{tmp_path}/more.sqlite"
    assert run(["bench", "memory", "--quick", "--json", "--store", more, "--out", str(tmp_path / "m.json")]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found == json.loads((tmp_path / "m.json").read_text())
    assert [row["store"] for row in found["stores"]] == ["sqlite, NORMAL", "sqlite, FULL", "sqlite"]
    assert len(found["graph"]) == 5 and found["long"]["steps"] == 600 and found["targets"] == []
    assert all(row["us_mean"]["low"] > 0 for row in found["graph"])
    assert run(["bench", "memory", "--quick", "--days", "3"]) == 2
    assert run(["memory", "show", str(tmp_path / "more.sqlite"), "--agent", AGENT.partition("/")[2], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["edges"] == EDGES
