"""Progress of long work on stderr, for verbs that run, train and evaluate."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from masim.cli.common import note

if TYPE_CHECKING:
    from masim.study.runs import Progress

NOTE_SHARE = 0.25
"""Without a terminal, a line is written each time this share of the work is done."""


@contextmanager
def shown(silent: bool) -> Iterator[Progress]:
    """Give a function ``progress(what, done, total)``: bars on a terminal, a few lines elsewhere, nothing if silent."""
    if silent:
        yield lambda what, done, total: None
    elif sys.stderr.isatty():
        with _bars() as progress:
            yield progress
    else:
        yield _Lines()


@contextmanager
def _bars() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks = {}

        def progress(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done, total=total)

        yield progress


class _Lines:
    """Writes a line at every quarter of the work."""

    def __init__(self) -> None:
        self._told: dict[str, int] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        quarter = int(done / max(1, total) / NOTE_SHARE)
        if quarter > self._told.get(what, 0):
            self._told[what] = quarter
            note(f"{what}: {done:,} of {total:,}", silent=False)
