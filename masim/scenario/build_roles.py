"""The roles of a scenario -> :class:`masim.sim.staff.StaffSpec`."""

from __future__ import annotations

from masim.scenario.role_docs import AgentsDoc, HandOverDoc, RoleDoc
from masim.sim.dists import Constant
from masim.sim.spec import Verb
from masim.sim.staff import RoleSpec, StaffSpec
from masim.units import MINUTE

HAND_OVER_S = 1 * MINUTE
"""How long a hand-over is under way where the scenario does not say."""


def build_staff(agents: AgentsDoc, per_agent: int) -> StaffSpec | None:
    """Return who works in a world, ``None`` where all agents are alike. The document passed every check."""
    if agents.roles is None:
        return None
    roles = tuple(_role(role, agents.roles, per_agent) for role in agents.roles)
    how = agents.hand_over or HandOverDoc()
    places = agents.places or max(role.orders for role in roles)
    return StaffSpec(roles, places, how.delay.dist() if how.delay else Constant(HAND_OVER_S), tuple(sorted(how.drops)))


def _role(role: RoleDoc, others: tuple[RoleDoc, ...], per_agent: int) -> RoleSpec:
    return RoleSpec(
        name=role.id,
        count=role.count,
        orders=per_agent if role.orders is None else role.orders,
        verbs=tuple(verb.value for verb in Verb if verb in role.verbs),
        hands_to=takers(role, others),
        joins_s=role.joins,
        leaves_s=role.leaves,
    )


def takers(role: RoleDoc, others: tuple[RoleDoc, ...]) -> tuple[str, ...]:
    """Return the roles that a role may hand an order to, in the order of the scenario."""
    if Verb.HAND_OVER not in role.verbs:
        return ()
    wanted = {other.id for other in others if other.id != role.id} if role.hands_to is None else set(role.hands_to)
    return tuple(other.id for other in others if other.id in wanted)
