"""What an agent's memory says, in the words of its card."""

from __future__ import annotations

from masim.env.decision import Decision
from masim.memory.graph import node
from masim.memory.memory import Memory


def memory_card(memory: Memory, decision: Decision) -> str:
    """Return what a memory says of the shippers of an agent's orders and of all carriers."""
    shippers = dict.fromkeys(order.shipper for order in decision.view.orders if order.id)
    nodes = [node("user", name) for name in shippers] + [node("vendor", c) for c in decision.view.carriers]
    return memory.card(nodes, decision.t_s)
