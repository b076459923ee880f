"""Judgements are never lost.

1. What is added is read again, with who and when; judging again adds a line, and the last one counts.
2. A process that is killed at any moment loses nothing that it acknowledged, and others go on.
3. An unfinished last line is dropped; any other damage is one error with its line, and no byte changes.
4. Impossible judgements are refused; a second writer is refused.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from masim.errors import ConfigError, RunError
from masim.feedback.labels import FILE, Label, LabelBook, current, read_labels

ROOT = Path(__file__).resolve().parents[2]
RULE = {"name": "rollout"}
WRITER = """
import sys
from pathlib import Path
from masim.feedback.labels import Label, LabelBook
with LabelBook(Path(sys.argv[1])) as book:
    for n in range(10**6):
        book.add(Label("ana", {"name": "rollout"}, f"x/{n}", f"y/{n}", "a"))
        sys.stdout.write(f"{n}\\n")
        sys.stdout.flush()
"""


def test_what_is_added_is_read_again_and_the_last_word_counts(tmp_path: Path) -> None:
    first = Label("ana", RULE, "x", "y", "a")
    scored = Label("bob", RULE, "x", "y", "b", 2.5, 7)
    again = Label("ana", RULE, "y", "x", "tie")
    with LabelBook(tmp_path) as book:
        for label in (first, scored, again):
            book.add(label)
    assert read_labels(tmp_path) == [first, scored, again]
    assert current(read_labels(tmp_path)) == [scored, again]
    assert first.when.endswith("+00:00") and first.when <= again.when


def test_kill_minus_nine_loses_nothing_acknowledged(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    assert writer.stdout is not None
    for _ in range(25):
        acknowledged = int(writer.stdout.readline())
    writer.send_signal(signal.SIGKILL)
    acknowledged = int([str(acknowledged), *writer.stdout.read().splitlines()][-1])
    writer.wait()
    writer.stdout.close()
    with LabelBook(tmp_path) as book:
        assert [label.a for label in book.labels][: acknowledged + 1] == [f"x/{n}" for n in range(acknowledged + 1)]
        book.add(Label("ana", RULE, "x", "y", "b"))
    assert read_labels(tmp_path)[-1].verdict == "b"


def test_an_unfinished_last_line_was_never_stored(tmp_path: Path) -> None:
    with LabelBook(tmp_path) as book:
        book.add(Label("ana", RULE, "x", "y", "a"))
    whole = (tmp_path / FILE).read_bytes()
    for cut in range(1, len(whole) - 1, 7):
        (tmp_path / FILE).write_bytes(whole + whole[:cut])
        with LabelBook(tmp_path) as book:
            assert len(book.labels) == 1
        assert (tmp_path / FILE).read_bytes() == whole
    (tmp_path / FILE).write_bytes(whole[:-1])  # as an editor leaves it
    with LabelBook(tmp_path) as book:
        book.add(Label("ana", RULE, "x", "z", "a"))
    assert len(read_labels(tmp_path)) == 2


GOOD = {"schema": 1, "who": "ana", "unit": RULE, "a": "x", "b": "y", "verdict": "a", "when": "2026-12-01T00:00:00"}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"{", "not a JSON line"),
        (b"\xff\xfe", "not a JSON line"),
        (b"[" * 100_000, "not a JSON line"),
        (b"[1]", "another version"),
        (json.dumps({**GOOD, "schema": 2}).encode(), "another version; got 2"),
        (json.dumps({**GOOD, "verdict": "c"}).encode(), "unknown verdict; got 'c'"),
        (json.dumps({**GOOD, "more": 1}).encode(), "unknown keys; got more"),
        (json.dumps({**GOOD, "unit": "rollout"}).encode(), "not a credit unit"),
        (json.dumps({**GOOD, "score_a": 11, "score_b": 1}).encode(), "not a score"),
    ],
)
def test_damage_is_one_error_with_its_line_and_changes_nothing(tmp_path: Path, line: bytes, says: str) -> None:
    good = json.dumps(GOOD).encode() + b"\n"
    damaged = good + line + b"\n" + good
    (tmp_path / FILE).write_bytes(damaged)
    with pytest.raises(RunError, match=says) as error:
        LabelBook(tmp_path)
    assert f"{FILE}:2" in error.value.where
    assert (tmp_path / FILE).read_bytes() == damaged
    (tmp_path / FILE).write_bytes(good)
    with LabelBook(tmp_path) as book:  # the lock was given back
        assert len(book.labels) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"who": " "}, {"who": "a" * 81}, {"who": "a\nb"}, {"a": ""}, {"b": "x"}, {"verdict": "A"}, {"score_a": 3.0},
        {"score_a": 3.0, "score_b": 4.0}, {"score_a": float("nan"), "score_b": 1.0}, {"score_a": True, "score_b": 0.0},
    ],
)  # fmt: skip
def test_impossible_judgements_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        Label(**{"who": "ana", "unit": RULE, "a": "x", "b": "y", "verdict": "a", **wrong})  # type: ignore[arg-type]


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    with LabelBook(tmp_path), pytest.raises(RunError, match="another process is labelling"):
        LabelBook(tmp_path)


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    with LabelBook(tmp_path) as book:
        book.add(Label("ana", RULE, "x", "y", "a"))
        before = (tmp_path / FILE).read_bytes()
        monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:9]))
        with pytest.raises(OSError, match="disk is full"):
            book.add(Label("ana", RULE, "x", "z", "a"))
        assert (tmp_path / FILE).read_bytes() == before
        assert len(book.labels) == 1
