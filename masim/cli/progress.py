"""Progress of long work on stderr, for verbs that run, train and evaluate."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from masim.cli.common import note

if TYPE_CHECKING:
    from masim.study.runs import Progress

STOPPING = b"\nmasim: stopping; what is under way is finished and saved. Ctrl-C again stops at once\n"
NOTE_SHARE = 0.25
"""Without a terminal, a line is written each time this share of the work is done."""


@contextmanager
def shown(silent: bool) -> Iterator[Progress]:
    """Give a function ``progress(what, done, total)``: bars on a terminal, a few lines elsewhere, nothing if silent.

    The first Ctrl-C meanwhile is answered with a line, because what is under way is finished before the end.
    """
    with _answering():
        if silent:
            yield lambda what, done, total: None
        elif sys.stderr.isatty():
            with _bars() as progress:
                yield progress
        else:
            yield _Lines()


@contextmanager
def _answering() -> Iterator[None]:
    usual = signal.default_int_handler
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not usual:
        yield
        return

    def answer(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, usual)
        os.write(2, STOPPING)  # unbuffered: a handler must not enter a stream that is being written
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, answer)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


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
