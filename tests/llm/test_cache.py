"""What is made once is made once, whole, and refused when it was changed.

1. Many at the same time make it once.
2. A maker that fails leaves nothing that looks finished, and the next one makes it.
3. A changed, a missing and an unreadable file are each one error that says what to delete.
"""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from masim.errors import ConfigError
from masim.llm.cache import DIGESTS, cache_root, made_once


def write(folder: Path) -> None:
    (folder / "a.txt").write_text("a")
    (folder / "b.bin").write_bytes(b"b" * 100_000)


def test_many_at_once_make_it_once(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(folder: Path) -> None:
        made.append(folder)
        write(folder)

    crowd = [threading.Thread(target=made_once, args=(tmp_path / "deep/model", make)) for _ in range(8)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    assert len(made) == 1
    assert {path.name for path in (tmp_path / "deep").iterdir()} == {"model", "model.lock"}


def test_a_maker_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        write(folder)
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        made_once(tmp_path / "model", fail)
    assert [path.name for path in tmp_path.iterdir()] == ["model.lock"]
    assert (made_once(tmp_path / "model", write) / "a.txt").read_text() == "a"


@pytest.mark.parametrize("harm", ["changed", "missing", "no digests"])
def test_a_damaged_folder_is_refused_with_what_to_delete(tmp_path: Path, harm: str) -> None:
    folder = made_once(tmp_path / "model", write)
    if harm == "changed":
        (folder / "b.bin").write_bytes(b"b" * 99_999 + b"c")
    else:
        (folder / ("a.txt" if harm == "missing" else DIGESTS)).unlink()
    with pytest.raises(ConfigError, match=f"the cache is damaged.*delete {folder}"):
        made_once(folder, write)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MASIM_CACHE", str(tmp_path / "file"))
    with pytest.raises(ConfigError, match="set MASIM_CACHE"):
        made_once(cache_root() / "model", write)
