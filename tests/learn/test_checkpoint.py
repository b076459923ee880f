"""Checkpoints appear whole or not at all, and damaged ones are refused by name."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch

from masim.errors import RunError
from masim.learn import checkpoint
from masim.learn.checkpoint import Checkpoint


def sample(update: int = 3) -> Checkpoint:
    weights = {"layer.weight": torch.arange(6.0).reshape(2, 3), "tied": torch.arange(6.0).reshape(2, 3)[:1]}
    return Checkpoint(update, weights, {"0/step": torch.tensor(3.0)}, {"totals": {"draws": 4}})


def test_what_is_written_is_read(tmp_path: Path) -> None:
    folder = checkpoint.write(tmp_path, sample(), keep=2)
    found = checkpoint.read(folder)
    assert (found.update, found.state) == (3, {"totals": {"draws": 4}})
    assert torch.equal(found.weights["layer.weight"], sample().weights["layer.weight"])
    assert torch.equal(found.optimizer["0/step"], torch.tensor(3.0))
    assert sorted(path.name for path in folder.iterdir()) == ["state.json", "tensors.safetensors"]


def test_only_the_newest_are_kept_and_the_newest_is_found(tmp_path: Path) -> None:
    for update in (1, 2, 10, 10):
        checkpoint.write(tmp_path, sample(update), keep=2)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["update-000002", "update-000010"]
    assert checkpoint.latest(tmp_path).name == "update-000010"


def test_a_writer_killed_half_way_leaves_the_last_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint.write(tmp_path, sample(1), keep=2)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(os, "replace", killed)
        checkpoint.write(tmp_path, sample(2), keep=2)
    assert checkpoint.read(checkpoint.latest(tmp_path)).update == 1
    checkpoint.write(tmp_path, sample(3), keep=2)
    assert not list(tmp_path.glob(".writing-*"))


@pytest.mark.parametrize("name", ["tensors.safetensors", "state.json"])
@pytest.mark.parametrize("keep", [0, 40])
def test_truncated_files_are_refused(tmp_path: Path, name: str, keep: int) -> None:
    folder = checkpoint.write(tmp_path, sample(), keep=1)
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:keep])
    with pytest.raises(RunError, match="truncated or damaged"):
        checkpoint.read(folder)


def test_a_flipped_byte_is_refused(tmp_path: Path) -> None:
    folder = checkpoint.write(tmp_path, sample(), keep=1)
    content = bytearray((folder / "tensors.safetensors").read_bytes())
    content[-1] ^= 1
    (folder / "tensors.safetensors").write_bytes(content)
    with pytest.raises(RunError, match="damaged"):
        checkpoint.read(folder)


def test_other_versions_are_refused(tmp_path: Path) -> None:
    folder = checkpoint.write(tmp_path, sample(), keep=1)
    head = json.loads((folder / "state.json").read_text())
    (folder / "state.json").write_text(json.dumps({**head, "version": 99}))
    with pytest.raises(RunError, match="another version"):
        checkpoint.read(folder)


def test_missing_ones_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no checkpoint"):
        checkpoint.latest(tmp_path)
    with pytest.raises(RunError, match="no checkpoint"):
        checkpoint.read(tmp_path)
