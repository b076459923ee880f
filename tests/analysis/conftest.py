"""Fixtures of the analysis tests: a writer of run folders, and the tables of a demo run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from analysis.folders import META, demo_tables


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Path]:
    """Return a writer of run folders: ``make_run(name, tables, **changes of run.json)``."""

    def make(name: str = "run", tables: dict[str, pd.DataFrame] | None = None, **changes: Any) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "run.json").write_text(json.dumps(META | changes), encoding="utf-8")
        for table, frame in (demo_tables() if tables is None else tables).items():
            frame.to_parquet(folder / f"{table}.parquet", index=False)
        return folder

    return make


@pytest.fixture(scope="session")
def run_tables() -> dict[str, pd.DataFrame]:
    """Return the tables of a demo run; tests never change them."""
    return demo_tables()
