"""Where independent jobs run: in this process, or in local worker processes. Results come back in job order.

A job is a plain function of one frozen value, so that the number of workers changes no byte of the results. Workers
are spawned, not forked: torch and threads do not survive a fork.

Ctrl-C reaches the whole process group of a terminal, but only the parent acts on it: it raises a flag in shared
memory. A worker's watchman turns the flag into one interrupt for whoever listens (the trainer finishes its update),
and ends a worker whose parent was killed. Long jobs look at :func:`stop_asked` between their parts.
"""

from __future__ import annotations

import _thread
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any, TypeVar

from masim.collector import ease_collector
from masim.errors import ConfigError, HarnessError

Job = TypeVar("Job")
Result = TypeVar("Result")
MAX_WORKERS = 256
WATCH_S = 0.2
_flags: list[Any] = []
"""The parent's stop flag, in a worker process; empty elsewhere."""


def default_workers() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_workers(workers: int) -> None:
    """Raise ConfigError for an impossible number of workers."""
    if not 1 <= workers <= MAX_WORKERS:
        raise ConfigError("impossible number of workers", "--workers", str(workers), f"1 to {MAX_WORKERS}")


def stop_asked() -> bool:
    """Return whether the parent asked this worker to stop; always false outside workers."""
    return bool(_flags and _flags[0].value)


def run_jobs(function: Callable[[Job], Result], jobs: Sequence[Job], workers: int) -> Iterator[Result]:
    """Yield ``function(job)`` for every job, in order, as they become available.

    Ctrl-C lets the workers finish the part they are at and is raised again; a second one ends them at once.
    Raises ConfigError for an impossible number of workers and HarnessError when a worker process dies.
    """
    check_workers(workers)
    if workers == 1 or len(jobs) <= 1:
        yield from map(function, jobs)
        return
    context = multiprocessing.get_context("spawn")
    flag = context.RawValue("b", 0)
    pool = ProcessPoolExecutor(min(workers, len(jobs)), context, _start_worker, (flag, os.getpid()))
    try:
        yield from _results(pool, function, jobs)
    except BrokenProcessPool as error:
        raise HarnessError("a worker process died; the machine may be out of memory") from error
    finally:
        flag.value = 1
        _close(pool)


def _results(pool: ProcessPoolExecutor, function: Callable[[Job], Result], jobs: Sequence[Job]) -> Iterator[Result]:
    with _deaf():
        futures: list[Future[Result]] = [pool.submit(_work, function, job) for job in jobs]
    for future in futures:
        yield future.result()


def _close(pool: ProcessPoolExecutor) -> None:
    """Wait for the workers; a further Ctrl-C while waiting ends them."""
    try:
        pool.shutdown(wait=True, cancel_futures=True)
    except KeyboardInterrupt:
        for child in multiprocessing.active_children():
            child.terminate()
        raise


@contextmanager
def _deaf() -> Iterator[None]:
    """Hold Ctrl-C back while workers start: they inherit it, and none dies with a traceback half imported."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting it later would lift the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker(flag: Any, parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    ease_collector()
    _flags[:] = [flag]
    threading.Thread(target=_watch, args=(flag, parent), daemon=True).start()


def _watch(flag: Any, parent: int) -> None:
    while not flag.value:
        if os.getppid() != parent:
            os._exit(1)
        time.sleep(WATCH_S)
    _thread.interrupt_main(signal.SIGINT)


def _work(function: Callable[[Job], Result], job: Job) -> Result:
    if stop_asked():
        raise HarnessError("stopped before the job began")
    return function(job)
