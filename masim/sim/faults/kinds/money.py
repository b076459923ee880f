"""Family 11, money: what was quoted is not what holds, and what is billed is more than the freight.

Every amount goes through the world's ledger, so money still sums to zero.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from masim.errors import ConfigError
from masim.sim.dists import Dist, Exponential
from masim.sim.faults.base import CallChange, CallFault, Memo
from masim.sim.faults.engine import Stage
from masim.sim.faults.event import Event
from masim.sim.faults.kinds.staged import Staged, stage_of
from masim.sim.spec import Verb
from masim.sim.wire import Body, Call, Result
from masim.units import HOUR, MINUTE

if TYPE_CHECKING:
    from masim.sim.world import World


def _done(body: Body) -> bool:
    return body.result in (Result.SUCCESS, Result.PENDING)


@dataclass(frozen=True, slots=True)
class QuoteExpiry(CallFault, Staged):
    """A quote ends ``after`` it was given, whatever it said; a tender then reads 410."""

    after_s: float = 1 * MINUTE
    kind: ClassVar[str] = "quote_expiry"
    family: ClassVar[str] = "money"

    def verbs(self) -> frozenset[str]:
        """Return where it strikes."""
        return frozenset({Verb.QUOTE.value})

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Let the quote end early; the strike is counted when it does."""
        stage = stage_of(memo)
        stage.world.clock.at(event.t_s + event.latency_s + self.after_s, _end_quote, stage, event)
        return False


def _end_quote(stage: Stage, event: Event) -> None:
    """End the quote of a call unless a later call has renewed it."""
    carrier, now = stage.world.carriers[event.vendor], stage.world.clock.now
    key = (event.order, event.leg)
    price_cents, ends_s = carrier.quotes.get(key, (0, 0.0))
    ttl_s = carrier.says_of(stage.world.orders[event.order]).quote_ttl_s
    if ends_s > now and ends_s - ttl_s <= event.t_s + event.latency_s:
        carrier.quotes[key] = (price_cents, now)
        stage.label(event)


@dataclass(frozen=True, slots=True)
class PriceChange(CallFault):
    """A struck tender is booked at ``factor`` times its quote, a struck dispatch billed at that times its tender.

    Raises ConfigError for a factor that is not above 0.
    """

    factor: float = 1.2
    kind: ClassVar[str] = "price_change"
    family: ClassVar[str] = "money"

    def __post_init__(self) -> None:
        if self.factor <= 0.0:
            raise ConfigError("a price stays above nothing", "factor", f"{self.factor:g}", "more than 0")

    def verbs(self) -> frozenset[str]:
        """Return where it strikes."""
        return frozenset({Verb.TENDER.value, Verb.DISPATCH.value})

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Change the price under the agent's hand."""
        change.acts.append(self._tender if event.endpoint == Verb.TENDER.value else self._dispatch)
        return True

    def _tender(self, world: World, call: Call, work: Callable[[], Body]) -> Body:
        quotes, key = world.carriers[call.vendor].quotes, (call.order, call.leg)
        quote = quotes.get(key)
        if quote is None:
            return work()
        quotes[key] = (round(quote[0] * self.factor), quote[1])
        body = work()
        quotes[key] = quote
        return body

    def _dispatch(self, world: World, call: Call, work: Callable[[], Body]) -> Body:
        loads = [load for load in world.carriers[call.vendor].find(call) if load.confirmed]
        agreed = [load.price_cents for load in loads]
        for load in loads:
            load.price_cents = round(load.price_cents * self.factor)
        body = work()
        if not _done(body):
            for load, price in zip(loads, agreed, strict=True):
                load.price_cents = price
        return body


class _Billed(CallFault, Staged):
    """Comes with the carrier's invoice for a leg that it delivered, an hour after the leg was due."""

    def verbs(self) -> frozenset[str]:
        """Return where it strikes."""
        return frozenset({Verb.DISPATCH.value})

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Put the invoice on the clock; the strike is counted when it comes."""
        stage = stage_of(memo)
        due_s = stage.world.legs[event.order, event.leg].plan.delivery_due_s
        stage.world.clock.at(max(due_s, event.t_s) + HOUR, self._bill, stage, event, memo)
        return False

    def _bill(self, stage: Stage, event: Event, memo: Memo) -> None:
        world, leg = stage.world, stage.world.legs[event.order, event.leg]
        amount = self.amount_cents(event.us[0])
        first = memo.setdefault((event.order, event.leg, event.vendor), event) is event
        if amount > 0 and first and leg.status == "delivered" and leg.carrier == event.vendor:
            world.ledger.pay(world.clock.now, event.agent, event.vendor, amount, event.order, self.kind)
            stage.label(event)

    @abstractmethod
    def amount_cents(self, u: float) -> int:
        """Return what the invoice asks for, from a uniform."""


@dataclass(frozen=True, slots=True)
class Detention(_Billed):
    """The truck had to wait at a dock: ``rate`` per hour for the time ``over`` what is free."""

    rate_cents: int = 5_000
    over_s: Dist = field(default=Exponential(1.4 * HOUR))
    kind: ClassVar[str] = "detention"
    family: ClassVar[str] = "money"

    def amount_cents(self, u: float) -> int:
        """Return rate times hours."""
        return round(self.rate_cents * self.over_s.ppf(u) / HOUR)


@dataclass(frozen=True, slots=True)
class Lumper(_Billed):
    """Hired hands unloaded the truck, and the carrier passes their bill on."""

    fee_cents: int = 15_000
    kind: ClassVar[str] = "lumper"
    family: ClassVar[str] = "money"

    def amount_cents(self, u: float) -> int:
        """Return the fee."""
        return self.fee_cents


@dataclass(frozen=True, slots=True)
class Fee(CallFault):
    """A call that succeeds costs a fee of its own: a change fee, a booking fee, a price per request."""

    fee_cents: int = 1_000
    kind: ClassVar[str] = "fee"
    family: ClassVar[str] = "money"

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Charge for success."""

        def act(world: World, call: Call, work: Callable[[], Body]) -> Body:
            body = work()
            if _done(body) and self.fee_cents > 0:
                world.ledger.pay(world.clock.now, event.agent, call.vendor, self.fee_cents, call.order, self.kind)
            return body

        change.acts.append(act)
        return True
