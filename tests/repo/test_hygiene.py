"""What the repository must not contain, over and above what ruff refuses.

1. No call that runs or unpickles foreign data: eval, exec, pickle and its relatives, yaml.load, torch.load.
2. No print outside the command line, no module named utils.
3. No marks for later, in any text of the repository; no paths of one machine.
4. Whatever ships as data is where the wheel takes it from.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from masim import assets

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = sorted((ROOT / "masim").rglob("*.py"))
BANNED_CALLS = {"eval", "exec", "yaml.load", "yaml.unsafe_load", "yaml.full_load", "torch.load", "torch.save"}
BANNED_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib"}
MARKS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
MACHINE_PATHS = re.compile(r"(?<![\w.])/(work|root|home/\w+|opt/wheels|opt/pypi)/")
TEXT = {".py", ".md", ".toml", ".yaml", ".yml", ".txt", ".ipynb", ".cfg", ""}


def tracked() -> list[Path]:
    """Return the tracked text files, or every one below the usual folders outside a git checkout."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = listed.stdout.split("\n") if listed.returncode == 0 else []
    paths = [ROOT / name for name in names if name] or [path for path in ROOT.rglob("*") if ".venv" not in path.parts]
    return [path for path in paths if path.is_file() and path.suffix in TEXT]


def calls(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of every call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node.lineno, ast.unparse(node.func)


@pytest.mark.parametrize("path", PACKAGE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_module_runs_no_foreign_code_and_prints_nothing(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert path.name != "utils.py"
    may_print = (ROOT / "masim/cli") in path.parents
    banned = BANNED_CALLS if may_print else BANNED_CALLS | {"print"}
    assert [found for found in calls(tree) if found[1] in banned] == []
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert BANNED_MODULES.isdisjoint(name.partition(".")[0] for name in names)


def test_no_marks_for_later_and_no_paths_of_one_machine() -> None:
    found = []
    for path in tracked():
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if MARKS.search(line) or (MACHINE_PATHS.search(line) and path != Path(__file__).resolve()):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert found == []


@pytest.mark.parametrize("folder", assets.FOLDERS)
def test_data_folders_hold_data_only(folder: str) -> None:
    files = [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    assert files, f"{folder}/ is empty"
    assert [path for path in files if path.suffix == ".py"] == []
    assert assets.asset_root() == ROOT
