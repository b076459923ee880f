"""The layers hold, and what they leave out stays out.

1. Every import-linter contract of pyproject.toml is kept.
2. The simulator imports the standard library, simpy, numpy and its leaves, and nothing else.
3. No two modules of the package import each other in a circle.
4. ``import masim`` and ``import masim.cli.main`` load none of the heavy libraries.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"torch", "transformers", "hydra", "pandas", "seaborn", "matplotlib", "scipy", "pyarrow", "simpy", "networkx"}
SIM_MAY_IMPORT = {"simpy", "numpy", *(f"masim.{leaf}" for leaf in ("sim", "errors", "outcome", "rng", "units"))}


def test_import_contracts_are_kept() -> None:
    command = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    assert command, "lint-imports is not installed beside this Python: pip install 'masim[dev]'"
    done = subprocess.run([command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def imports(path: Path) -> Iterator[str]:
    """Yield the full names of the modules that a file imports at run time, wherever the import stands."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {id(node) for guard in ast.walk(tree) if is_type_guard(guard) for node in ast.walk(guard)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_type_guard(node: ast.AST) -> bool:
    """Tell whether this is an ``if TYPE_CHECKING:`` block."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def test_the_simulator_needs_simpy_and_numpy_only() -> None:
    foreign = []
    for path in sorted((ROOT / "masim/sim").rglob("*.py")):
        for name in imports(path):
            known = any(name == ours or name.startswith(f"{ours}.") for ours in SIM_MAY_IMPORT)
            if not known and name.split(".")[0] not in sys.stdlib_module_names:
                foreign.append(f"{path.name}: {name}")
    assert foreign == []


def test_no_import_cycles() -> None:
    files = {module_name(path): path for path in (ROOT / "masim").rglob("*.py")}
    edges: dict[str, set[str]] = {}
    for module, path in files.items():
        targets = (name if name in files else name.rpartition(".")[0] for name in imports(path))
        edges[module] = {target for target in targets if target in files and target != module}
    TopologicalSorter(edges).prepare()  # raises CycleError, which names the circle


def module_name(path: Path) -> str:
    """Return the dotted name of a file of the package."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("module", ["masim", "masim.cli.main"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert HEAVY.isdisjoint(done.stdout.split())
