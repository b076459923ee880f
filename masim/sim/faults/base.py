"""What a fault sees and what it may change.

A kind of fault is a frozen dataclass (its fields are its settings) derived from one or more of the bases below; each
base is a place in the world where faults can strike. ``memo`` is the kind's own state in one world, empty at first.
An agent never sees an event, a change or a cause id.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from masim.sim.faults.event import Event
from masim.sim.spec import Status
from masim.sim.wire import Body, Call, Message

if TYPE_CHECKING:
    from masim.sim.faults.engine import Stage
    from masim.sim.world import World

Memo = dict[Any, Any]
Patch = Callable[[Body], Body]
Act = Callable[["World", Call, Callable[[], Body]], Body]
"""``act(world, call, work)`` returns the vendor's answer; ``work()`` does what the vendor usually does."""
EVERYWHERE: frozenset[str] = frozenset()
REFUSAL_LATENCY_S = 0.05
"""How long a call takes that is turned away at the door."""


@dataclass(slots=True)
class CallChange:
    """What becomes of a call, applied in the order abort -> delay -> replace -> patch.

    An abort keeps the call from the vendor's books and answers at once; a delay holds that answer back as it would
    any other; a replacement and the patches say what the caller reads in the end.
    """

    abort: Body | None = None
    """Answer of a call that never reaches the vendor's books; the first fault that aborts a call wins."""
    scale: float = 1.0
    """Factor of the latency."""
    add_s: float = 0.0
    """Added to the latency; ``inf``: no answer ever comes (the effect happens unless the request is lost)."""
    lost: str = ""
    """``request``: neither effect nor answer; ``response``: effect, no answer."""
    effect_delay_s: float = 0.0
    """The vendor's books change this much later; the answer does not wait for it and says 202."""
    again_s: float = -1.0
    """The effect happens a second time after this long; negative: once."""
    stale_s: float = 0.0
    """A read answers from a snapshot this much older."""
    as_of_s: float = math.inf
    """A read answers from a snapshot that is not newer than this moment."""
    acts: list[Act] = field(default_factory=list)
    """What the vendor does before, after or in place of its usual work; the last one is the outermost."""
    replace: Body | None = None
    """The effect happens, the answer is this."""
    patch: list[Patch] = field(default_factory=list)
    """Changes to the answer, in order."""

    def refuse(self, body: Body) -> bool:
        """Abort the call unless an earlier fault has done so; return whether this one did."""
        if self.abort is not None:
            return False
        self.abort = body
        return True


def base_latency_s(change: CallChange, latency_s: float) -> float:
    """Return what a struck call takes before its delays: a call that a fault aborts is answered at once."""
    return latency_s if change.abort is None else REFUSAL_LATENCY_S


@dataclass(slots=True)
class MessageChange:
    """What becomes of a callback."""

    lost: bool = False
    scale: float = 1.0
    add_s: float = 0.0
    copies_s: list[float] = field(default_factory=list)
    """A further copy each, this long after the first."""
    patch: list[Callable[[Message], Message]] = field(default_factory=list)


@dataclass(slots=True)
class DecisionChange:
    """What becomes of a vendor's pending decision."""

    never: bool = False
    scale: float = 1.0
    add_s: float = 0.0
    verdict: Status | None = None
    """CONFIRMED or REJECTED whatever the vendor would have said."""
    problem: str = ""
    """What a verdict or other terms are told with."""
    price_factor: float = 1.0
    """An accepted load costs this much times its quote."""
    slots_later: int = 0
    """An appointment is decided for a slot with room at least this many later."""
    reverse_s: float = -1.0
    """A confirmation is taken back after this long; negative: never."""


@dataclass(slots=True)
class SubmitChange:
    """What becomes of an agent's submitted action."""

    delay_s: float = 0.0
    """The action is carried out this much later (a person in between)."""
    repeat: bool = False
    """The call is sent twice, as by a replayed task."""
    forget: bool = False
    """The agent restarts after the action and has lost what it knew of its bookings."""
    twins: list[tuple[str, float]] = field(default_factory=list)
    """Agents that make the same call under their own name, and how long after."""


class Fault(ABC):
    """Base of every kind. ``kind`` is its name in scenarios, ``family`` one of :data:`FAMILIES`."""

    kind: ClassVar[str]
    family: ClassVar[str]
    takes_down: ClassVar[bool] = False
    """Whether a vendor counts as down while the kind's schedule is open, for those who ask how it is."""
    always: ClassVar[bool] = False
    """Whether the kind is asked about every event that its match and schedule admit, also those that the rate did not
    draw (``event.drawn``): for kinds with a lasting state."""

    def verbs(self) -> frozenset[str]:
        """Return the endpoints at which the kind can do anything; empty: at all of them. It is asked nowhere else."""
        return EVERYWHERE

    def outage_over_s(self, t_s: float) -> float | None:
        """Return when the outage is over that a strike belongs to, as far as the kind says; None: it is no outage."""
        return None


class CallFault(Fault):
    """Strikes API calls as they are sent."""

    @abstractmethod
    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Change what becomes of a call; return whether anything was changed."""

    def refuses_all(self) -> bool:
        """Return whether no struck call reaches the vendor."""
        return False


class MessageFault(Fault):
    """Strikes callbacks as they are sent."""

    @abstractmethod
    def on_message(self, event: Event, change: MessageChange, memo: Memo) -> bool:
        """Change what becomes of a callback; return whether anything was changed."""


class DecisionFault(Fault):
    """Strikes decisions of vendors when the request for them is taken."""

    @abstractmethod
    def on_decision(self, event: Event, change: DecisionChange, memo: Memo) -> bool:
        """Change what becomes of a decision; return whether anything was changed."""


class SubmitFault(Fault):
    """Strikes agents as they act."""

    @abstractmethod
    def on_submit(self, event: Event, change: SubmitChange, memo: Memo) -> bool:
        """Change what becomes of an action; return whether anything was changed."""


class WorldFault(Fault):
    """Acts on the world by itself, by callbacks that it puts on the clock when the day starts."""

    @abstractmethod
    def on_start(self, stage: Stage, memo: Memo) -> None:
        """Schedule what is to happen."""


FAMILIES = (
    "transport",
    "status",
    "throttle",
    "auth",
    "outage",
    "commit",
    "staleness",
    "asynchronous",
    "capacity",
    "data",
    "money",
    "agent",
    "observability",
)
"""The thirteen classes of the fault taxonomy."""
