"""Every example of the documentation runs.

1. Every bash, python and yaml fence says what happens to it; nothing is left to chance.
2. Page by page, the fences run in order in a folder of their own, with the exit codes and output that the page shows;
   what takes minutes runs smaller here, and as it stands at night.
3. Links between pages lead to files and headings that exist.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from docs.blocks import CHECKED, PAGES, ROOT, Block, Shell, blocks, missing_lines

MARKS = {"bash": {"run", "skip"}, "python": {"run", "skip", "file"}, "yaml": {"file", "part", "skip"}}
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_fence_says_what_happens_to_it(page: Path) -> None:
    unmarked = [b.where for b in blocks(page) if b.language in CHECKED and not MARKS[b.language] & b.marks.keys()]
    assert unmarked == []
    for block in blocks(page):
        if "part" in block.marks:
            yaml.safe_load(block.text)


def marked(mark: str) -> list[Path]:
    """Return the pages with a fence of that mark."""
    return [page for page in PAGES if any(mark in block.marks for block in blocks(page))]


@pytest.mark.parametrize("page", marked("run"), ids=name)
def test_the_page_runs(page: Path, tmp_path: Path) -> None:
    play_all(page, tmp_path, quick=True)


@pytest.mark.slow
@pytest.mark.parametrize("page", marked("quick"), ids=name)
def test_the_page_runs_as_it_stands(page: Path, tmp_path: Path) -> None:
    play_all(page, tmp_path, quick=False)


def play_all(page: Path, folder: Path, quick: bool) -> None:
    shell = Shell(folder)
    for block in blocks(page):
        if "file" in block.marks:
            shell.write(block)
        elif "run" in block.marks:
            play(shell, block, quick)


def play(shell: Shell, block: Block, quick: bool) -> None:
    if (needed := block.marks.get("needs", "")) and find_spec(needed) is None:
        pytest.skip(f"{block.where} needs {needed}, which is not installed")
    done = shell.run(block, quick)
    expected = int(block.marks.get("exit", "0"))
    assert done.returncode == expected, f"{block.where} ended with {done.returncode}:\n{done.stdout}"
    for output in block.outputs:
        absent = list(missing_lines(done.stdout, output))
        assert absent == [], f"{block.where} does not print what the page shows; it printed:\n{done.stdout}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target, heading in LINK.findall(text):
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), f"{name(page)} links to {target}"
        if heading:
            assert heading in headings(file), f"{name(page)} links to {target}#{heading}"


def headings(file: Path) -> set[str]:
    """Return the anchors of a page, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", file.read_text("utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
