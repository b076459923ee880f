"""Family 8, asynchronous answers: decisions that do not come, change or are taken back, and callbacks astray."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from masim.errors import ConfigError
from masim.sim.dists import Constant, Dist
from masim.sim.faults.base import DecisionChange, DecisionFault, Memo, MessageChange, MessageFault
from masim.sim.faults.event import Event
from masim.units import HOUR, MINUTE


@dataclass(frozen=True, slots=True)
class PendingForever(DecisionFault):
    """The vendor never decides: the request stays pending."""

    kind: ClassVar[str] = "pending_forever"
    family: ClassVar[str] = "asynchronous"

    def on_decision(self, event: Event, change: DecisionChange, memo: Memo) -> bool:
        """Never decide."""
        change.never = True
        return True


@dataclass(frozen=True, slots=True)
class SlowDecision(DecisionFault):
    """The decision takes longer: somebody has to look."""

    delay_s: Dist = field(default=Constant(3 * HOUR))
    kind: ClassVar[str] = "slow_decision"
    family: ClassVar[str] = "asynchronous"

    def on_decision(self, event: Event, change: DecisionChange, memo: Memo) -> bool:
        """Take longer."""
        change.add_s += self.delay_s.ppf(event.us[0])
        return True


@dataclass(frozen=True, slots=True)
class ConditionalAccept(DecisionFault):
    """The vendor accepts on conditions of its own: a load at a factor of its price, an appointment some slots later.

    ``within``: the acceptance also lapses this long after it unless the truck is sent; 0: it does not.
    Raises ConfigError when there is no condition at all.
    """

    price_factor: float = 1.25
    slots_later: int = 2
    within_s: float = 0.0
    kind: ClassVar[str] = "conditional_accept"
    family: ClassVar[str] = "asynchronous"

    def __post_init__(self) -> None:
        if self.price_factor == 1.0 and not self.slots_later and not self.within_s:
            raise ConfigError("an acceptance without a condition", "price_factor", "1", "", "change one of the three")

    def on_decision(self, event: Event, change: DecisionChange, memo: Memo) -> bool:
        """Set the conditions."""
        change.price_factor *= self.price_factor
        change.slots_later += self.slots_later
        change.problem = "accepted on other terms"
        if self.within_s:
            change.reverse_s = self.within_s
        return True


@dataclass(frozen=True, slots=True)
class Reversal(DecisionFault):
    """A confirmation is taken back some time after it, before a truck was sent for it."""

    after_s: Dist = field(default=Constant(HOUR))
    kind: ClassVar[str] = "reversal"
    family: ClassVar[str] = "asynchronous"

    def on_decision(self, event: Event, change: DecisionChange, memo: Memo) -> bool:
        """Take it back later."""
        change.reverse_s = self.after_s.ppf(event.us[0])
        return True


@dataclass(frozen=True, slots=True)
class CallbackDuplicate(MessageFault):
    """The callback is delivered again, ``after`` the first time."""

    after_s: float = 5 * MINUTE
    kind: ClassVar[str] = "callback_duplicate"
    family: ClassVar[str] = "asynchronous"

    def on_message(self, event: Event, change: MessageChange, memo: Memo) -> bool:
        """Repeat it."""
        change.copies_s.append(self.after_s)
        return True


@dataclass(frozen=True, slots=True)
class CallbackReordered(MessageFault):
    """The callback is held back, so that whatever is sent meanwhile overtakes it."""

    delay_s: Dist = field(default=Constant(30 * MINUTE))
    kind: ClassVar[str] = "callback_reordered"
    family: ClassVar[str] = "asynchronous"

    def on_message(self, event: Event, change: MessageChange, memo: Memo) -> bool:
        """Hold it back."""
        change.add_s += self.delay_s.ppf(event.us[0])
        return True


@dataclass(frozen=True, slots=True)
class CallbackLost(MessageFault):
    """The callback is sent once and never arrives."""

    kind: ClassVar[str] = "callback_lost"
    family: ClassVar[str] = "asynchronous"

    def on_message(self, event: Event, change: MessageChange, memo: Memo) -> bool:
        """Lose it."""
        change.lost = True
        return True


@dataclass(frozen=True, slots=True)
class CallbackEarly(DecisionFault, MessageFault):
    """The vendor decides at once and its callback overtakes the response to the request.

    It strikes requests (``tender``, ``schedule``); a match on endpoints must also name ``callback``.
    """

    kind: ClassVar[str] = "callback_early"
    family: ClassVar[str] = "asynchronous"
    always: ClassVar[bool] = True

    def on_decision(self, event: Event, change: DecisionChange, memo: Memo) -> bool:
        """Decide at once, and remember for whom."""
        if event.drawn:
            change.scale = 0.0
            memo[event.vendor, event.order, event.leg, event.stop] = True
        return event.drawn

    def on_message(self, event: Event, change: MessageChange, memo: Memo) -> bool:
        """Let the callback of such a decision take no time."""
        early = memo.pop((event.vendor, event.order, event.leg, event.stop), False)
        if early:
            change.scale = 0.0
        return bool(early)


@dataclass(frozen=True, slots=True)
class DeadReceiver(MessageFault):
    """The agent's own receiver goes down with a callback, and all that come within ``down`` are lost as well."""

    down_s: float = 2 * HOUR
    kind: ClassVar[str] = "dead_receiver"
    family: ClassVar[str] = "asynchronous"
    always: ClassVar[bool] = True

    def on_message(self, event: Event, change: MessageChange, memo: Memo) -> bool:
        """Lose it while the receiver is down."""
        if event.drawn:
            memo[event.agent] = event.t_s + self.down_s
        if event.t_s >= memo.get(event.agent, event.t_s):
            return False
        change.lost = True
        return True
