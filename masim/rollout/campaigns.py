"""Collects comparison groups along campaigns, each with its own memories: what ``collect`` is for a trainer.

Several campaigns (lanes) advance side by side, one day per visit. All rollouts of a day read one memory version; the
first rollout's overlays become the next version as soon as the outcomes of all its agents were fed back. After its
last day a lane starts a new campaign with empty memories. Which campaign and day a draw plays follows from its number
alone, so a resumed run goes on exactly where it stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from masim.env.actions import ActionTable
from masim.memory.book import MemoryBook
from masim.memory.config import MemoryConfig
from masim.memory.store.base import GraphStore
from masim.policy.base import Policy
from masim.rollout.group import GroupTask, Rollout, close_day, play_group
from masim.rollout.record import SampleRecord, build_inputs, build_table
from masim.rollout.types import Feedback, RolloutBatch
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
    """``collector(draw, policy_version)`` plays one group and returns it as a batch."""

    def __init__(self, plan: CampaignPlan, policy: Policy, store: GraphStore | None = None) -> None:
        self.plan = plan
        self.table = ActionTable(plan.spec)
        self._policy = policy
        self._store = store
        self._lanes: dict[int, _Lane] = {}

    def __call__(self, draw: int, policy_version: int) -> RolloutBatch:
        lane_index, seed, day = self.plan.place(draw)
        lane = self._lane(lane_index, seed, day)
        task = GroupTask(
            self.plan.spec,
            Instance(seed, day, "train"),
            self.plan.n_rollouts,
            draw * self.plan.n_rollouts,
            self.plan.seed,
            record=True,
            client=self.plan.client,
        )
        rollouts = play_group(task, self._policy, lane.book, self.table)
        return to_batch(rollouts, draw, policy_version, _Feedback(lane.book, rollouts))

    def _lane(self, index: int, seed: int, day: int) -> _Lane:
        lane = self._lanes.get(index)
        if lane is None or lane.campaign != seed:
            name = f"train-{self.plan.seed}-{seed}"
            lane = _Lane(seed, MemoryBook(self.plan.spec.agents, self.plan.memory, self._store, name))
            self._lanes[index] = lane
        if lane.book.version > day and self._store is not None:
            lane.book.discard_after(day)
        return lane


class _Feedback:
    """Hands unit returns to the memories; commits the first rollout's when all that were asked in it have theirs."""

    def __init__(self, book: MemoryBook, rollouts: Sequence[Rollout]) -> None:
        self._book = book
        self._first = rollouts[0]
        self._by_id = {rollout.id: rollout for rollout in rollouts}
        self._open = {agent for agent in self._first.memories if self._first.samples[agent].asked}

    def __call__(self, rollout_id: int, agent: str, value: float) -> None:
        rollout = self._by_id[rollout_id]
        rollout.memories[agent].feedback(value, rollout.episode.sim_end_s)
        if rollout is self._first and agent in self._open:
            self._open.remove(agent)
            if not self._open:
                close_day(rollout)
                self._book.commit(rollout.memories)


def to_batch(rollouts: Sequence[Rollout], group_id: int, policy_version: int, feedback: Feedback) -> RolloutBatch:
    """Return a group's rollouts as what the learner reads."""
    samples: list[SampleRecord] = []
    common: list[dict[str, int | float | bool]] = []
    events = np.cumsum([0, *(1 + _last_event(rollout) for rollout in rollouts)])
    for rollout, offset in zip(rollouts, events, strict=False):
        for sample in rollout.samples.values():
            for step in sample.steps:
                step.values["event_id"] = int(step.values["event_id"]) + int(offset)
            samples.append(sample)
            common.append(_common(rollout, group_id, policy_version))
    return RolloutBatch(
        table=build_table(samples, common),
        inputs=build_inputs(samples),
        episodes=tuple(rollout.episode for rollout in rollouts),
        agent_names=tuple(rollouts[0].samples),
        feedback=feedback,
    )


def _last_event(rollout: Rollout) -> int:
    return max((int(s.steps[-1].values["event_id"]) for s in rollout.samples.values() if s.steps), default=0)


def _common(rollout: Rollout, group_id: int, policy_version: int) -> dict[str, int | float | bool]:
    return {
        "scenario_seed": rollout.instance.campaign_seed,
        "day": rollout.instance.day,
        "reset_digest": rollout.reset_digest,
        "group_id": group_id,
        "memory_version": next(iter(rollout.memories.values())).version,
        "policy_version": policy_version,
        "valid": True,
        "masked": bool(rollout.failure),
    }
