"""Run folders: one dated folder per run, valid at every moment.

``run.json`` is there from the start with status ``running``; tables are written under a temporary name and renamed
when the run closes, also when it is interrupted. Nothing outside the folder is touched. The files and their columns
are described in :mod:`masim.analysis.load`.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from masim import __version__
from masim.errors import RunError
from masim.rollout.stream import PARTS

SCHEMA = 1
LOCK = ".lock"
_VERSIONED = ("numpy", "simpy", "networkx", "torch", "pyarrow", "pettingzoo", "gymnasium")


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    found = {"masim": __version__, "python": platform.python_version()}
    for name in _VERSIONED:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def new_folder(verb: str, scenario: str, out: Path | None) -> Path:
    """Create and return the run's folder: ``out``, or a dated one under ``runs/``.

    Raises RunError when ``out`` exists and is not empty.
    """
    if out is not None:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            fix = "name a new folder, or delete this one"
            raise RunError("the output folder exists and is not empty", str(out), "", "", fix)
        out.mkdir(parents=True, exist_ok=True)
        return out
    stem = f"{datetime.now():%Y-%m-%d_%H%M%S}_{verb}_{scenario.replace('/', '.')}"
    for n in range(1000):
        folder = Path("runs") / (stem if n == 0 else f"{stem}_{n}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    raise RunError("no free name for a run folder", str(Path("runs") / stem))


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file under a temporary name and rename it into place."""
    temporary = path.with_name(f".{path.name}.part")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


class RunFolder:
    """The folder of one run. Use as a context manager: leaving it closes the tables and the status.

    Raises RunError while another process writes the same folder.
    """

    def __init__(self, folder: Path, head: Mapping[str, Any]) -> None:
        self.path = folder
        self._lock = FileLock(folder / LOCK, timeout=0)
        try:
            self._lock.acquire()
        except Timeout as error:
            fix = "wait for it, or stop it first"
            raise RunError("another process is writing this run", str(folder), "", "", fix) from error
        self._head: dict[str, Any] = {
            "schema": SCHEMA,
            **head,
            "versions": versions(),
            "started": _now(),
            "finished": None,
            "status": "running",
        }
        self._writers: dict[str, pq.ParquetWriter] = {}
        for leftover in folder.glob(".*.part"):
            leftover.unlink()
        self._write_head()

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: object) -> None:
        stopped = kind is not None and issubclass(kind, KeyboardInterrupt)
        self.close("complete" if kind is None else "interrupted" if stopped else "failed")

    def _write_head(self) -> None:
        write_atomically(self.path / "run.json", json.dumps(self._head, indent=1, default=str).encode())

    def append(self, table: str, columns: Mapping[str, Any]) -> None:
        """Append rows (equal-length columns) to ``<table>.parquet``; the first call fixes the columns."""
        batch = pa.table(dict(columns))
        if batch.num_rows == 0 and table not in self._writers:
            return
        writer = self._writers.get(table)
        if writer is None:
            writer = self._writers[table] = pq.ParquetWriter(self._part(table), batch.schema, compression="zstd")
        try:
            writer.write_table(batch.cast(writer.schema))
        except OSError:
            self._drop(table)
            raise

    def append_file(self, table: str, file: Path) -> None:
        """Append the rows of a Parquet file and delete it."""
        rows = pq.read_table(file, memory_map=False)
        self.append(table, dict(zip(rows.column_names, rows.columns, strict=True)))
        file.unlink()

    def _part(self, table: str) -> Path:
        return self.path / f".{table}.parquet.part"

    def _drop(self, table: str) -> None:
        """Give up a table that cannot be written whole, so that no broken file stays and its space is free again."""
        writer = self._writers.pop(table)
        with contextlib.suppress(OSError, ValueError):  # it may be broken in itself
            writer.close()
        writer.is_open = False  # else it tries once more, and complains, when it is collected
        self._part(table).unlink(missing_ok=True)

    def write_json(self, name: str, value: Any) -> None:
        """Write a JSON file of the run."""
        write_atomically(self.path / name, json.dumps(value, indent=1, default=str).encode())

    def close(self, status: str) -> None:
        """Finish the tables and the head.

        A table that cannot be finished (a full disk) is dropped, the run has failed, and its OSError is raised again.
        """
        problem: OSError | None = None
        for table, writer in list(self._writers.items()):
            try:
                writer.close()
                os.replace(self._part(table), self.path / f"{table}.parquet")
            except OSError as error:
                self._drop(table)
                problem, status = error, "failed"
        self._writers.clear()
        shutil.rmtree(self.path / PARTS, ignore_errors=True)
        self._head["status"] = status
        self._head["finished"] = _now()
        self._write_head()
        self._lock.release()
        with contextlib.suppress(OSError):  # only tidiness: the lock is held by the process, not by the file
            (self.path / LOCK).unlink(missing_ok=True)
        if problem is not None:
            raise problem


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Turn a list of rows with equal keys into columns."""
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
