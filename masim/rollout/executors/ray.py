"""Jobs on a Ray cluster: one that is started here for the time of the call, or one that runs already.

Every node needs the same masim, and a file system that it shares with this process where jobs write files (long traces,
checkpoints). Ray moves jobs and results by pickling, inside the cluster that the user named and trusts.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from masim.collector import ease_collector
from masim.errors import ConfigError, HarnessError
from masim.rollout.executors.base import RETRIES, Job, Lost, Result, check_workers

KNOCK_S = 5.0
AHEAD = 2
"""Jobs handed to the cluster per worker: results stay bounded, and no worker waits for this process."""


@dataclass(frozen=True, slots=True)
class RayExecutor:
    """Up to ``workers`` tasks at once, on the cluster at ``address`` or, without one, on a local one of this call.

    Raises ConfigError for an impossible number of workers, without Ray, and for a cluster that does not answer.
    """

    workers: int
    address: str = ""

    def __post_init__(self) -> None:
        check_workers(self.workers)

    @contextmanager
    def crew(self) -> Iterator[RayCrew]:
        """Join the cluster, or start one; leave it, or end it, afterwards."""
        ray = _import()
        ours = not ray.is_initialized()
        if ours:
            try:
                _knock(self.address)
                ray.init(**self._options())
            except (OSError, ValueError, RuntimeError) as error:
                fix = "start it (`ray start --head`), or leave the address away for a local one"
                problem, allowed = "no Ray cluster answers", "auto, HOST:PORT, ray://HOST:PORT"
                raise ConfigError(problem, "--executor", self.address, allowed, fix) from error
        try:
            yield RayCrew(ray, self.workers)
        finally:
            if ours:
                ray.shutdown()

    def _options(self) -> dict[str, Any]:
        common = {"include_dashboard": False, "log_to_driver": False, "logging_level": "error"}
        if self.address:
            return {"address": self.address, **{k: v for k, v in common.items() if k != "include_dashboard"}}
        return {"address": "local", "num_cpus": self.workers, **common}


@dataclass(frozen=True, slots=True)
class RayCrew:
    """The processors of a cluster that answers."""

    ray: Any
    workers: int

    def run(
        self, function: Callable[[Job], Result], jobs: Sequence[Job], lost: Lost[Job, Result] | None = None
    ) -> Iterator[Result]:
        """See :meth:`masim.rollout.executors.base.Crew.run`."""
        task = self.ray.remote(_work).options(num_cpus=1, max_retries=RETRIES, retry_exceptions=False)
        waiting, under_way = deque(jobs), deque[tuple[Job, Any]]()
        try:
            while waiting or under_way:
                while waiting and len(under_way) < AHEAD * self.workers:
                    job = waiting.popleft()
                    under_way.append((job, task.remote(function, job)))
                job, reference = under_way.popleft()
                yield _result(self.ray, job, reference, lost)
        finally:
            for _, reference in under_way:
                self.ray.cancel(reference, force=False)


def _import() -> Any:
    try:
        import ray
    except ImportError as error:
        raise ConfigError("Ray is not installed", "--executor", "ray", "", "pip install 'masim[ray]'") from error
    return ray


def _knock(address: str) -> None:
    """Raise OSError where nobody listens: Ray itself would go on asking for minutes. ValueError for no address."""
    if not address or address == "auto":
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), KNOCK_S).close()


def _work(function: Callable[[Job], Result], job: Job) -> Result:
    ease_collector()
    return function(job)


def _result(ray: Any, job: Job, reference: Any, lost: Lost[Job, Result] | None) -> Result:
    try:
        result: Result = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
    except ray.exceptions.RaySystemError as error:
        raise HarnessError(f"the Ray cluster failed: {_first_line(error)}") from error
    except ray.exceptions.RayError as error:
        reason = f"a Ray worker died: {_first_line(error)}"
        if lost is None:
            raise HarnessError(reason) from error
        return lost(job, reason)
    return result


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
