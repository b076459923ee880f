"""What a team would have come to with one agent on a reference policy: each rollout played again under the same noise.

A replay has the instance, the memories and every draw of the rollout that it stands beside: the world's are keyed by
what is asked of it, and each agent's own by its name and turn. So whatever differs follows from that one agent's
choices; an agent that acts as the reference does has a counterfactual that is its team's return exactly. The others act
on what they see then, not as they did before. A group costs one more group for each agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from masim.arrays import F64, Bool
from masim.env.actions import ActionTable
from masim.memory.book import MemoryBook
from masim.policy.base import Ask, Choice, Policy, looks_under_way, sees_world
from masim.rollout.group import GroupTask, play_group
from masim.rollout.types import StepTable


class StandIn:
    """A policy for all agents but one, for which the reference acts."""

    def __init__(self, policy: Policy, reference: Policy, agent: str) -> None:
        self.name = f"{policy.name}, {agent} by {reference.name}"
        self.concurrent = looks_under_way(policy) and looks_under_way(reference)
        self.omniscient = sees_world(policy) or sees_world(reference)
        self._policy, self._reference, self._agent = policy, reference, agent

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        """Return one choice per question, in order."""
        stands_in = [ask.decision.agent == self._agent for ask in asks]
        ours = [ask for ask, other in zip(asks, stands_in, strict=True) if not other]
        theirs = [ask for ask, other in zip(asks, stands_in, strict=True) if other]
        own = iter(self._policy.choose(ours) if ours else ())
        others = iter(self._reference.choose(theirs) if theirs else ())
        return [next(others if other else own) for other in stands_in]


def with_counterfactuals(
    table: StepTable, task: GroupTask, policies: tuple[Policy, Policy], book: MemoryBook, actions: ActionTable
) -> StepTable:
    """Return a group's table with the column ``counterfactual``, from replays of ``task``.

    ``policies``: the one that acted in all of it, and the reference. A rollout whose replay the harness broke is
    masked.
    """
    policy, reference = policies
    value: F64 = np.zeros(len(table))
    masked: Bool = table.masked.copy()
    again = replace(task, record=False, trace=False, reference="")
    for index, agent in enumerate(task.spec.agents):
        for rollout in play_group(again, StandIn(policy, reference, agent), book, actions):
            own = table.rollout_id == rollout.id
            value[own & (table.agent == index)] = min(rollout.outcomes.values(), default=0.0)
            masked |= own & bool(rollout.failure)
    return replace(table, counterfactual=value, masked=masked)
