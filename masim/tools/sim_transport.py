"""The transport into a simulated world."""

from __future__ import annotations

from masim.sim.wire import Call
from masim.sim.world import World


class SimTransport:
    """Hands calls to a world's gateway; the world answers in simulated time."""

    __slots__ = ("_send",)

    def __init__(self, world: World) -> None:
        self._send = world.gateway.send

    def send(self, agent: str, call: Call, deadline_s: float) -> int:
        """Send a call into the world and return its request id."""
        return self._send(agent, call, deadline_s)
