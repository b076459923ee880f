"""Notebooks execute, on the stored run and on any other training; what they say follows from the tables.

1. Every cell runs; the answers name the learners of the run; the stored notebook holds its outputs.
2. Another run gives other answers: nothing in them is written by hand.
3. They call masim.analysis alone, and the stored run stays small.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
STORED = ROOT / "notebooks/data/first_look"
NEEDED = ("nbclient", "nbformat", "ipykernel")
MAX_BYTES = 300_000

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:zmq", "ignore::RuntimeWarning:zmq")


@pytest.fixture(scope="module")
def refresh() -> ModuleType:
    absent = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if absent:
        pytest.skip(f"notebooks need {', '.join(absent)}: pip install 'masim[dev]'")
    spec = importlib.util.spec_from_file_location("refresh", ROOT / "notebooks/refresh.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def printed(node: Any) -> str:
    return "".join(o.get("text", "") for c in node.cells if c.cell_type == "code" for o in c.outputs)


def pictures(node: Any) -> int:
    outputs = [o for c in node.cells if c.cell_type == "code" for o in c.outputs]
    return sum("image/png" in output.get("data", {}) for output in outputs)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_it_runs_on_the_stored_run(refresh: ModuleType, notebook: Path) -> None:
    import nbformat

    kept = nbformat.read(notebook, as_version=4)
    assert all(cell.outputs for cell in kept.cells if cell.cell_type == "code"), "run: python notebooks/refresh.py"
    node = refresh.execute(notebook, STORED)
    assert pictures(node) == pictures(kept) > 0
    assert "Did training help completion? yes" in printed(node)


def test_other_tables_give_other_answers(refresh: ModuleType, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(STORED, other)
    outcomes = pd.read_parquet(other / "outcomes.parquet")
    swap = {"ProGPO": "untrained", "untrained": "ProGPO"}
    outcomes.assign(arm=outcomes["arm"].replace(swap)).to_parquet(other / "outcomes.parquet")
    (other / "trace.parquet").unlink()
    node = refresh.execute(ROOT / "notebooks/01_first_look.ipynb", other)
    text = printed(node)
    answers = text[text.index("\nProGPO\n") :]
    assert "Did training help completion? it made it worse" in answers
    assert "this run kept no trace" in text


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_it_calls_the_analysis_alone(notebook: Path) -> None:
    cells = [c for c in json.loads(notebook.read_text("utf-8"))["cells"] if c["cell_type"] == "code"]
    code = "\n".join("".join(c["source"]) for c in cells).replace("%matplotlib", "# %matplotlib")
    imported = {n.module for n in ast.walk(ast.parse(code)) if isinstance(n, ast.ImportFrom) and n.module}
    assert [m for m in imported if m.startswith("masim") and not m.startswith("masim.analysis")] == []


def test_the_stored_run_is_small() -> None:
    assert sum(file.stat().st_size for file in STORED.iterdir()) < MAX_BYTES
