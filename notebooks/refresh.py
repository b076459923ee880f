"""Execute the notebooks on the stored run and keep what they print and draw: ``python notebooks/refresh.py``.

Needs nbclient, nbformat and ipykernel (the extra ``dev``). The tests execute them the same way, without writing.
"""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent
STORED = HERE / "data/first_look"
TIMEOUT_S = 300


def execute(notebook: Path, run: Path | None, folder: Path = HERE) -> nbformat.NotebookNode:
    """Return the executed notebook, its kernel started in ``folder`` with ``$MASIM_RUN`` set to ``run``.

    Raises CellExecutionError for the first cell that fails.
    """
    node = nbformat.read(notebook, as_version=4)
    paths = os.pathsep.join(part for part in (str(HERE.parent), os.environ.get("PYTHONPATH", "")) if part)
    settings = {**os.environ, "MASIM_RUN": str(run or ""), "PYTHONPATH": paths, "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    client = NotebookClient(node, timeout=TIMEOUT_S, resources={"metadata": {"path": str(folder)}})
    client.execute(env=settings)
    return node


def main() -> None:
    """Execute every notebook and write it back."""
    for notebook in sorted(HERE.glob("*.ipynb")):
        node = execute(notebook, STORED)
        for cell in node.cells:
            cell.metadata.pop("execution", None)
        nbformat.write(node, notebook)


if __name__ == "__main__":
    main()
