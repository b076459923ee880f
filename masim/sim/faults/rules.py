"""Whom a fault strikes, when and how often: frozen values that a scenario builds.

Times are seconds, clock times count from midnight of the day that is simulated. All conditions of a rule must hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from masim.sim.dists import Dist
from masim.units import DAY, HOUR, MINUTE

if TYPE_CHECKING:
    from masim.sim.faults.base import Fault


@dataclass(frozen=True, slots=True)
class Match:
    """Names that a fault strikes; an empty tuple means every one."""

    vendors: tuple[str, ...] = ()
    endpoints: tuple[str, ...] = ()
    """Verbs of API calls; of callbacks ``callback``; of decisions ``tender`` and ``schedule``."""
    agents: tuple[str, ...] = ()

    def place(self, vendor: str, endpoint: str) -> bool:
        """Return whether calls to this vendor's endpoint can be struck."""
        return (not self.vendors or vendor in self.vendors) and (not self.endpoints or endpoint in self.endpoints)

    def agent(self, name: str) -> bool:
        """Return whether this agent can be struck."""
        return not self.agents or name in self.agents


@dataclass(frozen=True, slots=True)
class Cron:
    """A cron expression cut to what a simulated day has: minutes and hours; every start opens a window."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    lasts_s: float

    def open(self, clock_s: float) -> bool:
        """Return whether one of the windows is open at a clock time (also one of the day before)."""
        for hour in self.hours:
            for minute in self.minutes:
                since = (clock_s - hour * HOUR - minute * MINUTE) % DAY
                if since < self.lasts_s:
                    return True
        return False

    def left_s(self, clock_s: float) -> float:
        """Return how much longer a window is open at a clock time; 0: none is."""
        starts = (hour * HOUR + minute * MINUTE for hour in self.hours for minute in self.minutes)
        return max(0.0, *(self.lasts_s - (clock_s - start_s) % DAY for start_s in starts))


@dataclass(frozen=True, slots=True)
class SpellRule:
    """A two-state process in time: exponential gaps, then a spell of random length.

    ``shared``: one timeline for all vendors that the fault matches (a common upstream); else one per vendor.
    """

    gap_mean_s: float
    length: Dist
    shared: bool = False


@dataclass(frozen=True, slots=True)
class When:
    """The moments at which a fault can strike; the default is always."""

    windows: tuple[tuple[float, float], ...] = ()
    """Half-open windows of clock time."""
    days: tuple[int, ...] = ()
    """Days of the campaign, the first is 0."""
    cron: Cron | None = None
    calls: tuple[int, int] | None = None
    """From the first to the last (1-based, inclusive) event of an agent that the fault matches."""
    state: str = ""
    """Name of a state of the order (:mod:`masim.sim.faults.states`)."""
    spells: SpellRule | None = None


@dataclass(frozen=True, slots=True)
class Markov:
    """Two states with a probability each, as :class:`masim.sim.spec.Transient` has them."""

    good_p: float
    bad_p: float
    bad_share: float
    bad_mean_s: float


@dataclass(frozen=True, slots=True)
class Rate:
    """How often a fault strikes what it matches: ``p``, or exactly the ``nth``, or each ``every``-th, or ``markov``.

    The nth and each n-th are counted per agent, so another agent's extra call moves nobody's fault.
    """

    p: float = 1.0
    nth: int = 0
    every: int = 0
    markov: Markov | None = None


@dataclass(frozen=True, slots=True)
class FaultSpec:
    """One fault of a scenario."""

    id: str
    fault: Fault
    match: Match = Match()
    when: When = When()
    rate: Rate = Rate()
    max_active: int = 0
    """Most strikes under way at once over all agents, 0: no bound."""
    max_strikes: int = 0
    """Most strikes in an episode, 0: no bound."""
