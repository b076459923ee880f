"""The seam between what is to be played and where: jobs in, results out, in the order of the jobs.

A job is a plain function of one frozen value, so that neither the executor nor the number of workers changes a byte of
the results. A worker that dies is a failure of the harness: its job is played again, and when that keeps failing the
caller says what stands for the result (a masked rollout, say), or :class:`~masim.errors.HarnessError` is raised. It is
never scored as if the agent had failed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from masim.errors import ConfigError

Job = TypeVar("Job")
Result = TypeVar("Result")
Lost = Callable[[Job, str], Result]
"""``lost(job, reason)``: what stands for the result of a job whose worker died again and again."""
MAX_WORKERS = 256
RETRIES = 2
"""How often a job is played again after its worker died."""


class Crew(Protocol):
    """Workers that are up, for one call after the other."""

    def run(
        self, function: Callable[[Job], Result], jobs: Sequence[Job], lost: Lost[Job, Result] | None = None
    ) -> Iterator[Result]:
        """Yield ``function(job)`` for every job, in order, as they become available.

        An exception of ``function`` is raised here. Ctrl-C lets workers finish the part they are at and is raised
        again; a second one ends them at once. Raises HarnessError for a job that is lost, unless ``lost`` is given.
        A call whose results were not all taken ends the crew.
        """
        ...


class Executor(Protocol):
    """A place where jobs can be played."""

    def crew(self) -> AbstractContextManager[Crew]:
        """Return workers that start when they are needed and end with the context."""
        ...


_flags: list[Any] = []
"""What tells a worker to stop, in a worker; empty elsewhere."""


def stop_asked() -> bool:
    """Return whether the parent asked this worker to stop; always false outside workers."""
    return bool(_flags and _flags[0].value)


def heed(flag: Any) -> None:
    """Let :func:`stop_asked` read a flag with a ``value``."""
    _flags[:] = [flag]


def default_workers() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_workers(workers: int) -> None:
    """Raise ConfigError for an impossible number of workers."""
    if not 1 <= workers <= MAX_WORKERS:
        raise ConfigError("impossible number of workers", "--workers", str(workers), f"1 to {MAX_WORKERS}")
