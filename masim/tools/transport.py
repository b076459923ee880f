"""How an agent's calls reach the vendors: one protocol, whatever is at the other end.

Simulated vendors are one implementation (:mod:`masim.tools.sim_transport`); recorded traces and real HTTP are others.
"""

from __future__ import annotations

from typing import Protocol

from masim.sim.wire import Call


class Transport(Protocol):
    """Carries calls; answers come back through the callback that its maker was given, exactly one per call."""

    def send(self, agent: str, call: Call, deadline_s: float) -> int:
        """Send a call and return its request id. The answer comes within ``deadline_s``, at the latest a TIMEOUT."""
