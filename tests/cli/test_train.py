"""``masim train`` and ``masim eval``: composing experiments, the dry run, and one line for every bad input."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from masim.cli.compose import build_experiment, compose_experiment, experiments
from masim.cli.main import run
from masim.scenario.load import load_scenario
from masim.study.training import learner_config

SMALL = ["common.buffer_units=8", "common.units_per_step=8", "curve_points=0", "eval_episodes=2", "baselines=[]"]


@pytest.mark.parametrize("name", experiments())
def test_bundled_experiments_compose(name: str) -> None:
    values = compose_experiment(name, [])
    assert set(values["arms"]) == {"GRPO", "ProGPO"}
    differ = {
        key for key in values["arms"]["ProGPO"] if values["arms"]["GRPO"].get(key) != values["arms"]["ProGPO"][key]
    }
    assert differ == {"progpo"}
    plan = build_experiment(values, {})
    assert plan.scenario == f"freight/{name}-v0"
    spec = load_scenario(plan.scenario).spec
    for options in values["arms"].values():
        assert learner_config(options, spec).lr == 0.003


def test_words_change_an_experiment() -> None:
    words = ["arms.ProGPO.lr=1e-3", "+learner@arms.Plain=reinforce", "~learner@arms.GRPO", "overrides.agents.count=2"]
    plan = build_experiment(compose_experiment("first-steps", words), {"agents.max_decisions": "9"}, seeds=5)
    assert set(plan.arms) == {"ProGPO", "Plain"}
    assert plan.arms["ProGPO"]["lr"] == 0.001 and plan.arms["Plain"]["lr"] == 0.003
    assert plan.seeds == 5
    assert plan.overrides == {"agents.count": "2", "agents.max_decisions": "9"}


def test_own_experiments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "defaults: [{learner@arms.Mine: grpo}, _self_]\nscenario: first-steps-v0\nepisodes: 64\n"
    (tmp_path / "other.yaml").write_text(text)
    (tmp_path / "configs/experiment").mkdir(parents=True)
    (tmp_path / "configs/experiment/mine.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert "mine" in experiments()
    for name in ("mine", "other.yaml"):
        assert compose_experiment(name, ["episodes=8"])["arms"] == {"Mine": {"estimator": "grpo"}}
    assert not (tmp_path / "outputs").exists()


def test_dry_run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["train", "short-chain", "--dry-run", "--assume-p", "0.02", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["break_even_decisions"] == 10.0
    arm = printed["arms"][0]
    assert arm["episodes_per_update"] == 16
    assert arm["all_fail"] == pytest.approx(0.98**8)
    assert arm["dead"] == pytest.approx(0.98**8 + 0.02**8)
    assert run(["train", "short-chain", "--dry-run", "--no-probe"]) == 0
    text = capsys.readouterr().out
    assert "episodes: 1600" in text and "85.1%" in text and "after 10 decisions" in text
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_forecasts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["train", "first-steps", "--dry-run", "--price", "0.5", "--episodes", "640", "--seeds", "2"]
    assert run([*words, "--workers", "2", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    told = printed["forecast"]
    assert printed["p_is_measured"] and printed["assumed_p"] == told["probe"]["completion"]["value"]
    per_episode = told["probe"]["decisions_per_episode"]
    assert 1.0 <= per_episode <= 12.0
    assert told["training_decisions"] == round(2 * 2 * 640 * per_episode)
    assert told["evaluation_decisions"] > 0
    hours = (told["training_decisions"] + told["evaluation_decisions"]) * told["probe"]["s_per_decision"] / 3600
    assert told["core_hours"] == pytest.approx(hours) == pytest.approx(told["cost"] / 0.5)
    assert told["wall_s"] == pytest.approx(3600 * hours / 2)
    assert run(words[:3]) == 0
    text = capsys.readouterr().out
    assert "expected: " in text and "give --price for the cost" in text
    assert run([*words[:3], "--price", "-1"]) == 2
    assert "--price: out of range" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        ([], "name an experiment"),
        (["shrt-chain"], "did you mean 'short-chain'?"),
        (["gone.yaml"], "no such file"),
        (["short-chain", "episods=3"], "did you mean 'episodes'?"),
        (["short-chain", "arms.GRPO.lrr=3"], "did you mean 'lr'?"),
        (["short-chain", "arms.GRPO.lr=many"], "arms.GRPO.lr: wrong type"),
        (["short-chain", "common.lr=nan"], "arms.GRPO.lr: not a finite number"),
        (["short-chain", "arms.ProGPO.progpo.lambda_aux=inf"], "progpo.lambda_aux: not a finite number"),
        (["short-chain", "arms.GRPO=3"], "an arm is a mapping"),
        (["short-chain", "learner@arms.GRPO=gpro"], "gpro"),
        (["short-chain", "learner@arms.Foo=grpo"], "Foo"),
        (["short-chain", "episodes"], "episodes"),
        (["short-chain", "episodes=[1"], "episodes"),
        (["short-chain", "episodes=1,2"], "episodes"),
        (["short-chain", "episodes=0"], "impossible episodes"),
        (["short-chain", "--episodes", "0"], "impossible episodes"),
        (["short-chain", "scenario=3"], "scenario: wrong type"),
        (["short-chain", "baselines=scripted"], "a list of agent cards"),
        (["short-chain", "arms.GRPO._target_=os.system"], "objects cannot be built"),
        (["short-chain", "title=${oc.env:HOME}"], "resolvers are not evaluated"),
        (["short-chain", "hydra.run.dir=/tmp"], "options of Hydra"),
        (["short-chain", "--set", "agents.cuont=3"], "cuont"),
        (["short-chain", "--assume-p", "2", "--dry-run"], "not a probability"),
        (["short-chain", "--resume", "x"], "--resume takes no experiment"),
        (["--resume", "nowhere"], "there is no such run"),
    ],
)
def test_bad_input_is_one_line(
    argv: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["train", *argv]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1 and told in captured.err
    assert run(["train", *argv, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["problem"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [
        "arms: {A: {_target_: os.system}}\n",
        "a: [1",
        "- 1\n",
        "a: !!python/name:os.system\n",
        "episodes: ${oc.env:HOME}\n",
        "a: " + "[" * 5000 + "]" * 5000,
    ],
)
def test_bad_files_are_one_line(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(f"scenario: freight/first-steps-v0\n{text}" if not text.startswith("-") else text)
    assert run(["train", str(file)]) == 2
    captured = capsys.readouterr()
    assert len(captured.err.splitlines()) == 1 and "mine.yaml" in captured.err


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of training, made by the command."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("train") / "run"
    assert run(["train", "first-steps", *SMALL, "-n", "16", "--seeds", "1", "-w", "1", "-q", "--out", str(folder)]) == 0
    return folder


def test_train_writes_event_files(trained: Path) -> None:
    pytest.importorskip("tensorboard")
    assert {path.parent.name for path in trained.glob("tensorboard/*/events.*")} == {"GRPO-s0", "ProGPO-s0"}


def test_eval(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["-w", "1", "--no-report", "--json", "--out"]
    assert run(["eval", str(trained), "-n", "2", "--emptied", "--agents", "null", *out, str(tmp_path / "a")]) == 0
    arms = {arm["arm"] for arm in json.loads(capsys.readouterr().out)["arms"]}
    learners = {"GRPO", "ProGPO", "GRPO, memory emptied", "ProGPO, memory emptied"}
    assert arms == {"null", "untrained", *learners}
    assert json.loads((tmp_path / "a/run.json").read_text("utf-8"))["kind"] == "eval"
    name = f"{trained}:ProGPO-s0"
    assert run(["run", "freight/first-steps-v0", "--agents", f"null,{name}", "-n", "1", *out, str(tmp_path / "b")]) == 0
    assert [arm["arm"] for arm in json.loads(capsys.readouterr().out)["arms"]] == ["null", "ProGPO"]


def test_bad_evaluations(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other"
    other.mkdir()
    head: dict[str, Any] = json.loads((trained / "run.json").read_text("utf-8"))
    cases: list[tuple[dict[str, Any], str]] = [
        ({"schema": 7}, "another version"),
        ({"status": "running"}, "half written"),
        ({"kind": "run"}, "not a training run"),
        ({}, "no trained agent"),
    ]
    for change, told in cases:
        (other / "run.json").write_text(json.dumps({**head, **change}), "utf-8")
        assert run(["eval", str(other), "--out", str(tmp_path / "out")]) == 2
        assert told in capsys.readouterr().err
    argvs = [
        ([str(trained), "-n", "0"], "impossible --episodes"),
        ([str(trained), "--scenario", "twelve-apis-v0", "-n", "1", "-w", "1"], "do not fit this scenario"),
        ([str(trained), "--scenario", "nowhere"], "unknown scenario"),
        ([str(trained), "--set", "a=1"], "add --scenario"),
        (["nowhere"], "there is no such run"),
    ]
    for argv, told in argvs:
        assert run(["eval", *argv, "--out", str(tmp_path / "out")]) == 2
        err = capsys.readouterr().err
        assert len(err.splitlines()) == 1 and told in err
        assert not (tmp_path / "out").exists()
    assert run(["run", "first-steps-v0", "--agents", f"{trained}:Pro-s0", "--out", str(tmp_path / "out")]) == 2
    assert "did you mean 'ProGPO-s0'?" in capsys.readouterr().err


def test_logs_for_a_tracker(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Really written by wandb, offline; what it was told is read back from its own file."""
    pytest.importorskip("wandb", reason="wandb is not installed: pip install 'masim[track]'")
    from masim.study.trackers import write_tracker

    monkeypatch.setenv("WANDB_API_KEY", "0" * 39 + "x")
    root = write_tracker("wandb", trained)
    stored = sorted(root.glob("wandb/offline-run-*/run-*.wandb"))
    assert len(stored) == 2
    wanted = {b"train/loss", b"GRPO-s0", b"ProGPO-s0"}
    for _ in range(300):  # its helper process may still be writing on a busy machine
        held = b"".join(file.read_bytes() for file in stored)
        if all(word in held for word in wanted):
            break
        time.sleep(0.1)
    assert {word for word in wanted if word in held} == wanted
    assert not any(b"0" * 39 + b"x" in file.read_bytes() for file in root.rglob("*") if file.is_file())
    assert "WANDB_DIR" not in os.environ


def test_trackers_that_are_not_there(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("masim.study.trackers.find_spec", lambda name: None)
    assert run(["train", "first-steps", "--track", "wanbd"]) == 2
    assert "did you mean 'wandb'" in capsys.readouterr().err
    assert run(["train", "first-steps", "--track", "trackio"]) == 2
    assert "pip install 'masim[track]'" in capsys.readouterr().err
