"""Checkpoints: tensors in safetensors, everything else in JSON, both under one folder that appears at once.

``<root>/update-000012/{tensors.safetensors, state.json}``. The folder is written under a temporary name, flushed and
renamed, so a reader never sees half of one; the JSON names the version of the layout and the hash of the tensors, so
a truncated copy is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors.torch import load, save
from torch import Tensor

from masim.errors import RunError

VERSION = 1
_TENSORS, _STATE = "tensors.safetensors", "state.json"
_PREFIX, _TEMPORARY = "update-", ".writing-"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of a trainer. ``state`` holds JSON values only."""

    update: int
    weights: Mapping[str, Tensor]
    optimizer: Mapping[str, Tensor]
    """Keys ``<parameter index>/<name>``."""
    state: Mapping[str, Any]
    critic: Mapping[str, Tensor] = field(default_factory=dict)
    """Of an estimator that has one."""


def write(root: Path, checkpoint: Checkpoint, keep: int) -> Path:
    """Write a checkpoint and delete all but the newest ``keep``; return its folder.

    A folder of the same update is replaced; leftovers of a killed writer are removed. Raises OSError when the disk
    refuses.
    """
    root.mkdir(parents=True, exist_ok=True)
    for leftover in root.glob(f"{_TEMPORARY}*"):
        shutil.rmtree(leftover)
    final = root / f"{_PREFIX}{checkpoint.update:06d}"
    staging, replaced = root / f"{_TEMPORARY}{final.name}", root / f"{_TEMPORARY}replaced"
    staging.mkdir()
    tensors = save(_flatten(checkpoint))
    head = {"version": VERSION, "update": checkpoint.update, "tensors_sha256": hashlib.sha256(tensors).hexdigest()}
    _write_file(staging / _TENSORS, tensors)
    _write_file(staging / _STATE, json.dumps({**head, "state": checkpoint.state}, indent=1, sort_keys=True).encode())
    if final.exists():
        os.replace(final, replaced)
    os.replace(staging, final)
    for old in [*_folders(root)[:-keep], *root.glob(f"{_TEMPORARY}*")]:
        shutil.rmtree(old)
    return final


def latest(root: Path) -> Path:
    """Return the newest checkpoint folder under ``root``. Raises RunError when there is none."""
    found = _folders(root)
    if not found:
        raise RunError("no checkpoint here", str(root), "", f"{_PREFIX}NNNNNN folders", "train first, or give the run")
    return found[-1]


def read(folder: Path) -> Checkpoint:
    """Read one checkpoint folder. Raises RunError when it is missing, damaged, truncated or of another version."""
    head = _read_head(folder / _STATE)
    path = folder / _TENSORS
    if not path.is_file():
        raise RunError("checkpoint without tensors", str(path), "", "", "use an older checkpoint")
    raw = path.read_bytes()
    if hashlib.sha256(raw).hexdigest() != head["tensors_sha256"]:
        raise RunError("checkpoint is truncated or damaged", str(path), "", "", "use an older checkpoint")
    tensors = load(raw)
    parts = {
        kind: {name.removeprefix(kind + "/"): tensor for name, tensor in tensors.items() if name.startswith(kind + "/")}
        for kind in ("weights", "optimizer", "critic")
    }
    return Checkpoint(int(head["update"]), parts["weights"], parts["optimizer"], head["state"], parts["critic"])


def _read_head(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise RunError("no checkpoint here", str(path), "", "", "give a folder that holds state.json")
    try:
        head = json.loads(path.read_text("utf-8"))
        version = head["version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunError("checkpoint is truncated or damaged", str(path), str(error), "", "use an older one") from error
    if version != VERSION:
        fix = "read it with the masim that wrote it"
        raise RunError("checkpoint of another version", str(path), str(version), str(VERSION), fix)
    missing = {"update", "tensors_sha256", "state"} - set(head)
    if missing:
        raise RunError("checkpoint is truncated or damaged", str(path), f"without {', '.join(sorted(missing))}")
    return dict(head)


def _flatten(checkpoint: Checkpoint) -> dict[str, Tensor]:
    named = {f"weights/{name}": tensor for name, tensor in checkpoint.weights.items()}
    named |= {f"optimizer/{name}": tensor for name, tensor in checkpoint.optimizer.items()}
    named |= {f"critic/{name}": tensor for name, tensor in checkpoint.critic.items()}
    return {name: tensor.detach().cpu().contiguous().clone() for name, tensor in named.items()}


def _write_file(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _folders(root: Path) -> list[Path]:
    return sorted(path for path in root.glob(f"{_PREFIX}*") if path.is_dir())
