"""Who acts in the study of forgetting: the scripted workflow, watched, and one that knows the carriers."""

from __future__ import annotations

from collections.abc import Sequence

from masim.env.leg_view import LegView
from masim.errors import ConfigError
from masim.policy.base import Ask, Choice, Policy, sees_world
from masim.policy.habits import Habits
from masim.policy.workflow import Step, WorkflowPolicy, legal_choice
from masim.sim.spec import Verb


class KnowingPolicy(WorkflowPolicy):
    """The workflow that is told each carrier's true share on time: what a perfect memory could reach at best.

    It does not know which truck will be late, so unlike :class:`masim.policy.oracle.OraclePolicy` it fails as often as
    the best carrier does.
    """

    omniscient = True

    def _choice(self, ask: Ask) -> Choice:
        if ask.world is None:
            raise ConfigError("an agent that knows must be shown the world", "policy", self.name)
        return legal_choice(ask.decision, _KnowingStep(ask, self.habits).wishes())


class _KnowingStep(Step):
    def __init__(self, ask: Ask, habits: Habits) -> None:
        super().__init__(ask.decision, habits, ask.noise)
        assert ask.world is not None  # noqa: S101 - the caller has refused it
        self._shares = ask.world.plan.hidden.on_time_p

    def _ranked(self, leg: LegView) -> list[int]:
        there = (c for c in range(self.table.n_carriers) if self._there(c))
        return sorted(there, key=lambda c: -self._shares[self.view.carriers[c]])


class Watched:
    """A policy that notes which carrier each truck was ordered from."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.name = policy.name
        self.omniscient = sees_world(policy)
        self.sent: list[tuple[str, str]] = []
        """(order, carrier), in the order of the dispatches."""

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        """Return the policy's choices."""
        choices = self.policy.choose(asks)
        for ask, choice in zip(asks, choices, strict=True):
            table, view = ask.decision.table, ask.decision.view
            if table.verb[choice.action] is Verb.DISPATCH:
                order = view.orders[int(table.order[choice.action])].id
                self.sent.append((order, view.carriers[int(table.vendor[choice.action])]))
        return choices
