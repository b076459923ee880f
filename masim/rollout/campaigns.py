"""Collects comparison groups along campaigns, each with its own memories: what ``collect`` is for a trainer.

Several campaigns (lanes) advance side by side, one day per visit. All rollouts of a day read one memory version; the
first rollout's overlays become the next version as soon as the outcomes of all its agents were fed back. After its
last day a lane starts a new campaign with empty memories. Which campaign and day a draw plays follows from its number
alone, so a resumed run goes on exactly where it stopped.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from masim.env.actions import ActionTable
from masim.memory.book import MemoryBook
from masim.memory.config import MemoryConfig
from masim.memory.store.base import GraphStore
from masim.policy.base import Policy
from masim.rollout.collected import Collected, collect_group
from masim.rollout.copies import Copies
from masim.rollout.group import GroupTask
from masim.rollout.types import RolloutBatch
from masim.sim.spec import Instance, WorldSpec
from masim.tools.settings import PLAIN, ClientSettings

TRAIN_SEEDS_FROM = 1_000_000
"""Campaign seeds of training start here; those of evaluation lie below."""


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    """Which campaigns a collector plays."""

    spec: WorldSpec
    n_rollouts: int
    lanes: int = 8
    seed: int = 0
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    client: ClientSettings = PLAIN
    space: str = ""
    """Goes before the names of stored memories, where several trainings share a store."""
    reference: str = ""
    """Agent card of the counterfactual replays of every group; empty: none are made."""

    def place(self, draw: int) -> tuple[int, int, int]:
        """Return (lane, campaign seed, day) of a draw."""
        lane, visit = draw % self.lanes, draw // self.lanes
        campaign, day = divmod(visit, self.spec.campaign_days)
        return lane, TRAIN_SEEDS_FROM * (self.seed + 1) + campaign * self.lanes + lane, day


@dataclass(slots=True)
class _Lane:
    campaign: int
    book: MemoryBook


class CampaignCollector:
    """``collector(draw, policy_version)`` plays one group and returns it as a batch.

    With ``copies`` the groups of the coming draws are played at the same time, by copies of the policy. What a draw
    plays does not depend on it: groups that are played together are of different campaigns and of one update.
    """

    def __init__(
        self, plan: CampaignPlan, policy: Policy, store: GraphStore | None = None, copies: Copies | None = None
    ) -> None:
        self.plan = plan
        self.table = ActionTable(plan.spec)
        self._policy = policy
        self._store = store
        self._copies = copies
        self._lanes: dict[int, _Lane] = {}
        self._version, self._update_from = -1, 0
        self._played: dict[int, Collected] = {}

    def __call__(self, draw: int, policy_version: int) -> RolloutBatch:
        if policy_version != self._version:
            self._version, self._update_from = policy_version, draw
            self._played.clear()
        if draw not in self._played:
            self._play_from(draw)
        return self._batch(draw, self._played.pop(draw))

    def _play_from(self, draw: int) -> None:
        if self._copies is None:
            self._played = {draw: collect_group(self._task(draw), self._policy, self._lane(draw).book, self.table)}
            return
        n = min(self._copies.at_once(draw - self._update_from), self.plan.lanes)
        draws = range(draw, draw + n)
        groups = [(self._task(number), self._lane(number).book) for number in draws]
        self._played = dict(zip(draws, self._copies.play(groups), strict=True))

    def _task(self, draw: int) -> GroupTask:
        plan = self.plan
        _, seed, day = plan.place(draw)
        first, instance = draw * plan.n_rollouts, Instance(seed, day, "train")
        return GroupTask(
            plan.spec, instance, plan.n_rollouts, first, plan.seed, True, client=plan.client, reference=plan.reference
        )

    def _lane(self, draw: int) -> _Lane:
        index, seed, day = self.plan.place(draw)
        lane = self._lanes.get(index)
        if lane is None or lane.campaign != seed:
            name = f"{self.plan.space}train-{self.plan.seed}-{seed}"
            lane = _Lane(seed, MemoryBook(self.plan.spec.agents, self.plan.memory, self._store, name))
            self._lanes[index] = lane
        if lane.book.version > day and self._store is not None:
            lane.book.discard_after(day)
        return lane

    def _batch(self, draw: int, group: Collected) -> RolloutBatch:
        n = len(group.table)
        table = replace(
            group.table,
            group_id=np.full(n, draw, np.int64),
            policy_version=np.full(n, self._version, np.int64),
        )
        feedback = _Feedback(self._lane(draw).book, group)
        return RolloutBatch(table, group.inputs, group.episodes, group.agent_names, feedback, group.landings)


class _Feedback:
    """Hands unit returns to the first rollout's memories, and commits them when all that were asked have theirs.

    A day whose harness failed, and one in which nobody was asked, are versions, too: versions count days.
    """

    def __init__(self, book: MemoryBook, group: Collected) -> None:
        self._book = book
        self._group = group
        self._first = group.episodes[0]
        self._open = set(group.asked)
        if self._first.harness_failure:
            self._open.clear()
            book.commit({})
        elif not self._open:
            self._commit()

    def __call__(self, rollout_id: int, agent: str, value: float) -> None:
        if rollout_id != self._first.rollout_id:
            return
        self._group.memories[agent].feedback(value, self._first.sim_end_s)
        if agent in self._open:
            self._open.remove(agent)
            if not self._open:
                self._commit()

    def _commit(self) -> None:
        for memory in self._group.memories.values():
            memory.end_episode(self._first.sim_end_s)
        self._book.commit(self._group.memories)
