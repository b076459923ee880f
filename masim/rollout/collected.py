"""One comparison group, played: what the learner reads of it, and what the memories of its agents need.

It is a plain value, so that a group may be played in another process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from masim.env.actions import ActionTable
from masim.memory.book import MemoryBook
from masim.memory.memory import Memory
from masim.policy.base import Policy
from masim.policy.build import build_policy
from masim.policy.card import load_card
from masim.rollout.counterfactual import with_counterfactuals
from masim.rollout.group import GroupTask, Rollout, play_group
from masim.rollout.landings import as_landings
from masim.rollout.record import SampleRecord, build_inputs, build_table
from masim.rollout.types import Episode, Landings, PolicyInputs, StepTable


@dataclass(frozen=True, slots=True)
class Collected:
    """A group as one value. ``table`` has no draw and no policy version yet: whoever plays does not know them."""

    table: StepTable
    inputs: PolicyInputs
    episodes: tuple[Episode, ...]
    agent_names: tuple[str, ...]
    memories: Mapping[str, Memory]
    """Overlays of the first rollout, the only one whose experience is kept."""
    asked: frozenset[str]
    """Agents that made a decision in the first rollout."""
    landings: Landings


def collect_group(task: GroupTask, policy: Policy, book: MemoryBook, table: ActionTable) -> Collected:
    """Play a group and return it as one value; see :func:`masim.rollout.group.play_group`."""
    group = collected(play_group(task, policy, book, table))
    if not task.reference:
        return group
    reference = build_policy(load_card(task.reference), table)
    return replace(group, table=with_counterfactuals(group.table, task, (policy, reference), book, table))


def lost_group(task: GroupTask, reason: str) -> Collected:
    """Return what stands for a group that nobody could play: no decisions, and episodes that are not scored."""
    ids = range(task.first_rollout, task.first_rollout + task.n_rollouts)
    place = (task.spec.id, task.instance.campaign_seed, task.instance.day)
    episodes = tuple(Episode(*place, number, (), {}, 0, 0.0, reason) for number in ids)
    return Collected(
        build_table([], []), build_inputs([]), episodes, task.spec.agents, {}, frozenset(), as_landings([])
    )


def collected(rollouts: Sequence[Rollout]) -> Collected:
    """Return the rollouts of a group as one value."""
    first = rollouts[0]
    samples: list[SampleRecord] = []
    common: list[dict[str, int | float | bool]] = []
    events = np.cumsum([0, *(1 + _last_event(rollout) for rollout in rollouts)])
    for rollout, offset in zip(rollouts, events, strict=False):
        for sample in rollout.samples.values():
            for step in sample.steps:
                step.values["event_id"] = int(step.values["event_id"]) + int(offset)
            samples.append(sample)
            common.append(_common(rollout))
    return Collected(
        table=build_table(samples, common),
        inputs=build_inputs(samples),
        episodes=tuple(rollout.episode for rollout in rollouts),
        agent_names=tuple(first.samples),
        memories=first.memories,
        asked=frozenset(agent for agent in first.memories if first.samples[agent].asked),
        landings=as_landings(row for rollout in rollouts for row in rollout.landings),
    )


def _last_event(rollout: Rollout) -> int:
    return max((int(s.steps[-1].values["event_id"]) for s in rollout.samples.values() if s.steps), default=0)


def _common(rollout: Rollout) -> dict[str, int | float | bool]:
    return {
        "scenario_seed": rollout.instance.campaign_seed,
        "day": rollout.instance.day,
        "reset_digest": rollout.reset_digest,
        "memory_version": next(iter(rollout.memories.values())).version,
        "valid": True,
        "masked": bool(rollout.failure),
    }
