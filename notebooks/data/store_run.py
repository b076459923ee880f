"""Store the tables of a run for a notebook: ``python notebooks/data/store_run.py RUN TARGET``.

Runs write their tables in many small row groups while they work. Here each becomes one, which makes it much smaller; no
row is changed. Checkpoints, event files and the report are left out.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pyarrow.parquet as pq


def store(run: Path, target: Path) -> None:
    """Copy ``run.json`` and the tables of ``run`` into the new folder ``target``."""
    target.mkdir(parents=True)
    shutil.copyfile(run / "run.json", target / "run.json")
    for table in sorted(run.glob("*.parquet")):
        pq.write_table(pq.read_table(table), target / table.name, compression="zstd")


if __name__ == "__main__":
    store(Path(sys.argv[1]), Path(sys.argv[2]))
