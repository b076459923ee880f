"""What a fault may strike: a call, callback, decision or submitted action, before and after it has drawn for it."""

from __future__ import annotations

from dataclasses import dataclass

from masim.sim.wire import Call

Uniforms = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Where:
    """The event before any fault has drawn for it; the same for all of them."""

    agent: str
    vendor: str
    endpoint: str
    order: str
    leg: int
    stop: str
    t_s: float
    slot: int = -1
    deadline_s: float = 0.0
    latency_s: float = 0.0
    """How long the call would take if nothing struck it."""
    request: int = -1
    """Request id of the call in the trace."""
    refused: int = 0
    """Code with which the endpoint refuses the call anyway; 0: it does not."""

    def event(self, us: Uniforms, drawn: bool = True) -> Event:
        """Return the event as one fault sees it."""
        return Event(
            self.agent,
            self.vendor,
            self.endpoint,
            self.order,
            self.leg,
            self.stop,
            self.t_s,
            self.slot,
            self.deadline_s,
            self.latency_s,
            self.request,
            self.refused,
            us,
            drawn,
        )


@dataclass(frozen=True, slots=True)
class Event(Where):
    """The event as one fault sees it.

    ``us`` are three uniforms of the fault's own stream for this event, for what its settings leave to chance.
    """

    us: Uniforms = (0.0, 0.0, 0.0)
    drawn: bool = True
    """Whether the rate has drawn this event; only kinds that are ``always`` asked see it false."""


def call_at(
    agent: str,
    call: Call,
    t_s: float,
    deadline_s: float = 0.0,
    latency_s: float = 0.0,
    request: int = -1,
    refused: int = 0,
) -> Where:
    """Return the event of an agent's call."""
    place = (agent, call.vendor, call.verb.value, call.order, call.leg, call.stop.value)
    return Where(*place, t_s, call.slot, deadline_s, latency_s, request, refused)
