"""Training logs as event files for TensorBoard, when it is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from masim.errors import missing_extra
from masim.study.training import read_logs


def available() -> bool:
    """Return whether TensorBoard is installed."""
    return find_spec("tensorboard") is not None and find_spec("torch") is not None


def require() -> None:
    """Raise MissingExtraError unless TensorBoard is installed."""
    if not available():
        raise missing_extra("tensorboard", "train")


def write_board(folder: Path) -> Path:
    """Write the logs of every training job of a run as scalars over episodes; return the folder of event files.

    Event files of an earlier call are replaced. Raises MissingExtraError without TensorBoard.
    """
    require()
    root = folder / "tensorboard"
    for job in sorted(path for path in (folder / "checkpoints").glob("*") if path.is_dir()):
        _write(root / job.name, job)
    return root


def _write(target: Path, job: Path) -> None:
    from torch.utils.tensorboard import SummaryWriter

    for old in target.glob("events.*"):
        old.unlink()
    with SummaryWriter(str(target)) as writer:
        for table in ("train", "curve"):
            for row in read_logs([job], table):
                _scalars(writer, table, row)


def _scalars(writer: Any, table: str, row: dict[str, Any]) -> None:
    for name, value in row.items():
        if isinstance(value, int | float) and name not in ("train_seed", "episodes"):
            writer.add_scalar(f"{table}/{name}", value, row["episodes"])
