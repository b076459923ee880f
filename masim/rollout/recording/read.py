"""``read_recording``: a recording back from its file, checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from masim.errors import RunError
from masim.rollout.recording.columns import KEY, SCHEMA, table_schema


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording in memory. The columns of ``table`` are those of :mod:`masim.rollout.recording.columns`."""

    path: Path
    env: str
    kind: str
    agents: Mapping[str, Mapping[str, Any]]
    """Spaces per agent: ``shape``, ``low``, ``high``, ``mask_in_observation``, and ``actions``: a number, or a list of
    them where one decision is several."""
    parts: tuple[str, ...]
    versions: Mapping[str, str]
    table: pa.Table

    def __len__(self) -> int:
        return int(self.table.num_rows)


def read_recording(path: str | Path) -> Recording:
    """Read a recording. Raises RunError for a file that is absent, damaged, none, or of another version."""
    file = Path(path)
    if not file.is_file():
        raise RunError("there is no such recording", str(file), "", "", "a recorder that is not closed leaves none")
    try:
        table = pq.read_table(file, memory_map=False)
    except (OSError, pa.ArrowException) as error:
        raise RunError("the recording is damaged", str(file), "", "", "record it again") from error
    head = json.loads((table.schema.metadata or {}).get(KEY, b"{}"))
    if head.get("schema") != SCHEMA:
        found = f"schema {head['schema']!r}" if "schema" in head else "no recording"
        raise RunError("not a recording of this version", str(file), found, f"schema {SCHEMA}", "record it again")
    missing = set(table_schema(head["parts"]).names) - set(table.column_names)
    if missing:
        raise RunError("the recording lacks columns", str(file), ", ".join(sorted(missing)), "", "record it again")
    return Recording(file, head["env"], head["kind"], head["agents"], tuple(head["parts"]), head["versions"], table)
