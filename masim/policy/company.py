"""Who plays the other agents of a single-agent environment: any policy, the scripted workflow by default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from masim.env.decision import Chosen, Decision
from masim.env.single import BookingEnv
from masim.policy.base import Ask, Policy
from masim.policy.workflow import Habits, WorkflowPolicy
from masim.rng import Noise
from masim.scenario.load import Scenario


@dataclass(frozen=True, slots=True)
class PolicyCompany:
    """A policy in the form that :class:`masim.env.single.BookingEnv` calls."""

    policy: Policy

    def __call__(self, decisions: Sequence[Decision], noise: Noise) -> list[Chosen]:
        """Return the policy's action for every decision."""
        return [choice.chosen for choice in self.policy.choose([Ask(decision, noise) for decision in decisions])]


def scripted() -> PolicyCompany:
    """Return the workflow with all good habits."""
    return PolicyCompany(WorkflowPolicy("workflow", Habits()))


def gym_env(
    scenario: Scenario | str | Path, others: Policy | None = None, agent: str | None = None, **options: object
) -> BookingEnv:
    """Return a Gymnasium environment of ``agent`` (the first by default); ``others`` is the workflow by default.

    Options are those of :class:`masim.env.options.EnvOptions`.
    """
    company = scripted() if others is None else PolicyCompany(others)
    return BookingEnv(scenario, company, agent, **options)
