"""What a scenario may say of its agents: one kind of them, or roles that differ in what they may do and when."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from masim.scenario.dist_models import Doc, DurationDist
from masim.scenario.quantities import Clock, Count, CountOrZero, Name, PositiveDuration, choice, refusal
from masim.sim.spec import CARRIER_VERBS, DOCK_VERBS, EXTRA_VERBS, Verb

OWN = (Verb.DECLARE, Verb.HAND_OVER)
"""Verbs of a role that are no API; waiting is allowed to everybody."""
_ROLE_RE = re.compile(r"[a-z]{1,32}")


def _role_name(value: Any) -> Any:
    if not isinstance(value, str) or _ROLE_RE.fullmatch(value) is None:
        raise refusal("not a valid name of a role", "1 to 32 lower-case letters", "write it as dispatcher")
    return value


RoleName = Annotated[str, BeforeValidator(_role_name)]
RoleVerb = Annotated[Verb, BeforeValidator(choice((*CARRIER_VERBS, *EXTRA_VERBS, *DOCK_VERBS, *OWN), "verb"))]


class RoleDoc(Doc):
    """One role; its agents are called ``<id>_0``, ``<id>_1`` and so on."""

    id: RoleName
    count: Count
    orders: CountOrZero | None = Field(
        default=None, description="Orders of each of its agents in the morning; `orders.per_agent` by default."
    )
    verbs: tuple[RoleVerb, ...] = Field(description="What it may do beside waiting.")
    hands_to: tuple[RoleName, ...] | None = Field(
        default=None, description="Roles that it may hand an order to; every other one by default."
    )
    joins: Clock | None = Field(default=None, description="When its agents come; absent: at the start of the day.")
    leaves: Clock | None = Field(default=None, description="When its agents go; absent: they stay.")


class HandOverDoc(Doc):
    """How orders change hands."""

    delay: DurationDist | None = Field(default=None, description="How long it is under way; a minute by default.")
    drops: tuple[Literal["quotes", "trucks", "appointments"], ...] = Field(
        default=(), description="What the giver knows and the taker is not told; by default it is told everything."
    )


class AgentsDoc(Doc):
    """Who books: ``count`` agents called ``<role>_0``, ``<role>_1`` and so on, or agents of several ``roles``."""

    role: Name | None = Field(default=None, description="Name of the agents where all are alike; `booker` by default.")
    count: Count | None = None
    max_decisions: Count = Field(description="Decisions of one agent in one day.")
    client_deadline: PositiveDuration = Field(description="How long an agent waits for an API before it gives up.")
    roles: tuple[RoleDoc, ...] | None = Field(default=None, description="Instead of `role` and `count`.")
    places: Count | None = Field(
        default=None, description="Orders that one agent can have at a time, with roles; the most of any by default."
    )
    hand_over: HandOverDoc | None = None

    def names(self) -> tuple[str, ...]:
        """Return the names of all agents."""
        if self.roles is None:
            return tuple(f"{self.role or 'booker'}_{i}" for i in range(self.count or 0))
        return tuple(f"{role.id}_{i}" for role in self.roles for i in range(role.count))
