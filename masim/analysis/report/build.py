"""Build ``report.html`` of a run: one file, readable without a network, in light and in dark."""

from __future__ import annotations

import os
import re
from pathlib import Path

from masim.analysis.load import RunData, load_run
from masim.analysis.report import sections, tables
from masim.analysis.report.page import Html, document, element, joined
from masim.analysis.summary import Summary, summary_of
from masim.errors import RunError

_HEADING = re.compile(r'^<section id="([a-z]+)"><h2>([^<]*)</h2>')


def build_report(run_dir: Path | str, out: Path | None = None) -> Path:
    """Write the report of a run folder (whole or not at all) and return its path.

    It becomes ``report.html`` in the run folder, or in ``out`` where that is a folder, or the file ``out``. Raises
    RunError as :func:`masim.analysis.load.load_run` does, before anything is written, and when writing fails.
    """
    run = load_run(run_dir)
    text = render(run, summary_of(run))
    file = run.path if out is None else out
    file = file / "report.html" if file.is_dir() else file
    scratch = file.with_name(file.name + ".part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_text(text, encoding="utf-8")
        os.replace(scratch, file)
    except OSError as error:
        if scratch.is_file():
            scratch.unlink()
        raise RunError("the report cannot be written", str(file), str(error.strerror), "", "use --out") from error
    return file


def render(run: RunData, summary: Summary) -> str:
    """Return the whole page as text. The same run gives the same bytes."""
    parts = [
        sections.shows(run, summary),
        sections.completion(run, summary),
        sections.learning(run, summary),
        sections.booking(run, summary),
        tables.numbers(summary),
        tables.faults(summary),
        tables.sources(run),
        sections.reproduce(run),
    ]
    title = f"{run.meta.title or run.meta.scenario} · masim"
    body = joined(sections.header(run), sections.tiles(summary), _contents(parts), element("main", *parts))
    return document(title, body)


def _contents(parts: list[Html]) -> Html:
    """Return links to the sections that are there."""
    found = [match for match in map(_HEADING.match, parts) if match]
    return element("nav", *[element("a", match[2], href=f"#{match[1]}") for match in found], aria_label="Contents")
