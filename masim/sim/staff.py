"""Who works in a world whose agents have roles: what each may do, when it is there, and how orders change hands.

All values are frozen. A world without roles has no :class:`StaffSpec` at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from masim.sim.dists import Dist

DROPS = ("quotes", "trucks", "appointments")
"""What a careless hand-over leaves behind: prices; tenders and dispatches; booked, held and listed slots."""


@dataclass(frozen=True, slots=True)
class RoleSpec:
    """One role. Its agents are called ``<name>_0``, ``<name>_1`` and so on."""

    name: str
    count: int
    orders: int
    """Orders that each of its agents owns when the day begins."""
    verbs: tuple[str, ...]
    """What its agents may do beside waiting."""
    hands_to: tuple[str, ...] = ()
    """Roles that it may hand an order to."""
    joins_s: float | None = None
    """Clock time at which its agents come; ``None``: they are there when the day begins."""
    leaves_s: float | None = None
    """Clock time at which its agents go; ``None``: they stay to the end."""

    @property
    def agents(self) -> tuple[str, ...]:
        """Return the names of its agents."""
        return tuple(f"{self.name}_{i}" for i in range(self.count))


@dataclass(frozen=True, slots=True)
class StaffSpec:
    """The roles of a world, and what holds of a hand-over."""

    roles: tuple[RoleSpec, ...]
    places: int
    """Orders that one agent can have at a time."""
    delay: Dist
    """How long a hand-over is under way."""
    drops: tuple[str, ...] = ()
    """Which of :data:`DROPS` does not travel with an order."""

    def role_of(self, agent: str) -> RoleSpec:
        """Return the role of an agent. Raises KeyError for one that is nobody here."""
        name = agent.rpartition("_")[0]
        for role in self.roles:
            if role.name == name:
                return role
        raise KeyError(agent)

    def index_of(self, agent: str) -> int:
        """Return the position of an agent's role among the roles."""
        return self.roles.index(self.role_of(agent))
