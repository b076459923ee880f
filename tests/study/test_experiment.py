"""A training that was stopped and goes on ends with the weights of one that never stopped.

1. Stopped after k updates. 2. Killed between two checkpoints: memories and logs are ahead of the weights.
3. Killed before the first checkpoint. 4. What a run holds, and who is in its tables.
"""

from __future__ import annotations

import json
import multiprocessing
import shutil
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from study.experiments import LEARNER, SMALL, UPDATE, edit_head, with_updates

pytest.importorskip("torch")

from masim.errors import ConfigError, RunError, ScenarioError
from masim.policy.card import load_card
from masim.rollout.evaluate import campaign_jobs, play_campaign
from masim.scenario.load import load_scenario
from masim.study.experiment import Experiment, train_experiment
from masim.study.resume import resume_experiment

JOB = "checkpoints/ProGPO-s0"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training of four updates that nobody disturbed."""
    return train_experiment(with_updates(4), tmp_path_factory.mktemp("whole") / "run", "masim train")


@pytest.fixture
def half(whole: Path, tmp_path: Path) -> Path:
    """A training of two updates."""
    return train_experiment(with_updates(2), tmp_path / "half")


def weights(folder: Path) -> bytes:
    """Return weights and optimizer state after the last update."""
    return (folder / JOB / "update-000004/tensors.safetensors").read_bytes()


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    """Return a table without its wall times."""
    found: list[dict[str, Any]] = pq.read_table(folder / f"{table}.parquet").to_pylist()
    return [{name: value for name, value in row.items() if not name.endswith("wall_s")} for row in found]


def test_stopped_and_resumed(whole: Path, half: Path) -> None:
    edit_head(half, "interrupted", 4 * UPDATE)
    assert resume_experiment(half, workers=1) == half
    assert weights(half) == weights(whole)
    assert rows(half, "train") == rows(whole, "train")
    assert rows(half, "outcomes") == rows(whole, "outcomes")
    assert (half / "trace.parquet").read_bytes() == (whole / "trace.parquet").read_bytes()
    assert json.loads((half / "run.json").read_text("utf-8"))["status"] == "complete"


def test_killed_between_checkpoints(whole: Path, half: Path) -> None:
    shutil.rmtree(half / JOB / "update-000002")
    with (half / JOB / "train.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"arm": "ProGPO", "train_se')
    edit_head(half, "running", 4 * UPDATE)
    resume_experiment(half, workers=1)
    assert weights(half) == weights(whole)
    assert rows(half, "train") == rows(whole, "train")


def test_killed_before_the_first_checkpoint(whole: Path, half: Path) -> None:
    for folder in (half / JOB).glob("update-*"):
        shutil.rmtree(folder)
    edit_head(half, "running", 4 * UPDATE)
    resume_experiment(half, workers=1)
    assert weights(half) == weights(whole)
    assert rows(half, "train") == rows(whole, "train")
    assert rows(half, "curve") == rows(whole, "curve")


def test_a_worker_that_dies_costs_nothing(whole: Path, tmp_path: Path) -> None:
    """Killed in mid-training; the job goes on in another worker, from its newest checkpoint."""
    folder = tmp_path / "run"
    first = folder / JOB / "update-000001"

    def kill() -> None:
        while not first.exists():
            time.sleep(0.01)
        for child in multiprocessing.active_children():
            child.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    train_experiment(replace(with_updates(4), seeds=2, workers=2), folder)
    killer.join()
    assert weights(folder) == weights(whole)
    assert [row for row in rows(folder, "train") if row["train_seed"] == 0] == rows(whole, "train")
    curve = [row for row in rows(folder, "curve") if row["train_seed"] == 0]
    assert curve == rows(whole, "curve")


def test_what_a_training_leaves(whole: Path) -> None:
    arms = {(row["arm"], row["train_seed"]) for row in rows(whole, "outcomes")}
    trained = {("ProGPO", 0), ("ProGPO, memory emptied", 0)}
    assert arms == {("null", -1), ("untrained", 0), *trained}
    assert {row["arm"] for row in rows(whole, "trace")} == {"ProGPO"}
    assert [row["episodes"] for row in rows(whole, "train")] == [UPDATE * n for n in (1, 2, 3, 4)]
    assert [row["episodes"] for row in rows(whole, "curve")] == [0, 2 * UPDATE, 4 * UPDATE]
    assert [path.name for path in whole.glob(".*")] == []


def test_the_untrained_agent_differs_by_seed() -> None:
    """Its weights come from the training seed; the noise that it samples with does not."""
    spec, card = load_scenario(SMALL.scenario).spec, load_card("scorer")
    logp = [
        play_campaign(job).steps[0].logp[0]
        for seed in (0, 0, 1)
        for job in campaign_jobs(spec, card, "untrained", 1, 0, train_seed=seed, steps=True)
    ]
    assert logp[0] == logp[1] != logp[2]


def test_nothing_to_resume(whole: Path, half: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="complete"):
        resume_experiment(whole)
    with pytest.raises(RunError, match=r"no run\.json"):
        resume_experiment(tmp_path)
    head = json.loads((half / "run.json").read_text("utf-8"))
    for change, told in (
        ({"schema": 9}, "another version"),
        ({"status": "interrupted", "scenario_hash": "0"}, "scenario has changed"),
        ({"status": "interrupted", "config": {}}, "does not describe an experiment"),
        ({"kind": "run"}, "only training runs"),
    ):
        (half / "run.json").write_text(json.dumps({**head, **change}), "utf-8")
        with pytest.raises(RunError, match=told):
            resume_experiment(half)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"episodes": 0}, "impossible episodes"),
        ({"episodes": True}, "impossible episodes"),
        ({"episodes": 8.5}, "impossible episodes"),
        ({"eval_seed": 900}, "impossible eval_seed"),
        ({"arms": {}}, "at least one arm"),
        ({"arms": {"a/b": {}}}, "name of an arm"),
        ({"arms": {"untrained": {}}}, "name of an arm"),
        ({"arms": {"A": {"lrr": 1.0}}}, "did you mean 'lr'"),
        ({"arms": {"A": {"estimator": "grpoo"}}}, "did you mean 'grpo'"),
        ({"agent": "scripted"}, "cannot be trained"),
        ({"agent": "scorerr"}, "did you mean 'scorer'"),
        ({"baselines": ("scriptd",)}, "did you mean 'scripted'"),
        ({"scenario": "freight/nowhere-v0"}, "unknown scenario"),
        ({"workers": 0}, "number of workers"),
    ],
)
def test_bad_experiments_leave_nothing(change: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises((ConfigError, ScenarioError), match=told):
        train_experiment(Experiment(**{**asdict(SMALL), **change}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("unit", ["rollout", {"name": "segment", "segment_len": 3}, "agent_set"], ids=str)
def test_a_budget_is_played_whatever_the_units(unit: Any, tmp_path: Path) -> None:
    """A day has more segments than samples, so an update takes fewer days; all of the budget is played all the same."""
    learner = {**LEARNER, "unit": unit, "compare": "group" if unit == "agent_set" else "group_agent"}
    arms = {"A": learner}
    folder = train_experiment(replace(SMALL, arms=arms, episodes=4 * UPDATE, curve_points=0), tmp_path / "run")
    played = [row["episodes"] for row in rows(folder, "train")]
    assert 4 * UPDATE <= played[-1] < 5 * UPDATE
