"""Ctrl-C and kill -9 leave a run folder that can be read and continued.

1. Ctrl-C in a training with two worker processes: exit 130, status interrupted, no traceback, checkpoints, a way on.
2. Going on finishes the run and trains nothing twice.
3. kill -9 leaves status running; --resume finishes. Workers of a killed parent end by themselves.
4. Ctrl-C in a run keeps the campaigns that were finished, whether the workers hear the signal or not.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from cli.processes import finish, head, interrupt, start, wait_for

from masim.analysis.load import load_run

pytest.importorskip("torch")
if not hasattr(os, "killpg"):
    pytest.skip("needs process groups", allow_module_level=True)

TINY = [
    "common.buffer_units=8",
    "common.units_per_step=8",
    "common.checkpoint_every=2",
    "curve_points=0",
    "eval_episodes=2",
    "baselines=[]",
]

TRAIN = ["train", "first-steps", *TINY, "--seeds", "1", "emptied=false", "--no-tensorboard", "--workers", "2"]
SHORT = ["--workers", "1", "--quiet", "--no-tensorboard", "--no-report"]


def trained(folder: Path) -> list[tuple[int, int]]:
    """Return (first and last update) of every job's log; updates must follow each other."""
    found = []
    for log in sorted(folder.glob("checkpoints/*/train.jsonl")):
        updates = [json.loads(line)["update"] for line in log.read_text("utf-8").splitlines()]
        assert updates == list(range(1, len(updates) + 1))
        found.append((updates[0], updates[-1]))
    return found


def test_training_is_interrupted_and_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    process = start(*TRAIN, "--episodes", "4000", "--out", str(folder))
    wait_for(process, "checkpoints/ProGPO-s0/train.jsonl", folder)
    interrupt(process)
    code, out, err = finish(process)
    assert (code, out) == (130, "")
    assert "Traceback" not in err
    assert "masim: stopping" in err
    assert f"masim train --resume {folder}" in err
    assert head(folder)["status"] == "interrupted"
    assert (folder / "train.parquet").is_file()
    assert len(list(folder.glob("checkpoints/*/update-*"))) >= 2
    before = trained(folder)
    shorten(folder, 8 * (1 + max(last for _, last in before)))
    code, out, err = finish(start("train", "--resume", str(folder), *SHORT))
    assert code == 0, err
    assert head(folder)["status"] == "complete"
    assert trained(folder) == [(1, 1 + max(last for _, last in before))] * 2
    assert (folder / "metrics.json").is_file()


def shorten(folder: Path, episodes: int) -> None:
    """Make the interrupted experiment end soon."""
    content = head(folder)
    content["config"]["episodes"] = episodes
    (folder / "run.json").write_text(json.dumps(content), "utf-8")


def test_a_killed_training_is_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    process = start(*TRAIN, "--episodes", "4000", "--out", str(folder))
    wait_for(process, "checkpoints/ProGPO-s0/train.jsonl", folder, lines=3)
    children = workers_of(process)
    process.kill()
    finish(process)
    assert head(folder)["status"] == "running"
    assert gone(children)
    code, _, err = finish(start("eval", str(folder)))
    assert (code, len(err.splitlines())) == (2, 1)
    assert "--resume" in err
    updates = max(len(log.read_text("utf-8").splitlines()) for log in folder.glob("checkpoints/*/train.jsonl"))
    shorten(folder, 8 * (updates + 1))
    code, _, err = finish(start("train", "--resume", str(folder), *SHORT))
    assert code == 0, err
    assert trained(folder) == [(1, updates + 1)] * 2


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """Return the ids of a process's children."""
    text = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True).stdout
    return [int(word) for word in text.split()]


def gone(ids: list[int]) -> bool:
    """Wait until none of the processes lives."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if not any(Path(f"/proc/{id}").exists() for id in ids):
            return True
        time.sleep(0.1)
    for id in ids:
        os.kill(id, signal.SIGKILL)
    return False


@pytest.mark.parametrize("group", [True, False], ids=["group", "parent"])
def test_a_run_keeps_finished_campaigns(tmp_path: Path, group: bool) -> None:
    folder = tmp_path / "run"
    argv = ["run", "freight/short-chain-v0", "--agents", "scripted", "-n", "1000", "-w", "2", "--out", str(folder)]
    process = start(*argv)
    wait_for(process, ".trace.parquet.part", folder, lines=3)
    interrupt(process, group)
    code, out, err = finish(process)
    assert (code, out) == (130, "")
    assert "Traceback" not in err
    assert "masim report" in err
    assert head(folder)["status"] == "interrupted"
    assert load_run(folder).outcomes["episode"].nunique() >= 1
