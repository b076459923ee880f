"""Copies of a training's policy, which play several comparison groups at once in worker processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from masim.arrays import F32
from masim.env.actions import ActionTable
from masim.memory.book import MemoryBook
from masim.policy.build import build_copy
from masim.policy.card import AgentCard
from masim.rollout.collected import Collected, collect_group, lost_group
from masim.rollout.executors import Crew
from masim.rollout.group import GroupTask

Weights = Mapping[str, F32]


@dataclass(frozen=True, slots=True)
class Copies:
    """Plays the groups of one update on a crew of ``workers``, with the weights that the policy has now."""

    crew: Crew
    workers: int
    card: AgentCard
    weights: Callable[[], Weights]
    groups: int
    """Groups of an update: nothing is played beyond them, because the policy changes then."""

    def at_once(self, done: int) -> int:
        """Return how many groups to play together when ``done`` of the update were played."""
        return max(1, min(self.workers, self.groups - done))

    def play(self, groups: Sequence[tuple[GroupTask, MemoryBook]]) -> Iterator[Collected]:
        """Yield the groups in order. One that nobody could play comes back without decisions, and is not scored."""
        weights = self.weights()
        jobs = [_Job(task, book.detached(), self.card, weights) for task, book in groups]
        return self.crew.run(_play, jobs, lost=_lost)


@dataclass(frozen=True, slots=True)
class _Job:
    task: GroupTask
    book: MemoryBook
    card: AgentCard
    weights: Weights


def _play(job: _Job) -> Collected:
    table = ActionTable(job.task.spec)
    return collect_group(job.task, build_copy(job.card, table, job.weights), job.book, table)


def _lost(job: _Job, reason: str) -> Collected:
    return lost_group(job.task, reason)
