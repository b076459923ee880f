"""Early stops and curricula.

1. rules by hand
2. a training stops when its curve has stopped rising, says why, and does so again when it is resumed
3. a curriculum raises a value of the scenario; killed and resumed it gives the same bytes
4. impossible ones are refused before anything is written
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from masim.errors import ConfigError, ScenarioError
from masim.study.experiment import Experiment, check_experiment, train_experiment
from masim.study.resume import resume_experiment
from masim.study.schedule import Curriculum, EarlyStop

SMALL = Experiment(
    "freight/first-steps-v0", {"ProGPO": {"lr": 0.003, "buffer_units": 16, "units_per_step": 16, "progpo": {}}},
    episodes=64, curve_points=4, curve_episodes=16, eval_episodes=2, baselines=(), emptied=False, workers=1,
)  # fmt: skip
JOB = "checkpoints/ProGPO-s0"
GROWS = {"field": "agents.max_decisions", "values": [60, 30], "threshold": 0.01}


def curve(*values: float, stage: int | None = None) -> list[dict[str, Any]]:
    more = {} if stage is None else {"stage": stage}
    return [{"episodes": i, "completion": value, **more} for i, value in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "stops"),
    [
        ((), False),
        ((0.5, 0.5), False),
        ((0.5, 0.5, 0.5), True),
        ((0.5, 0.505, 0.509), True),
        ((0.5, 0.505, 0.51), False),
        ((0.0, 0.0, 0.0), True),
        ((0.2, 0.6, 0.5, 0.5), True),
        ((0.2, 0.6, 0.5, 0.7), False),
    ],
)
def test_a_curve_that_rises_no_more(values: tuple[float, ...], stops: bool) -> None:
    assert bool(EarlyStop(patience=2, min_delta=0.01).reason(curve(*values))) is stops


def test_a_new_stage_has_a_curve_of_its_own() -> None:
    rows = [*curve(0.9, 0.9, stage=0), *curve(0.1, 0.1, stage=1)]
    assert not EarlyStop(patience=2).reason(rows)
    assert EarlyStop(patience=1).reason(rows)


def test_stages_follow_the_curve() -> None:
    grows = Curriculum("x", (5, 10), 0.8)
    assert grows.stage([]) == 0
    assert grows.stage(curve(0.7, 0.8, stage=0)) == 1
    assert grows.stage([*curve(0.8, stage=0), *curve(0.1, 0.79, stage=1)]) == 1
    assert grows.stage([*curve(0.8, stage=0), *curve(0.9, stage=1), *curve(0.9, stage=2)]) == 2


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder / f"{table}.parquet").to_pylist()
    return [{name: value for name, value in row.items() if not name.endswith("wall_s")} for row in found]


def newest(folder: Path) -> bytes:
    return sorted((folder / JOB).glob("update-*"))[-1].joinpath("tensors.safetensors").read_bytes()


def killed(folder: Path, updates_kept: int) -> None:
    """Make a run look as if it had been killed after some updates."""
    for made in (folder / JOB).glob("update-*"):
        if int(made.name.partition("-")[2]) > updates_kept:
            shutil.rmtree(made)
    head = json.loads((folder / "run.json").read_text("utf-8")) | {"status": "running"}
    (folder / "run.json").write_text(json.dumps(head))
    for table in folder.glob("*.parquet"):
        table.unlink()


def test_a_training_that_has_stopped_rising_ends(tmp_path: Path) -> None:
    stopping = replace(SMALL, early_stop={"patience": 1, "min_delta": 1.0})
    folder = train_experiment(stopping, tmp_path / "run")
    stops = json.loads((folder / "stops.json").read_text("utf-8"))
    assert "completion has not risen by 1 above" in stops["ProGPO-s0"]
    assert [row["episodes"] for row in rows(folder, "curve")] == [0, 16]
    assert [row["episodes"] for row in rows(folder, "train")] == [16]
    before = newest(folder)
    killed(folder, 1)
    resume_experiment(folder, workers=1)
    assert newest(folder) == before
    assert json.loads((folder / "stops.json").read_text("utf-8")) == stops


def test_a_curriculum_is_the_same_after_a_kill(tmp_path: Path) -> None:
    grows = replace(SMALL, curriculum=GROWS)
    learner = {"checkpoint_every": 1, "keep_checkpoints": 9}
    grows = replace(grows, arms={"ProGPO": {**SMALL.arms["ProGPO"], **learner}})
    whole = train_experiment(grows, tmp_path / "whole")
    stages = [row["stage"] for row in rows(whole, "curve")]
    assert stages[0] == 0 and stages == sorted(stages) and stages[-1] > 0
    plain = train_experiment(replace(grows, curriculum={}), tmp_path / "plain")
    assert newest(plain) != newest(whole)
    for kept in (0, 2):
        half = tmp_path / f"half{kept}"
        shutil.copytree(whole, half)
        killed(half, kept)
        resume_experiment(half, workers=1)
        assert newest(half) == newest(whole)
        assert rows(half, "curve") == rows(whole, "curve")
        assert rows(half, "outcomes") == rows(whole, "outcomes")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"early_stop": {"patience": 0}}, ">= 1"),
        ({"early_stop": {"patence": 2}}, "did you mean 'patience'"),
        ({"early_stop": {"patience": "two"}}, "wrong type"),
        ({"early_stop": {"metric": "reward"}}, "completion, safe"),
        ({"early_stop": {"min_delta": 2.0}}, "0 to 1"),
        ({"early_stop": {"patience": 1}, "curve_points": 0}, "needs a learning curve"),
        ({"curriculum": {"field": "agents.max_decisions"}}, "curriculum.values"),
        ({"curriculum": {"field": "agents.max_decisions", "values": []}}, "at least one stage"),
        ({"curriculum": {"field": "agents.max_decisions", "values": 3}}, "a list"),
        ({"curriculum": {**GROWS, "threshold": 0}}, "above 0"),
    ],
)
def test_impossible_schedules_are_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        replace(SMALL, **changes)


@pytest.mark.parametrize(
    ("grows", "says"),
    [
        ({"field": "agents.max_decision", "values": [3]}, "max_decision"),
        ({"field": "agents.max_decisions", "values": [-3]}, "max_decisions"),
        ({"field": "agents.count", "values": [2]}, "cannot be carried over"),
    ],
)
def test_stages_are_checked_beforehand(grows: dict[str, Any], says: str) -> None:
    with pytest.raises((ConfigError, ScenarioError), match=says):
        check_experiment(replace(SMALL, curriculum=grows))
