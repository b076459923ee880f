"""Where independent jobs run: in this process, or in local worker processes. Results come back in job order.

A job is a plain function of one frozen value, so that the number of workers changes no byte of the results. Workers
are spawned, not forked: torch and threads do not survive a fork.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from masim.errors import ConfigError, HarnessError

Job = TypeVar("Job")
Result = TypeVar("Result")
MAX_WORKERS = 256


def default_workers() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_jobs(function: Callable[[Job], Result], jobs: Sequence[Job], workers: int) -> Iterator[Result]:
    """Yield ``function(job)`` for every job, in order, as they become available.

    Raises ConfigError for an impossible number of workers and HarnessError when a worker process dies.
    """
    if not 1 <= workers <= MAX_WORKERS:
        raise ConfigError("impossible number of workers", "--workers", str(workers), f"1 to {MAX_WORKERS}")
    if workers == 1 or len(jobs) <= 1:
        yield from map(function, jobs)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(jobs)), mp_context=context)
    try:
        yield from pool.map(function, jobs)
    except BrokenProcessPool as error:
        raise HarnessError("a worker process died; the machine may be out of memory") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
