"""The executor that plays everything in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from masim.rollout.executors.base import Job, Lost, Result


@dataclass(frozen=True, slots=True)
class SerialExecutor:
    """One job after the other, here. It has no workers that could die."""

    def run(
        self, function: Callable[[Job], Result], jobs: Sequence[Job], lost: Lost[Job, Result] | None = None
    ) -> Iterator[Result]:
        """See :meth:`masim.rollout.executors.base.Crew.run`."""
        return map(function, jobs)

    def crew(self) -> AbstractContextManager[SerialExecutor]:
        """Return the executor itself: there is nothing to start."""
        return nullcontext(self)
