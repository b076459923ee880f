"""Judgements of people, one JSON line each, in ``labels.jsonl`` of a run folder.

Life cycle: :func:`read_labels` reads them; a :class:`LabelBook` is opened by whoever adds some, holds a lock while it
is open, and appends. A line is on the disk before its judgement is acknowledged, and no line is ever changed: who
judges a pair again adds a line, and the last one counts (:func:`current`). What a killed process left of a last line
was never acknowledged and is dropped when the file is opened for writing; any other damage is an error, and the file
stays as it is.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from masim.errors import ConfigError, RunError

FILE = "labels.jsonl"
LOCK = ".labels.lock"
SCHEMA = 1
VERDICTS = ("a", "b", "tie", "skip")
"""``skip``: the person cannot or will not say; it is stored, so that the pair does not come again."""
MAX_SCORE = 10.0
MAX_WHO = 80


@dataclass(frozen=True, slots=True)
class Label:
    """One judgement on a pair of units. Raises ConfigError for impossible values."""

    who: str
    unit: Mapping[str, Any]
    """The unit rule by which the run was cut: its name and options."""
    a: str
    b: str
    verdict: str
    score_a: float | None = None
    """What the person gave each, from 0 to :data:`MAX_SCORE`, where they gave scores instead of a verdict."""
    score_b: float | None = None
    when: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="milliseconds"))
    """UTC, ISO 8601."""

    def __post_init__(self) -> None:
        texts: tuple[tuple[str, object], ...] = (
            ("who", self.who), ("a", self.a), ("b", self.b), ("when", self.when),
        )  # fmt: skip
        for name, value in texts:
            if not isinstance(value, str) or not value.strip():
                raise ConfigError("not a text", name, repr(value), "a text that is not empty")
        if len(self.who) > MAX_WHO or not self.who.isprintable():
            raise ConfigError("not a name", "who", repr(self.who), f"at most {MAX_WHO} printable characters")
        if not _is_rule(self.unit):
            raise ConfigError("not a credit unit", "unit", repr(self.unit), "{name: rollout, ...}")
        if self.a == self.b:
            raise ConfigError("a unit is compared with itself", "b", self.b)
        if self.verdict not in VERDICTS:
            raise ConfigError("unknown verdict", "verdict", repr(self.verdict), ", ".join(VERDICTS))
        if (self.score_a is None) != (self.score_b is None):
            raise ConfigError("one unit has a score, the other has none", "score_a, score_b")
        for name, score in (("score_a", self.score_a), ("score_b", self.score_b)):
            if score is not None and not _is_score(score):
                raise ConfigError("not a score", name, repr(score), f"0 to {MAX_SCORE:g}")
        if self.score_a is not None and self.verdict != verdict_of(self.score_a, self.score_b or 0.0):
            raise ConfigError("verdict and scores contradict each other", "verdict", repr(self.verdict))

    @property
    def pair(self) -> frozenset[str]:
        """The two units, whichever was shown left."""
        return frozenset((self.a, self.b))


def _is_rule(unit: object) -> bool:
    return isinstance(unit, Mapping) and isinstance(unit.get("name"), str)


def _is_score(score: object) -> bool:
    real = isinstance(score, int | float) and not isinstance(score, bool)
    return real and math.isfinite(float(score)) and 0 <= float(score) <= MAX_SCORE  # type: ignore[arg-type]


def verdict_of(score_a: float, score_b: float) -> str:
    """Return the verdict that two scores amount to."""
    return "tie" if score_a == score_b else "a" if score_a > score_b else "b"


def current(labels: Iterable[Label]) -> list[Label]:
    """Return the judgements that count: the last of each person on each pair, in the order of the file."""
    last: dict[tuple[str, frozenset[str]], Label] = {}
    for label in labels:
        last.pop((label.who, label.pair), None)
        last[label.who, label.pair] = label
    return list(last.values())


def read_labels(folder: Path) -> list[Label]:
    """Return every stored judgement; none where the run has no file of them.

    Raises RunError with file:line for a damaged line. An unfinished last line is no damage: it was never stored.
    """
    file = folder / FILE
    if not file.exists():
        return []
    data = file.read_bytes()
    return [_label(line, f"{file}:{number}") for number, line in enumerate(_whole(data).splitlines(), 1)]


def _whole(data: bytes) -> bytes:
    """Return the lines that were written to their end."""
    end = data.rfind(b"\n") + 1
    tail = data[end:]
    try:
        return data[:end] + (tail + b"\n" if tail and isinstance(json.loads(tail), dict) else b"")
    except ValueError:
        return data[:end]


def _label(line: bytes, where: str) -> Label:
    fix = "take the line out of the file, or restore the file; nothing was changed"
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RunError("the labels file is damaged: not a JSON line", where, _shown(line), "", fix) from error
    names = [f.name for f in fields(Label)]
    if not isinstance(raw, dict) or raw.get("schema") != SCHEMA:
        found = repr(raw.get("schema")) if isinstance(raw, dict) else type(raw).__name__
        raise RunError("a judgement of another version", where, found, f"schema {SCHEMA}", fix)
    values = {name: value for name, value in raw.items() if name != "schema"}
    missing = {"who", "unit", "a", "b", "verdict", "when"} - set(values)
    if missing or set(values) - set(names):
        found = ", ".join(sorted(missing | set(values) - set(names)))
        raise RunError("the labels file is damaged: missing or unknown keys", where, found, ", ".join(names), fix)
    try:
        return Label(**values)
    except ConfigError as error:
        problem = f"the labels file is damaged: {error.problem}"
        raise RunError(problem, f"{where}: {error.where}", error.value, error.allowed, fix) from error


def _shown(line: bytes) -> str:
    return line[:200].decode("utf-8", "replace")


class LabelBook:
    """The judgements of a run, open for more. Use as a context manager.

    Raises RunError while another process holds them, and as :func:`read_labels`, before anything is written.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = FileLock(folder / LOCK, timeout=0)
        try:
            self._lock.acquire()
        except Timeout as error:
            raise RunError("another process is labelling this run", str(folder), "", "", "use its page") from error
        try:
            self.labels = read_labels(folder)
            self._file = os.open(folder / FILE, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            self._mend(folder / FILE)
        except BaseException:
            self._lock.release()
            raise

    def _mend(self, file: Path) -> None:
        """End the file where its last judgement does."""
        data = file.read_bytes()
        whole = _whole(data)
        if len(whole) < len(data):
            os.ftruncate(self._file, len(whole))
        elif len(whole) > len(data):
            os.write(self._file, b"\n")

    def add(self, label: Label) -> None:
        """Store a judgement. When this returns it is on the disk; when it raises OSError the file is as before."""
        line = json.dumps({"schema": SCHEMA, **asdict(label)}, ensure_ascii=False).encode() + b"\n"
        before = os.fstat(self._file).st_size
        try:
            if os.write(self._file, line) != len(line):
                raise OSError(28, "the disk is full", FILE)
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, before)
            raise
        self.labels.append(label)

    def close(self) -> None:
        """Let others label."""
        os.close(self._file)
        self._lock.release()

    def __enter__(self) -> LabelBook:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
