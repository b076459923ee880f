"""The claims about learning on micro-scenarios.

1. the bundled protocols are in order, and mistakes in them have their line
2. segments are paid by hand-worked rules; the law's best lengths
3. cells: exact references, the same answer twice, equal budgets, tuned trials, everything measured that is promised
4. a small run through the command, resumed runs included, is covered by the claims' common tests; here one per claim
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from learn.tables import make_table

from masim.cli.main import run
from masim.errors import ScenarioError
from masim.micro.games.hidden_flaky import HiddenFlaky
from masim.micro.registry import read_game
from masim.study.claims.base import Cell
from masim.study.claims.learning.batching import BATCHING
from masim.study.claims.learning.completion import COMPLETION
from masim.study.claims.learning.paid import SegmentPaid
from masim.study.claims.learning.segments import SEGMENTS, law
from masim.study.claims.protocol import load_protocol, read_protocol
from masim.study.claims.run import plan_of, read_results, world_hash
from masim.study.claims.tables import markdown

ROOT = Path(__file__).resolve().parents[2]
CLAIMS = {"batching": BATCHING, "completion": COMPLETION, "segments": SEGMENTS}
SMALL = {
    "batching": {"episodes": 128},
    "completion": {"episodes": 64, "points": 2, "played": 10},
    "segments": {"groups": 3, "updates": 2},
}


@pytest.mark.parametrize("name", CLAIMS)
def test_the_bundled_protocols_are_in_order(name: str) -> None:
    doc, node = load_protocol(name)
    CLAIMS[name].check(doc, node)
    assert doc.seeds.count >= 10
    assert all(hypothesis.falsifier for hypothesis in doc.hypotheses)


PAGES = ["batching", "completion", "segments"]
"""Claims with a stored run and its page."""


@pytest.mark.parametrize("name", PAGES)
def test_the_page_of_results_is_what_was_stored(name: str) -> None:
    (file,) = (ROOT / "docs/results").glob(f"*-{name}/results.json")
    results = json.loads(file.read_text("utf-8"))
    page = (ROOT / f"docs/results/{name}.md").read_text("utf-8")
    assert page.endswith(markdown(results))
    assert results["protocol"] == load_protocol(name)[0].digest() in page
    head = json.loads((file.parent / "run.json").read_text("utf-8"))
    assert head["config"]["scenarios"] == {world: world_hash(game) for world, game in results["worlds"].items()}


MISTAKES = [
    ("completion", "early: micro/early-hold", "early: freight/first-steps-v0", "tried on micro-scenarios"),
    ("completion", "early: micro/early-hold", "early: micro/early-hald", "did you mean 'early-hold'"),
    ("completion", "subgoals=14&budget=20", "subgoals=14&budget=2", "out of range"),
    ("completion", "estimator: graphgpo", "estimator: grafgpo", "unknown estimator"),
    ("completion", "policy: random", "policy: randum", "unknown policy"),
    ("completion", "seeds: 3", "seeds: 0", "an arm needs a seed"),
    ("completion", "endpoint: of optimum", "endpoint: optimum", "unknown endpoint"),
    ("completion", "episodes: 4800", "episodes: 0", "impossible budget"),
    ("segments", "{length: 1}", "{length: 0}", "an arm is a segment length"),
    ("segments", "{length: 1}", "{lenght: 1}", "unknown setting 'lenght'"),
    ("segments", "penalty: 0.1", "penalty: -0.1", "a penalty is taken off"),
    ("segments", "alike=true&delay=0", "delay=0", "bookings that are all alike"),
    ("batching", "units_per_step: 8", "units_per_step: 0", "out of range: units_per_step"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "words"), MISTAKES)
def test_a_mistake_has_its_line(name: str, old: str, new: str, words: str, tmp_path: Path) -> None:
    text = (ROOT / f"configs/claims/{name}.yaml").read_text("utf-8")
    assert old in text
    file = tmp_path / "claim.yaml"
    file.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(ScenarioError) as caught:
        CLAIMS[name].check(*read_protocol(file))
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{file}:")


def test_a_segment_pays_when_all_that_was_told_inside_went_well() -> None:
    game = HiddenFlaky(bookings=6, delay=1, alike=True)
    told = np.array([0, 1, 1, 0, 1, 2]) / 6  # the fourth round told of a failure; the last one tells of two bookings
    table = make_table(6, r_out=told)
    pay = SegmentPaid(lambda *_: None, game, 3).pay(table)  # type: ignore[arg-type, return-value]
    assert pay == pytest.approx([0, 0, 0.5, 0, 0, 0])
    pay = SegmentPaid(lambda *_: None, game, 2).pay(table)  # type: ignore[arg-type, return-value]
    assert pay == pytest.approx([0, 1 / 3, 0, 0, 0, 1 / 3])
    pay = SegmentPaid(lambda *_: None, game, 4).pay(table)  # type: ignore[arg-type, return-value]
    assert pay == pytest.approx([0, 0, 0, 0, 0, 1 / 3])
    pay = SegmentPaid(lambda *_: None, game, 1, 0.6).pay(table)  # type: ignore[arg-type, return-value]
    assert pay == pytest.approx(np.array([0, 1, 1, 0, 1, 1]) / 6 - 0.1)


def test_the_best_lengths_of_the_law() -> None:
    best = []
    for delay in (0, 1, 2, 3, 6):
        game = HiddenFlaky(fails=0.1, flaky=0.2, delay=delay)
        best.append(max(range(1, 40), key=lambda length, game=game: law(game, length)))  # type: ignore[misc]
    assert best == [1, 3, 5, 7, 11]


def cell_of(name: str, arm: str, world: str) -> Cell:
    cells = plan_of(name, quick=True, seeds=1).cells()
    found = next(cell for cell in cells if (cell.arm, cell.world) == (arm, world))
    return replace(found, budget={**found.budget, **SMALL[name]})


@pytest.mark.parametrize("world", ["ladder", "early"])
def test_references_are_exact(world: str) -> None:
    for arm, read in (("random", "p_random"), ("optimum", "p_star")):
        cell = cell_of("completion", arm, world)
        success = COMPLETION.measures(cell, COMPLETION.play(cell))[0]
        assert success.value == pytest.approx(getattr(read_game(cell.scenario), read))


@pytest.mark.parametrize(
    ("name", "arm", "world"),
    [("completion", "ppo-gae", "hidden"), ("completion", "segment, progress", "short"), ("segments", "4", "delay 2")],
)
def test_a_cell_is_a_function_of_its_protocol(name: str, arm: str, world: str) -> None:
    claim, cell = CLAIMS[name], cell_of(name, arm, world)
    once, again = claim.play(cell), claim.play(cell)
    assert once == again
    other = claim.play(replace(cell, seed=cell.seed + 1))
    assert other != once
    assert [m.endpoint for m in claim.measures(cell, once)] == [e.name for e in claim.endpoints]


def test_a_tuned_trial_comes_from_the_grid() -> None:
    cell = cell_of("completion", "grpo", "short")
    assert COMPLETION.play(cell)["trial"] in list(cell.settings["grid"])


def test_batching_tells_times_apart() -> None:
    one, many = (BATCHING.play(cell_of("batching", arm, "short")) for arm in ("1", "64"))
    assert one["ms_per_unit"] > many["ms_per_unit"] > 0.0
    assert 0.0 < many["update_share"] < one["update_share"] < 1.0


def test_eight_step_penalties_cancel() -> None:
    plain, less = cell_of("segments", "8", "delay 3"), cell_of("segments", "8, step penalty", "delay 3")
    assert SEGMENTS.play(plain)["snr"] == pytest.approx(SEGMENTS.play(less)["snr"])


def test_few_seeds_of_an_exploratory_arm() -> None:
    cells = plan_of("segments").cells()
    assert sum(cell.arm == "8" for cell in cells) == 5 * 10
    assert sum(cell.arm == "8, step penalty" for cell in cells) == 5 * 3


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put protocols of two arms and one trial in front of the bundled ones."""
    folder = tmp_path / "configs/claims"
    folder.mkdir(parents=True)
    for name in CLAIMS:
        doc = yaml.safe_load((ROOT / f"configs/claims/{name}.yaml").read_text("utf-8"))
        kept = doc["hypotheses"][:1]
        arms = dict.fromkeys([kept[0]["arm"], kept[0].get("minus") or next(iter(doc["arms"]))])
        doc["arms"] = {arm: doc["arms"][arm] for arm in arms}
        for arm in doc["arms"].values():
            arm["settings"]["grid"] = arm["settings"].get("grid", [])[:1]
            if not arm["settings"]["grid"]:
                del arm["settings"]["grid"]
        doc |= {"hypotheses": kept, "contrasts": [], "quick": SMALL[name]}
        doc["worlds"] = {kept[0]["world"]: doc["worlds"][kept[0]["world"]]}
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(doc, sort_keys=False), "utf-8")
    monkeypatch.chdir(tmp_path)
    yield tmp_path


@pytest.mark.parametrize("name", CLAIMS)
def test_the_command_plays_and_draws(name: str, small: Path) -> None:
    assert run(["claims", name, "--quick", "--seeds", "2", "--workers", "1", "--out", "r", "--json"]) == 0
    results = read_results(Path("r"))
    assert results["quick"] and len(results["hypotheses"]) == 1
    assert list(Path("r").glob("*.png"))
