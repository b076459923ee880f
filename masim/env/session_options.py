"""How an episode is played, apart from what the scenario says."""

from __future__ import annotations

from dataclasses import dataclass

from masim.errors import ConfigError
from masim.sim.trace import Trace


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """How an episode is played, apart from what the scenario says."""

    trace: bool | Trace = True
    """Keep a trace or not; a :class:`Trace` of one's own may send its rows elsewhere."""
    settle: str = "drain"
    """``drain`` plays everything under way to its end after the last decision; ``cut`` stops there."""
    landings: bool = False
    """Keep the time at which each reward landed, for :meth:`Session.take_landings`."""
    tick_s: float | None = None
    """Length of a tick in simulated seconds, for :class:`masim.env.tick.TickSession` alone."""

    def __post_init__(self) -> None:
        if self.settle not in ("drain", "cut"):
            raise ConfigError("unknown settle option", "settle", repr(self.settle), "drain, cut")
