"""Read a run folder: the only input of the analysis layer. Live objects never come here.

Files of a folder, version 1. ``run.json`` is required, and at least one table with results; the rest may be absent.

* ``run.json``: ``schema`` 1, ``kind`` (run, train, eval, demo), ``scenario``, ``scenario_hash``, ``title``, ``seed``,
  ``versions`` {name: version}, ``command``, ``started``, ``finished`` (null while running), ``config`` {...},
  ``sources`` [[path, value, source], ...], ``status`` (running, complete, interrupted, failed).
* ``outcomes.parquet``: one row per order, columns :data:`OUTCOMES`. ``decisions`` and ``calls`` belong to the sample
  (episode, agent) and are repeated on each of its orders' rows. An episode is named by (arm, train_seed, episode);
  two arms met the same instance when (campaign_seed, day) agree.
* ``trace.parquet``: one row per event, columns :data:`TRACE`.
* ``train.parquet``: one row per update, arm and training seed, columns :data:`TRAIN` and any others. ``episodes`` is
  the total so far; the trainer's own names (:data:`ALIASES`) do as well.
* ``curve.parquet``: held-out evaluations during training, columns :data:`CURVE`.
* ``metrics.json``: written by :func:`masim.analysis.summary.summarise`.

Times are simulated seconds, money is cents, rates lie in [0, 1]. ``train_seed`` is -1 where nothing was trained.
Absent tables come back empty, with their columns; absent optional columns are filled with their default.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from masim.errors import RunError, did_you_mean

SCHEMA = 1
KINDS = ("run", "train", "eval", "demo")
STATUSES = ("running", "complete", "interrupted", "failed")

OUTCOMES = {
    "arm": "str", "train_seed": "int", "episode": "int", "campaign_seed": "int", "day": "int", "agent": "str",
    "order": "str", "completed": "bool", "safe": "bool", "cost_cents": "int", "duplicates": "int", "orphans": "int",
    "unsupported_claims": "int", "legs_delivered": "int", "legs": "int", "landed_s": "float", "failure": "str",
    "decisions": "int", "calls": "int",
}  # fmt: skip
TRACE = {
    "arm": "str", "train_seed": "int", "episode": "int", "campaign_seed": "int", "day": "int", "t_s": "float",
    "event": "str", "agent": "str", "order": "str", "leg": "int", "stop": "str", "verb": "str", "vendor": "str",
    "slot": "int", "status": "str", "code": "int", "latency_s": "float", "request_id": "int", "cause_id": "str",
    "amount_cents": "int", "note": "str",
}  # fmt: skip
TRAIN = {
    "arm": "str", "train_seed": "int", "update": "int", "episodes": "int", "completion": "float",
    "all_failed": "float",
}  # fmt: skip
CURVE = {"arm": "str", "train_seed": "int", "episodes": "int", "completion": "float", "safe": "float"}
TABLES: Mapping[str, Mapping[str, str]] = {"outcomes": OUTCOMES, "trace": TRACE, "train": TRAIN, "curve": CURVE}
OPTIONAL: Mapping[str, Any] = {"arm": "", "train_seed": -1, "safe": float("nan")}
ALIASES: Mapping[str, str] = {"episodes_so_far": "episodes", "completion_mean": "completion"}
"""Other names under which a column may come; they count only where the proper one is absent."""

_EMPTY = {"str": "str", "int": "int64", "float": "float64", "bool": "bool"}


@dataclass(frozen=True, slots=True)
class RunMeta:
    """``run.json``, checked. ``finished`` is empty while the run is going on."""

    kind: str
    scenario: str
    scenario_hash: str
    title: str
    seed: int
    versions: Mapping[str, str]
    command: str
    started: str
    finished: str
    config: Mapping[str, Any]
    sources: tuple[tuple[str, str, str], ...]
    status: str


@dataclass(frozen=True, slots=True)
class RunData:
    """A run folder in memory. Tables have the columns that the module's text names; absent ones are empty."""

    path: Path
    meta: RunMeta
    outcomes: pd.DataFrame
    trace: pd.DataFrame
    train: pd.DataFrame
    curve: pd.DataFrame


def load_run(path: Path | str, allow_running: bool = False) -> RunData:
    """Read the folder of a finished or interrupted run.

    Raises RunError for a folder that is missing, half written (unless ``allow_running``, truncated files are refused
    all the same), of another schema version, or without any results.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise RunError("there is no such run folder", str(folder), "", "", "list them with: ls runs")
    meta = read_meta(folder / "run.json")
    if meta.status == "running" and not allow_running:
        killed = f"go on with: masim train --resume {folder}" if meta.kind in ("train", "demo") else "run it again"
        fix = f"wait until it has finished; if it was killed, {killed}"
        raise RunError("the run is half written", str(folder / "run.json"), "status 'running'", "", fix)
    tables = {name: _table(folder, name) for name in TABLES}
    if all(table.empty for table in tables.values()):
        names = ", ".join(f"{name}.parquet" for name in TABLES)
        raise RunError("the run folder holds no results", str(folder), "", f"at least one of {names}", "run it again")
    return RunData(folder, meta, **tables)


def read_meta(file: Path) -> RunMeta:
    """Read and check ``run.json``. Raises RunError with file:line for broken JSON, unknown kind or other version."""
    raw = _json_object(file)
    if raw.get("schema") != SCHEMA:
        fix = "read it with the masim version that wrote it, or run it again"
        raise RunError("the run is of another version", str(file), f"schema {raw.get('schema')!r}", str(SCHEMA), fix)
    for key, allowed in (("kind", KINDS), ("status", STATUSES)):
        value = str(raw.get(key))
        if value not in allowed:
            raise RunError(f"unknown {key}", str(file), repr(value), ", ".join(allowed), did_you_mean(value, allowed))
    return RunMeta(
        kind=raw["kind"], scenario=_text(raw, "scenario"), scenario_hash=_text(raw, "scenario_hash"),
        title=_text(raw, "title"), seed=_whole(raw, "seed", file), versions=_versions(raw, file),
        command=_text(raw, "command"), started=_text(raw, "started"), finished=_text(raw, "finished"),
        config=_mapping(raw, "config", file), sources=_sources(raw, file), status=raw["status"],
    )  # fmt: skip


def _json_object(file: Path) -> dict[str, Any]:
    if not file.is_file():
        raise RunError("this is not a run folder: it has no run.json", str(file), "", "", "name a folder under runs/")
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise RunError(f"run.json is damaged: {error.msg}", f"{file}:{error.lineno}", "", "", "run it again") from error
    except RecursionError as error:
        raise RunError("run.json is damaged: nested too deeply", str(file), "", "", "run it again") from error
    except UnicodeDecodeError as error:
        raise RunError("run.json is damaged: not UTF-8 text", str(file), "", "", "run it again") from error
    if not isinstance(raw, dict):
        raise RunError("run.json is damaged: not a JSON object", str(file), type(raw).__name__, "", "run it again")
    return raw


def _text(raw: Mapping[str, Any], key: str) -> str:
    value = raw.get(key)
    return "" if value is None else str(value)


def _whole(raw: Mapping[str, Any], key: str, file: Path) -> int:
    value = raw.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int):
        raise RunError(f"{key} is not a whole number", str(file), repr(value), "an integer")
    return value


def _mapping(raw: Mapping[str, Any], key: str, file: Path) -> Mapping[str, Any]:
    value = raw.get(key) or {}
    if not isinstance(value, dict):
        raise RunError(f"{key} is not an object", str(file), type(value).__name__, "an object")
    return value


def _versions(raw: Mapping[str, Any], file: Path) -> Mapping[str, str]:
    return {str(name): str(version) for name, version in _mapping(raw, "versions", file).items()}


def _sources(raw: Mapping[str, Any], file: Path) -> tuple[tuple[str, str, str], ...]:
    rows = raw.get("sources") or []
    if not isinstance(rows, list) or any(not isinstance(row, list) or len(row) != 3 for row in rows):
        raise RunError("sources is not a list of rows", str(file), "", "[[path, value, source], ...]")
    return tuple((str(path), str(value), str(source)) for path, value, source in rows)


def _table(folder: Path, name: str) -> pd.DataFrame:
    """Read one table, fill its optional columns and give the known ones their types."""
    file, columns = folder / f"{name}.parquet", TABLES[name]
    if not file.is_file():
        return pd.DataFrame({column: pd.Series(dtype=_EMPTY[kind]) for column, kind in columns.items()})
    try:
        frame = pd.read_parquet(file, engine="pyarrow")
    except (OSError, ValueError) as error:  # pyarrow's ArrowInvalid is a ValueError
        raise RunError("the table is truncated or damaged", str(file), "", "", "run it again") from error
    frame = frame.rename(columns={old: new for old, new in ALIASES.items() if new not in frame.columns})
    absent = [column for column in columns if column not in frame.columns]
    missing = [column for column in absent if column not in OPTIONAL]
    if missing:
        raise RunError("the table lacks columns", str(file), ", ".join(missing), ", ".join(columns), "run it again")
    frame = frame.assign(**{column: OPTIONAL[column] for column in absent})
    return frame.assign(**{column: _typed(frame[column], kind, file) for column, kind in columns.items()})


def _typed(column: pd.Series[Any], kind: str, file: Path) -> pd.Series[Any]:
    """Return the column as its kind. Raises RunError when its values are of another kind."""
    try:
        if kind == "str":
            return column.fillna("").astype("str")
        if kind == "float":
            return column.astype("float64")
        return column.astype("bool" if kind == "bool" else "int64")
    except (TypeError, ValueError) as error:
        raise RunError(f"column {column.name!r} is not {kind}", str(file), str(column.dtype), kind) from error
