"""The trace of a long campaign leaves for the disk while it is being played.

Rows collect until a chunk is full; each chunk becomes a whole Parquet file of its own, under its name only when it is
complete. A killed run therefore leaves files that any reader opens, all but the last chunk of rows. What never filled
a chunk stays in memory and travels with the campaign's other rows, so short campaigns write nothing here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from masim.sim.trace import CHUNK, Cells, Trace, TraceRow

PARTS = "trace.parts"
"""Folder of a run for the chunks of traces that are too long for memory; gone when the run has been closed."""
_TYPES = {str: pa.string(), int: pa.int64(), float: pa.float64()}
_ROW = TraceRow(0.0, "")
FIELDS = [pa.field(name, _TYPES[type(getattr(_ROW, name))]) for name in TraceRow._fields]


def trace_table(head: Mapping[str, str | int], rows: Sequence[Cells]) -> pa.Table:
    """Return rows as columns, the head's values repeated in front of them."""
    repeated = [pa.repeat(pa.scalar(value, _TYPES[type(value)]), len(rows)) for value in head.values()]
    columns = zip(*rows, strict=True) if rows else [()] * len(FIELDS)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, FIELDS, strict=True)]
    heads = [pa.field(name, array.type) for name, array in zip(head, repeated, strict=True)]
    return pa.Table.from_arrays([*repeated, *arrays], schema=pa.schema([*heads, *FIELDS]))


class TraceStream:
    """The trace of one campaign: give it to each day, then take the rest.

    ``folder`` is where full chunks go, under names that start with ``stem``; None keeps every row in memory.
    """

    def __init__(self, folder: Path | None, stem: str, chunk: int = CHUNK) -> None:
        self.parts: list[Path] = []
        """The files so far, in order; each holds exactly ``chunk`` rows."""
        self.rows = 0
        """Rows that were written to files."""
        self._folder = folder
        self._stem = stem
        self._chunk = chunk
        self._waiting: list[tuple[Mapping[str, str | int], Sequence[Cells]]] = []
        self._held = 0

    def trace(self, head: Mapping[str, str | int]) -> Trace:
        """Return the trace for a day: its rows come here, with the day's head in front of each."""
        if self._folder is None:
            return Trace()
        return Trace(sink=lambda rows: self.add(head, rows), chunk=self._chunk)

    def add(self, head: Mapping[str, str | int], rows: Sequence[Cells]) -> None:
        """Take rows over, and write a file whenever enough are together."""
        while self._folder is not None and self._held + len(rows) >= self._chunk:
            fits = self._chunk - self._held
            self._waiting.append((head, rows[:fits]))
            self._write(self._folder)
            rows = rows[fits:]
        if rows:
            self._waiting.append((head, rows))
            self._held += len(rows)

    def _write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{self._stem}-{len(self.parts):06}.parquet"
        temporary = file.with_name(f".{file.name}.part")
        try:
            pq.write_table(self._table(), temporary, compression="zstd")
            os.replace(temporary, file)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        self.parts.append(file)
        self.rows += self._chunk
        self._waiting, self._held = [], 0

    def _table(self) -> pa.Table:
        return pa.concat_tables([trace_table(head, rows) for head, rows in self._waiting]).combine_chunks()

    def rest(self) -> list[dict[str, Any]]:
        """Return the rows that no file holds, and forget them."""
        names = TraceRow._fields
        waiting, self._waiting, self._held = self._waiting, [], 0
        return [{**head, **dict(zip(names, row, strict=True))} for head, rows in waiting for row in rows]
