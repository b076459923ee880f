"""What a fault may strike: a call, callback, decision or submitted action, before and after it has drawn for it."""

from __future__ import annotations

from masim.rng import Noise
from masim.sim.values import value
from masim.sim.wire import Call

Uniforms = tuple[float, float, float]


@value
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
    call: Call | None = None
    """The call that is struck, if it is one."""


class Event:
    """The event as one fault sees it. Read only: kinds may keep it in what they put on the clock.

    ``drawn``: whether the rate has drawn this event; only kinds that are ``always`` asked see it false.
    """

    __slots__ = ("_fault", "_key", "_noise", "drawn", "where")

    def __init__(self, where: Where, noise: Noise, fault: str, key: str, drawn: bool = True) -> None:
        self.where = where
        self.drawn = drawn
        self._noise = noise
        self._fault = fault
        self._key = key

    @property
    def us(self) -> Uniforms:
        """Return three uniforms of the fault's own stream for this event, for what its settings leave to chance.

        They are drawn when they are read: most strikes leave nothing to chance.
        """
        _, a, b, c = self._noise.uniforms_at(f"fault\x1f{self._fault}\x1f{self._key}")
        return a, b, c

    @property
    def agent(self) -> str:
        """Return whose event it is."""
        return self.where.agent

    @property
    def vendor(self) -> str:
        """Return the vendor."""
        return self.where.vendor

    @property
    def endpoint(self) -> str:
        """Return the verb of a call, or what else happened."""
        return self.where.endpoint

    @property
    def order(self) -> str:
        """Return the order."""
        return self.where.order

    @property
    def leg(self) -> int:
        """Return the leg of the order."""
        return self.where.leg

    @property
    def stop(self) -> str:
        """Return the stop of the leg."""
        return self.where.stop

    @property
    def t_s(self) -> float:
        """Return when it happens."""
        return self.where.t_s

    @property
    def slot(self) -> int:
        """Return the slot of a dock call."""
        return self.where.slot

    @property
    def deadline_s(self) -> float:
        """Return the caller's deadline."""
        return self.where.deadline_s

    @property
    def latency_s(self) -> float:
        """Return how long the call would take if nothing struck it."""
        return self.where.latency_s

    @property
    def request(self) -> int:
        """Return the request id in the trace."""
        return self.where.request

    @property
    def refused(self) -> int:
        """Return the code with which the endpoint refuses the call anyway, 0: none."""
        return self.where.refused


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
    place = (agent, call.vendor, call.verb, call.order, call.leg, call.stop)
    return Where(*place, t_s, call.slot, deadline_s, latency_s, request, refused, call)
