"""Training logs for the trackers that teams use. One function and one line in :data:`TRACKERS` each.

All of them read the logs of a run's jobs, so they can be written again, and a tracker that fails costs no training.
wandb and trackio have the same three calls; both keep everything in the run folder, and nothing is sent anywhere:
``wandb sync`` or ``trackio sync`` do that when somebody asks for it, with credentials that masim never sees.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from masim.errors import ConfigError, did_you_mean, missing_extra
from masim.study.board import write_board
from masim.study.training import read_logs

PROJECT = "masim"
WAIT_S = "300"
"""Seconds that wandb may take to start its helper process."""
_SKIPPED = ("train_seed", "episodes")


def check_trackers(names: Sequence[str]) -> None:
    """Raise ConfigError for an unknown tracker, MissingExtraError for one that is not installed."""
    for name in names:
        if name not in TRACKERS:
            raise ConfigError(
                "unknown tracker", "--track", repr(name), ", ".join(TRACKERS), did_you_mean(name, TRACKERS)
            )
        if find_spec(name) is None:
            raise missing_extra(name, "train" if name == "tensorboard" else "track")


def write_tracker(name: str, folder: Path) -> Path:
    """Write the logs of a run for one tracker; return where they are. Raises as :func:`check_trackers`."""
    check_trackers([name])
    return TRACKERS[name](folder)


def _write_like_wandb(module: str, folder: Path) -> Path:
    """Write one offline run per job, through the calls that wandb and trackio share."""
    root = folder / module
    root.mkdir(exist_ok=True)
    with _kept_in(root):
        tracker = import_module(module)
        for job in sorted(path for path in (folder / "checkpoints").glob("*") if path.is_dir()):
            options = {"mode": "offline", "dir": str(root)} if module == "wandb" else {}
            tracker.init(project=PROJECT, name=f"{folder.name}/{job.name}", **options)
            for row in _rows(job):
                tracker.log(row)
            tracker.finish()
        # wandb's helper process writes what is left after `finish` has returned; ending it waits for that.
        getattr(tracker, "teardown", lambda: None)()
    return root


@contextmanager
def _kept_in(root: Path) -> Iterator[None]:
    """Let a tracker write below a folder, and hold its tongue."""
    ours = {"WANDB_DIR": str(root), "WANDB_MODE": "offline", "WANDB_SILENT": "true", "TRACKIO_DIR": str(root)}
    ours |= dict.fromkeys(("WANDB__SERVICE_WAIT", "WANDB_INIT_TIMEOUT"), WAIT_S)  # a busy machine starts it late
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _rows(job: Path) -> Iterator[dict[str, Any]]:
    """Yield both logs of a job in the order of their episodes, names as ``train/loss``."""
    both = [(row["episodes"], table, row) for table in ("train", "curve") for row in read_logs([job], table)]
    for episodes, table, row in sorted(both, key=lambda entry: entry[0]):
        numbers = {name: v for name, v in row.items() if isinstance(v, int | float) and name not in _SKIPPED}
        yield {"episodes": episodes, **{f"{table}/{name}": value for name, value in numbers.items()}}


TRACKERS: dict[str, Callable[[Path], Path]] = {
    "tensorboard": write_board,
    "wandb": partial(_write_like_wandb, "wandb"),
    "trackio": partial(_write_like_wandb, "trackio"),
}
