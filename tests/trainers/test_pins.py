"""What holds of the examples without their trainers.

1. Every trainer has its pins, a smoke test of its own, a line in the Makefile and a place in the documentation.
2. Every example is a program with --steps and --seed, and imports nothing that is neither pinned nor ours.
3. The documentation names the versions that are pinned.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest
from trainers.attach import EXAMPLES, ROOT

PAGE = ROOT / "docs/reference/trainers.md"
TRAINERS = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
SCRIPTS = sorted(EXAMPLES.glob("*/*.py"))
MODULES = {"sb3_contrib": {"sb3_contrib"}, "ray": {"ray"}, "SuperSuit": {"supersuit"}}
"""Names under which a distribution is imported, where it is not its own in small letters."""


def pins(trainer: str) -> dict[str, str]:
    """Return the pinned versions of a trainer's environment."""
    lines = (EXAMPLES / trainer / "requirements.txt").read_text("utf-8").splitlines()
    wanted = [line for line in lines if line and not line.startswith("#")]
    found = [re.fullmatch(r"([\w.-]+)==([\w.+]+)", line) for line in wanted]
    assert all(found), f"examples/{trainer}/requirements.txt pins exact versions"
    return {match[1]: match[2] for match in found if match}


def test_every_trainer_has_its_place() -> None:
    listed = re.search(r"^TRAINERS := (.*)$", (ROOT / "Makefile").read_text("utf-8"), flags=re.MULTILINE)
    assert listed is not None and sorted(listed[1].split()) == TRAINERS
    assert all((ROOT / f"tests/trainers/test_{trainer}.py").exists() for trainer in TRAINERS)
    assert all(f"`make trainer-{trainer}`" in PAGE.read_text("utf-8") for trainer in TRAINERS)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.relative_to(EXAMPLES).as_posix())
def test_every_example_is_a_short_program(script: Path) -> None:
    text = script.read_text("utf-8")
    assert '"--steps"' in text and re.search(r'"--seeds?"', text)
    assert len(text.splitlines()) <= 130
    assert f"examples/{script.relative_to(EXAMPLES).as_posix()}" in PAGE.read_text("utf-8")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.relative_to(EXAMPLES).as_posix())
def test_every_example_imports_what_is_pinned(script: Path) -> None:
    known = {"masim", *sys.stdlib_module_names, *(path.stem for path in script.parent.glob("*.py"))}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    ours = [*project["dependencies"], *project["optional-dependencies"]["train"], *pins(script.parent.name)]
    for requirement in ours:
        name = re.split(r"[<>=]", requirement)[0]
        known |= MODULES.get(name, {name.lower().replace("-", "_")})
    imported = set()
    for node in ast.walk(ast.parse(script.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
    assert imported - known == set()


@pytest.mark.parametrize("trainer", TRAINERS)
def test_the_page_names_the_pinned_versions(trainer: str) -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if f"`make trainer-{trainer}`" in line]
    assert len(rows) == 1, "one row of the table of versions"
    for name, version in re.findall(r"`([\w.-]+)==([\w.]+)`", rows[0]):
        assert pins(trainer).get(name) == version
    assert rows[0].count("==") >= 1
