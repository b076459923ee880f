"""``masim claims``: the same protocol gives the same results, whatever happens to the run.

1. What is read off a curve, worked out by hand.
2. Verdicts follow the rule of the protocol: supported, contradicted, or neither.
3. A protocol with a mistake is refused with file and line.
4. A small run through the command: exit codes, files, tables; no cell is played twice after a stop.
5. One and two workers, an interrupted and a straight run: the same bytes.
6. An agent that knows is told; evidence of before a change is what the oracle forgets; frozen memory stays frozen.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from masim.cli.main import run
from masim.errors import ScenarioError
from masim.scenario.load import load_scenario
from masim.study.claims import run as claims_run
from masim.study.claims.base import Cell, Endpoint, Measure
from masim.study.claims.forgetting.claim import FORGETTING
from masim.study.claims.forgetting.curves import changes_of, collapse, first_reached, recoveries, trailing
from masim.study.claims.forgetting.play import play
from masim.study.claims.judge import judge
from masim.study.claims.protocol import ProtocolDoc, load_protocol, read_protocol
from masim.study.claims.registry import CLAIMS
from masim.study.claims.run import ClaimOptions, cell_file, plan_of, read_results, resume_claim, run_claim
from masim.study.claims.tables import interval, markdown, number

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "configs/claims/forgetting.yaml"
ARMS = ("recommended", "none")


def test_trailing_windows() -> None:
    assert trailing([1.0, 2.0, 3.0, 4.0], 2).tolist() == [1.5, 2.5, 3.5]
    assert trailing([1.0], 2).tolist() == []


def test_first_reached_counts_the_episodes_that_it_took() -> None:
    assert first_reached([0, 0, 1, 1, 1], 2, 0.75) == (4, True)
    assert first_reached([1, 1], 2, 0.75) == (2, True)
    assert first_reached([0, 0, 1], 2, 0.75) == (3, False)
    assert first_reached([1], 2, 0.75) == (1, False)


def test_recoveries_are_counted_from_each_change() -> None:
    values = [1.0] * 4 + [0, 0, 1, 1] + [0, 0, 0]
    assert recoveries(values, [4, 8], 2, 1.0) == [(4, True), (3, False)]


def test_collapse_is_a_fall_below_the_running_best() -> None:
    assert collapse([(1, 0.5), (2, 0.9), (3, 0.71), (4, 0.7)], 0.2) == (4, True)
    assert collapse([(1, 0.5), (2, 0.9), (3, 0.75)], 0.2) == (3, False)
    assert collapse([(1, 0.9), (2, 0.1), (3, 0.05)], 0.2) == (2, True)


def test_changes_within_a_campaign() -> None:
    spec = load_scenario("freight/drifting-carriers-v0").spec
    assert changes_of(spec, 400) == [80, 160, 240, 320]
    assert changes_of(spec, 80) == []
    assert changes_of(load_scenario("freight/steady-carriers-v0").spec, 400) == []


def judged(values: list[float], supported: dict[str, float], contradicted: dict[str, float]) -> dict[str, Any]:
    doc = load_protocol("forgetting")[0]
    one = doc.hypotheses[1].model_dump() | {"minus": None, "supported": supported, "contradicted": contradicted}
    doc = ProtocolDoc.model_validate({**doc.model_dump(by_alias=True), "hypotheses": (one,), "contrasts": ()})
    measures = [Measure("evaluation", "recommended", "drifting", i, v) for i, v in enumerate(values)]
    return judge(doc, [Endpoint("evaluation", "value", "")], measures)["hypotheses"][0]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("supported", "contradicted", "verdict"),
    [
        ({"above": 0.4}, {"below": 0.0}, "supported"),
        ({"above": 0.5}, {"below": 0.0}, "not supported"),
        ({"above": 0.9}, {"below": 0.8}, "contradicted"),
        ({"below": 0.6}, {"above": 0.9}, "supported"),
    ],
)
def test_verdicts(supported: dict[str, float], contradicted: dict[str, float], verdict: str) -> None:
    assert judged([0.45, 0.5, 0.52, 0.55, 0.5], supported, contradicted)["verdict"] == verdict


def test_one_seed_supports_nothing() -> None:
    row = judged([0.9], {"above": 0.1}, {"below": 0.0})
    assert (row["verdict"], row["low"]) == ("not supported", None)


def test_numbers_for_people() -> None:
    assert [number(v) for v in (None, "never", 0.12345, 57.25)] == ["unknown", "never", "0.123", "57.2"]
    assert interval({"value": 0.5, "low": None, "high": None}) == "0.500"
    assert interval({"value": 20.0, "low": 20.0, "high": "never"}) == "20.0 [20.0, never]"


def test_the_bundled_protocol_is_in_order() -> None:
    doc, node = load_protocol("forgetting")
    FORGETTING.check(doc, node)
    assert {"recommended", "none", "random", "oracle"} <= doc.arms.keys()
    assert all(hypothesis.falsifier for hypothesis in doc.hypotheses)
    assert doc.seeds.count >= 10


def test_the_page_of_results_is_what_was_stored() -> None:
    folder = ROOT / "docs/results/2026-12-01-forgetting"
    results = json.loads((folder / "results.json").read_text("utf-8"))
    page = (ROOT / "docs/results/forgetting.md").read_text("utf-8")
    assert page.endswith(markdown(results))
    assert results["protocol"] == load_protocol("forgetting")[0].digest() in page
    head = json.loads((folder / "run.json").read_text("utf-8"))
    worlds = {name: load_scenario(scenario).hash for name, scenario in results["worlds"].items()}
    assert head["config"]["scenarios"] == worlds


MISTAKES = [
    ("endpoint: learned\n", "endpoint: lerned\n", "unknown endpoint; got lerned"),
    ("arm: knows\n", "arm: nows\n", "unknown arm; got 'nows'"),
    ("minus: emptied", "minus: emptied\n    plus: 1", "unknown key 'plus'"),
    ("supported: {above: 0.2}", "supported: {above: 0.2, below: 1}", "a rule has one bound"),
    ("explore: 0.1", "explore: 1.5", "impossible budget: explore; got 1.5"),
    ("explore: 0.1", "explore: often", "budget.explore has the wrong type"),
    ("explore: 0.1", "exlore: 0.1", "unknown setting 'exlore'"),
    ("policy: threshold", "policy: treshold", "unknown forgetting policy"),
    ("view: history(18)", "view: history(0)", "impossible size of a view"),
    ("actor: knowing", "actor: knows", "unknown actor"),
    ("keep: false", "keep: 3", "keep has the wrong type"),
    ("steady: freight/steady-carriers-v0", "steady: freight/drifting-carriers-v0", "the world `drifting` changes"),
    ("first: 0, count: 10", "first: 0, count: 0", "seeds.count"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "words"), MISTAKES)
def test_a_mistake_has_its_line(old: str, new: str, words: str, tmp_path: Path) -> None:
    text = FILE.read_text("utf-8")
    assert old in text
    file = tmp_path / "claim.yaml"
    file.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(ScenarioError) as caught:
        FORGETTING.check(*read_protocol(file))
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{file}:")


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put a protocol of two arms and eight days in front of the bundled one."""
    doc = yaml.safe_load(FILE.read_text("utf-8"))
    doc["arms"] = {name: arm for name, arm in doc["arms"].items() if name in ARMS}
    doc["hypotheses"] = [h for h in doc["hypotheses"] if {h["arm"], h.get("minus", "none")} <= set(ARMS)]
    doc["quick"] = {"episodes": 8, "change_every": 3, "first_check": 3, "check_every": 3, "check_episodes": 2}
    doc["quick"] |= {"judged_from": 2, "window": 2, "recovery_window": 2, "probe_every": 2}
    folder = tmp_path / "configs/claims"
    folder.mkdir(parents=True)
    (folder / "forgetting.yaml").write_text(yaml.safe_dump(doc, sort_keys=False), "utf-8")
    monkeypatch.chdir(tmp_path)
    yield tmp_path


KEPT = ("results.json", "curves.json", "measures.csv", "tables.md", "completion.png", "differences.png")


def bytes_of(folder: Path) -> dict[str, bytes]:
    cells = sorted((folder / "cells").glob("*.json"))
    return {str(file.relative_to(folder)): file.read_bytes() for file in (*cells, *(folder / name for name in KEPT))}


def test_a_run_is_the_same_with_any_workers_and_after_a_stop(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    straight = run_claim("forgetting", ClaimOptions(quick=True, seeds=1, out=small / "one"))
    both = run_claim("forgetting", ClaimOptions(quick=True, seeds=1, workers=2, out=small / "two"))
    assert bytes_of(straight) == bytes_of(both)

    played: list[str] = []
    whole = claims_run.play_into

    def stopping(folder: Path, cell: Cell) -> str:
        if len(played) == 2:
            raise KeyboardInterrupt
        played.append(cell.name)
        return whole(folder, cell)

    monkeypatch.setattr(claims_run, "play_into", stopping)
    with pytest.raises(claims_run.Interrupted):
        run_claim("forgetting", ClaimOptions(quick=True, seeds=1, out=small / "three"))
    folder = small / "three"
    assert json.loads((folder / "run.json").read_text())["status"] == "interrupted"
    assert not (folder / "results.json").exists()
    cell_file(folder, plan_of("forgetting", True, 1).cells()[0]).unlink()  # as if it had been killed in this one

    def noting(folder: Path, cell: Cell) -> str:
        played.append(cell.name)
        return whole(folder, cell)

    monkeypatch.setattr(claims_run, "play_into", noting)
    resume_claim(folder, 1)
    assert bytes_of(folder) == bytes_of(straight)
    cells = [cell.name for cell in plan_of("forgetting", True, 1).cells()]
    assert sorted(played) == sorted([*cells, cells[0]])


def test_the_command(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["claims", "--json"]) == 0
    assert [row["claim"] for row in json.loads(capsys.readouterr().out)["claims"]] == sorted(CLAIMS)
    assert run(["claims", "forgetting", "--quick", "--seeds", "1", "--workers", "1", "--out", "r", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["quick"] is True
    assert {row["verdict"] for row in said["hypotheses"]} <= {"supported", "not supported", "contradicted"}
    results = read_results(Path("r"))
    assert (Path("r") / "tables.md").read_text() == markdown(results)
    head = json.loads((Path("r") / "run.json").read_text())
    assert head["kind"] == "claims"
    assert head["config"]["protocol"] == results["protocol"]
    assert "commit" in head
    assert not claims_run.passed({**results, "quick": False})
    assert claims_run.passed({"quick": False, "hypotheses": [{"verdict": "supported"}]})
    for words, problem in (
        (["claims", "forgeting"], "unknown claim"),
        (["claims", "forgetting", "--seeds", "5000"], "impossible number of seeds"),
        (["claims", "--resume", "r", "--quick"], "--resume takes no name"),
        (["claims", "--resume", "nowhere"], "nowhere"),
        (["claims", "forgetting", "--quick", "--out", "r"], "not empty"),
    ):
        assert run(words) == 2, words
        assert problem in capsys.readouterr().err


def test_another_protocol_is_not_gone_on_with(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_claim("forgetting", ClaimOptions(quick=True, seeds=1, out=small / "r"))
    file = small / "configs/claims/forgetting.yaml"
    file.write_text(file.read_text().replace("drop: 0.2", "drop: 0.3"))
    assert run(["claims", "--resume", "r"]) == 2
    assert "has changed since this run" in capsys.readouterr().err


def tiny(arm: str, world: str = "drifting", **budget: Any) -> Cell:
    cells = {(cell.arm, cell.world): cell for cell in plan_of("forgetting").cells()}
    few = {"episodes": 24, "change_every": 12, "first_check": 20, "check_every": 10, "check_episodes": 20}
    cell = cells[arm, world]
    return replace(cell, seed=77, budget={**cell.budget, **few, "judged_from": 12, "probe_every": 3, **budget})


def test_who_knows_sends_nobody_to_the_carrier_of_yesterday() -> None:
    played = play(tiny("knows", explore=0.0))
    assert played["changes"] == [12]
    assert sum(played["stale"]) == 0
    assert sum(played["completed"]) / sum(played["trucks"]) > 0.85
    assert played["checks"][0][1] >= 0.8


def test_the_oracle_keeps_no_evidence_of_before_a_change() -> None:
    played, kept = play(tiny("oracle")), play(tiny("none"))
    closed = 8  # facts that newer ones replaced: who serves an order
    assert max(played["forgotten"][:12]) <= closed
    assert max(played["forgotten"][12:]) > closed
    assert played["completed"][:12] == kept["completed"][:12]
    assert played["edges"][11] == kept["edges"][11]
    assert played["edges"][-1] < kept["edges"][-1]


def test_an_evaluation_is_not_remembered() -> None:
    with_, without = play(tiny("recommended")), play(tiny("recommended", first_check=23))
    assert with_["checks"] != without["checks"]
    assert with_["completed"] == without["completed"]
    assert with_["edges"] == without["edges"]


def test_without_memory_nothing_is_kept() -> None:
    played = play(tiny("emptied"))
    assert max(played["edges"]) < 60
    assert sum(found for _, _, found, _ in played["probes"]) == 0
    assert sum(asked for _, asked, _, _ in played["probes"]) > 0


def test_measures_of_a_campaign() -> None:
    cell = tiny("recommended", window=4, recovery_window=3)
    played = play(cell)
    found = {measure.endpoint: measure for measure in FORGETTING.measures(cell, played)}
    assert found["campaign"].value == pytest.approx(np.mean(played["completed"][12:]) / 4)
    assert found["evaluation"].value == played["checks"][-1][1] == found["last"].value
    assert 3 <= found["recovery"].value <= 12
    assert found["edges"].value == pytest.approx(np.mean(played["edges"][12:]))
    assert all(math.isfinite(measure.value) for measure in found.values())
    steady = FORGETTING.measures(cell := tiny("recommended", "steady"), play(cell))
    assert not {"recovery", "stale"} & {measure.endpoint for measure in steady}


def test_cells_have_files_of_their_own() -> None:
    cells = plan_of("forgetting").cells()
    assert len({cell.name for cell in cells}) == len(cells)
    assert all(os.path.basename(cell.name) == cell.name for cell in cells)
