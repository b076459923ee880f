"""The executors by name. A new one is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from masim.errors import ConfigError, did_you_mean
from masim.rollout.executors.base import Executor, Job, Lost, Result, check_workers
from masim.rollout.executors.processes import ProcessExecutor
from masim.rollout.executors.ray import RayExecutor
from masim.rollout.executors.serial import SerialExecutor

EXECUTORS: dict[str, Callable[[int, str], Executor]] = {
    "serial": lambda workers, address: SerialExecutor(),
    "processes": lambda workers, address: ProcessExecutor(workers),
    "ray": RayExecutor,
}
"""Name -> ``(workers, address) -> Executor``; only Ray has an address."""
DEFAULT = "processes"


def executor(where: str, workers: int) -> Executor:
    """Return the executor that ``where`` names: a name of :data:`EXECUTORS`, or ``ray:ADDRESS``.

    One process is the same as this one. Raises ConfigError for an unknown name, an address where there can be none,
    and an impossible number of workers.
    """
    check_workers(workers)
    name, _, address = where.partition(":")
    if name not in EXECUTORS:
        allowed = ", ".join((*EXECUTORS, "ray:ADDRESS"))
        raise ConfigError("unknown executor", "--executor", repr(where), allowed, did_you_mean(name, EXECUTORS))
    if address and name != "ray":
        raise ConfigError("only Ray has an address", "--executor", repr(where), name)
    if name == DEFAULT and workers == 1:
        return SerialExecutor()
    return EXECUTORS[name](workers, address)


def run_jobs(
    function: Callable[[Job], Result],
    jobs: Sequence[Job],
    workers: int,
    where: str = DEFAULT,
    lost: Lost[Job, Result] | None = None,
) -> Iterator[Result]:
    """Yield ``function(job)`` for every job, in order; see :meth:`Crew.run` and :func:`executor`.

    A single job is played in this process, unless a cluster was asked for.
    """
    place = executor(where, workers)
    if len(jobs) <= 1 and isinstance(place, ProcessExecutor):
        place = SerialExecutor()
    with place.crew() as crew:
        yield from crew.run(function, jobs, lost)
