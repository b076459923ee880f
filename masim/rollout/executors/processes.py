"""Local worker processes, each in a pool of its own, so that a death is charged to the job that was being played.

Workers are spawned, not forked: torch and threads do not survive a fork. Ctrl-C reaches the whole process group of a
terminal, but only the parent acts on it: it raises a flag in shared memory. A worker's watchman turns the flag into
one interrupt for whoever listens (the trainer finishes its update), and ends a worker whose parent was killed. Long
jobs look at :func:`~masim.rollout.executors.base.stop_asked` between their parts.
"""

from __future__ import annotations

import _thread
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import resource_tracker
from typing import Any, Generic

from masim.collector import ease_collector
from masim.errors import HarnessError
from masim.rollout.executors.base import RETRIES, Job, Lost, Result, check_workers, heed, stop_asked

WATCH_S = 0.2
AHEAD = 2
"""Jobs that a worker has: one that it plays, one that it goes on with while the parent is busy with a result."""
DIED = "a worker process died; the machine may be out of memory"


@dataclass(frozen=True, slots=True)
class ProcessExecutor:
    """Up to ``workers`` local processes. Raises ConfigError for an impossible number of them."""

    workers: int

    def __post_init__(self) -> None:
        check_workers(self.workers)

    @contextmanager
    def crew(self) -> Iterator[ProcessCrew]:
        """Return worker processes, started when there is work for them."""
        crew = ProcessCrew(self.workers)
        try:
            yield crew
        finally:
            crew.close()


class ProcessCrew:
    """Local worker processes."""

    def __init__(self, n: int) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._flag = self._context.RawValue("b", 0)
        self.workers = [_Worker() for _ in range(n)]

    def run(
        self, function: Callable[[Job], Result], jobs: Sequence[Job], lost: Lost[Job, Result] | None = None
    ) -> Iterator[Result]:
        """See :meth:`masim.rollout.executors.base.Crew.run`."""
        return _Call(self, function, jobs, lost).results()

    def submit(self, worker: _Worker, function: Callable[[Job], Result], job: Job) -> Future[Result]:
        """Give a worker a job; start it if it does not run."""
        with _deaf():
            if worker.pool is None:
                worker.pool = ProcessPoolExecutor(1, self._context, _start_worker, (self._flag, os.getpid()))
            return worker.pool.submit(_work, function, job)

    def close(self) -> None:
        """Ask the workers to stop and wait for them; a further Ctrl-C while waiting ends them."""
        self._flag.value = 1
        pools = [worker.pool for worker in self.workers if worker.pool is not None]
        for pool in pools:
            pool.shutdown(wait=False, cancel_futures=True)
        try:
            for pool in pools:
                pool.shutdown(wait=True)
        except KeyboardInterrupt:
            for child in multiprocessing.active_children():
                child.terminate()
            raise


class _Call(Generic[Job, Result]):
    """One call of a crew: what waits, what is being played, and what was."""

    def __init__(
        self, crew: ProcessCrew, function: Callable[[Job], Result], jobs: Sequence[Job], lost: Lost[Job, Result] | None
    ) -> None:
        self._crew, self._function, self._jobs, self._lost = crew, function, jobs, lost
        self._waiting = deque(range(len(jobs)))
        self._deaths = [0] * len(jobs)
        self._done: dict[int, Callable[[], Result]] = {}

    def results(self) -> Iterator[Result]:
        workers = self._crew.workers
        for number in range(len(self._jobs)):
            while number not in self._done:
                self._deal()
                wait([worker.futures[0] for worker in workers if worker.futures], return_when=FIRST_COMPLETED)
                for worker in workers:
                    self._take(worker)
            yield self._done.pop(number)()

    def _deal(self) -> None:
        """Give every worker work, those with the least first."""
        for depth in range(1, AHEAD + 1):
            for worker in self._crew.workers:
                if self._waiting and len(worker.futures) < depth:
                    number = self._waiting.popleft()
                    worker.numbers.append(number)
                    worker.futures.append(self._crew.submit(worker, self._function, self._jobs[number]))

    def _take(self, worker: _Worker) -> None:
        while worker.futures and worker.futures[0].done():
            number, future = worker.numbers.popleft(), worker.futures.popleft()
            if isinstance(future.exception(), BrokenProcessPool):
                self._bury(worker, number)
            else:
                self._done[number] = future.result

    def _bury(self, worker: _Worker, number: int) -> None:
        """A worker died over a job: play that one again if it may, and what the worker had besides in any case."""
        again = list(worker.numbers)
        self._deaths[number] += 1
        if self._deaths[number] <= RETRIES:
            again.insert(0, number)
        elif self._lost is None:
            raise HarnessError(DIED)
        else:
            self._done[number] = partial(self._lost, self._jobs[number], DIED)
        self._waiting.extendleft(reversed(again))
        worker.forget()


@dataclass(slots=True)
class _Worker:
    """One process and the jobs that it has, in the order in which it plays them."""

    pool: ProcessPoolExecutor | None = None
    numbers: deque[int] = field(default_factory=deque)
    futures: deque[Future[Any]] = field(default_factory=deque)

    def forget(self) -> None:
        if self.pool is not None:
            self.pool.shutdown(wait=True)
        self.pool = None
        self.numbers.clear()
        self.futures.clear()


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
    heed(flag)
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
