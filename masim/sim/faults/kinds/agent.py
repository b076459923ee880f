"""Family 12, the agent's own side: it crashes, is run twice, is not alone, or a person stands in between."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from masim.sim.dists import Constant, Dist
from masim.sim.faults.base import Memo, SubmitChange, SubmitFault
from masim.sim.faults.event import Event
from masim.sim.faults.kinds.staged import Staged, stage_of
from masim.sim.spec import WRITE_VERBS
from masim.units import MINUTE

_WRITES = frozenset(verb.value for verb in WRITE_VERBS)


@dataclass(frozen=True, slots=True)
class Crash(SubmitFault):
    """The agent crashes after it has sent the action and resumes without what it knew of its bookings."""

    kind: ClassVar[str] = "crash"
    family: ClassVar[str] = "agent"

    def on_submit(self, event: Event, change: SubmitChange, memo: Memo) -> bool:
        """Forget."""
        change.forget = True
        return True


@dataclass(frozen=True, slots=True)
class Replay(SubmitFault):
    """The task is run again from outside: a write is sent twice, and only one of the answers is heard."""

    kind: ClassVar[str] = "replay"
    family: ClassVar[str] = "agent"

    def verbs(self) -> frozenset[str]:
        """Return where it strikes."""
        return _WRITES

    def on_submit(self, event: Event, change: SubmitChange, memo: Memo) -> bool:
        """Repeat a write."""
        change.repeat = True
        return True


@dataclass(frozen=True, slots=True)
class HumanDelay(SubmitFault):
    """A person must approve the action first; it is carried out as it was decided, only later."""

    delay_s: Dist = field(default=Constant(30 * MINUTE))
    kind: ClassVar[str] = "human_delay"
    family: ClassVar[str] = "agent"

    def on_submit(self, event: Event, change: SubmitChange, memo: Memo) -> bool:
        """Wait for the person."""
        change.delay_s += self.delay_s.ppf(event.us[0])
        return True


@dataclass(frozen=True, slots=True)
class TwoAgents(SubmitFault, Staged):
    """A hand-over gone wrong: from the strike on the next agent of the scenario owns the load as well.

    It does every write of that order too, ``after`` the first agent, under its own name. With one agent alone the
    double is that agent's own. Its client makes the keys, if it sends any.
    """

    after_s: float = 1 * MINUTE
    kind: ClassVar[str] = "two_agents"
    family: ClassVar[str] = "agent"
    always: ClassVar[bool] = True

    def on_submit(self, event: Event, change: SubmitChange, memo: Memo) -> bool:
        """Let the other agent do it too, once it owns the load."""
        if event.drawn:
            memo[event.order] = True
        if event.endpoint not in _WRITES or event.order not in memo:
            return False
        agents = stage_of(memo).world.spec.agents
        other = agents[(agents.index(event.agent) + 1) % len(agents)]
        change.twins.append((other, self.after_s))
        return True
