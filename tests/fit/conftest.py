"""Small delivery histories of the SCMS kind, written in whatever dialect a test asks for."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from fit.histories import BASE, HEADER, Write


@pytest.fixture
def history(tmp_path: Path) -> Write:
    """Return ``write(rows, **dialect)``: each row says what differs from a delivery on the day."""

    def write(
        rows: Sequence[Mapping[str, Any]],
        delimiter: str = "\t",
        encoding: str = "latin-1",
        header: Sequence[str] = HEADER,
        name: str = "history.csv",
    ) -> Path:
        text = io.StringIO()
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\r\n")
        writer.writerow(header)
        writer.writerows([{**BASE, **row}.get(column, "") for column in header] for row in rows)
        path = tmp_path / name
        path.write_bytes(text.getvalue().encode(encoding))
        return path

    return write
