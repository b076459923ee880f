"""Fenced blocks of the documentation: how they are marked, found and run.

Every ``bash``, ``python`` and ``yaml`` fence says what happens to it, in its info string:

* ``run``: the block runs, in the page's own folder, after the blocks before it. ``exit=N`` expects that exit code;
  ``quick=A>B,C>D`` writes B for A and D for C in the tests of every day, to save minutes; at night it runs unchanged.
  ``needs=MODULE``: where that module is not installed, the page's test ends there, as skipped.
* ``file=PATH``: the block is written to that file of the page's folder.
* ``part``: a piece of a YAML file; it must parse.
* ``skip=why``: it does not run; ``why`` is words joined by hyphens.

A ``text output`` fence lists lines that the block before it must have printed, in that order. Line ends and leading
blanks do not count; a line ``...`` stands for any lines.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
CHECKED = ("bash", "python", "yaml")
LIMIT_S = 300
_FENCE = re.compile(r"^```(\w*) ?(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(slots=True)
class Block:
    """One fence. ``outputs`` are the output fences that follow it."""

    page: Path
    line: int
    language: str
    marks: dict[str, str]
    text: str
    outputs: list[str] = field(default_factory=list)

    @property
    def where(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """Return the fences of a page, in order."""
    found: list[Block] = []
    text = page.read_text("utf-8")
    for match in _FENCE.finditer(text):
        language, info, body = match.groups()
        marks = dict(part.partition("=")[::2] for part in info.split())
        if language == "text" and "output" in marks:
            found[-1].outputs.append(body)
        else:
            found.append(Block(page, text.count("\n", 0, match.start()) + 1, language, marks, body))
    return found


class Shell:
    """The folder of one page: commands run in it one after the other, each where the last one left off."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cwd = folder
        shims = folder / ".bin"
        shims.mkdir()
        for name, command in (("masim", '-m masim "$@"'), ("python", '"$@"')):
            (shims / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {command}\n')
            (shims / name).chmod(0o755)
        clean = {k: v for k, v in os.environ.items() if not k.startswith("MASIM_")}
        paths = {"PATH": f"{shims}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
        self._env = {**clean, **paths, "COLUMNS": "160", "CWD_FILE": str(folder / ".cwd")}

    def run(self, block: Block, quick: bool) -> subprocess.CompletedProcess[str]:
        """Run one block; a non-zero exit is the caller's to judge."""
        text = block.text
        for swap in block.marks.get("quick", "").split(",") if quick else ():
            text = text.replace(*swap.split(">")) if swap else text
        if block.language == "bash":
            command = ["bash", "-euc", f"trap 'pwd > \"$CWD_FILE\"' EXIT\n{text}"]
        else:
            script = self.folder / ".block.py"
            script.write_text(text, "utf-8")
            command = [sys.executable, str(script)]
        done = subprocess.run(
            command, cwd=self._cwd, env=self._env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=LIMIT_S, check=False,
        )  # fmt: skip
        if block.language == "bash":
            self._cwd = Path((self.folder / ".cwd").read_text().strip())
        return done

    def write(self, block: Block) -> None:
        """Write a ``file=`` block, relative to where the commands are now."""
        target = self._cwd / block.marks["file"]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(block.text, "utf-8")


def missing_lines(printed: str, expected: str) -> Iterator[str]:
    """Yield expected lines that do not come in the printed text in that order."""
    lines = iter([" ".join(line.split()) for line in printed.splitlines()])
    for line in expected.splitlines():
        wanted = " ".join(line.split())
        if wanted and wanted != "..." and not any(wanted == seen for seen in lines):
            yield line
