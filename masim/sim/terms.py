"""What a vendor's contract says beside prices and hours: how decisions arrive, keys, rules, fees, and its life.

All values are frozen; the defaults are a vendor that uses none of it, which costs a world nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from masim.sim.dists import Dist
from masim.units import HOUR


class Decisions(StrEnum):
    """How the decision about a request comes to the agent that asked."""

    SYNCHRONOUS = "synchronous"
    """In the answer itself."""
    CALLBACK = "callback"
    """Later, as a message."""
    POLL = "poll"
    """Never by itself: ``tender_status`` and ``appointment_details`` tell; this vendor sends no message at all."""


class KeyRule(StrEnum):
    """What a vendor does with an idempotency key."""

    IGNORED = "ignored"
    HONOURED = "honoured"
    """The same key gives the first answer again, for ever, whatever the request says."""
    EXPIRES = "expires"
    """As honoured, until the key is older than its time to live."""
    STRICT = "strict"
    """As honoured, but a key that comes with another request is refused with 409."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What every vendor's API has in common."""

    decisions: Decisions = Decisions.CALLBACK
    retry_after_s: float = 0.0
    """What a PENDING answer says about when to ask again; 0: nothing."""
    key_rule: KeyRule = KeyRule.IGNORED
    key_ttl_s: float | None = None
    """``None``: keys are known for ever."""


NO_TERMS = Terms()
ANY_LOAD = ""
"""The load type of an order in a scenario without load types."""


@dataclass(frozen=True, slots=True)
class DockRules:
    """What a dock demands of bookings. Clock times are seconds after the scenario's midnight, or local with a zone."""

    lead_min_s: float = 0.0
    """A slot is booked at the latest this long before it starts."""
    lead_max_s: float | None = None
    """... and at the earliest this long before."""
    change_lead_s: float = 0.0
    """An appointment is moved at the latest this long before it starts."""
    cutoff_s: float | None = None
    """Clock time after which nothing is booked for the same day."""
    blackouts: tuple[tuple[float, float], ...] = ()
    """Clock times between which no slot starts."""
    confirm_by_s: float | None = None
    """How long before its slot an unconfirmed appointment lapses; ``None``: the carrier confirms by itself."""
    cancel_free_s: float | None = None
    """A cancellation at least this long before the slot costs nothing; ``None``: it always costs the fee."""
    changes_decided: bool = False
    """A deferred dock decides about changes too, and keeps the old slot meanwhile."""
    dwell: Dist | None = None
    """How long loading or unloading takes; ``None``: no time."""
    zone: str = ""
    """IANA zone of the dock's clock times; empty: the scenario's own clock."""


@dataclass(frozen=True, slots=True)
class LoadRules:
    """What a dock demands of loads of one type instead of its usual rules."""

    load_type: str
    rules: DockRules
    cancel_fee_cents: int = 0
    capacity: int | None = None
    """Of a slot's places, how many at most take loads of this type; ``None``: all of them."""


@dataclass(frozen=True, slots=True)
class Fees:
    """What a carrier charges beside its price and its cancellation fee."""

    detention_free_s: float = 2 * HOUR
    detention_cents_per_h: int = 0
    tonu_cents: int | None = None
    """Truck ordered, not used: what a truck that was turned away costs instead of the freight."""


@dataclass(frozen=True, slots=True)
class CarrierLoad:
    """What a carrier says of loads of one type instead of what it says of all."""

    load_type: str
    quote_ttl_s: float
    cancel_fee_cents: int
    fees: Fees


@dataclass(frozen=True, slots=True)
class Life:
    """A vendor's comings and goings, in seconds after the start of the campaign."""

    joins_s: float = 0.0
    gone_s: float | None = None
    successor: str = ""
    degrades_s: float | None = None
    on_time_factor: float = 1.0
    """What is left of a carrier's on-time probability from then on."""


@dataclass(frozen=True, slots=True)
class Decline:
    """What becomes of a dock that degrades."""

    slower: float = 1.0
    """Its decisions and its handling of trucks take this much longer."""
    capacity: int | None = None
    """Places per slot, or ramps, that it has left for new bookings; what is booked stays."""


NO_RULES = DockRules()
NO_FEES = Fees()
NO_LIFE = Life()
NO_DECLINE = Decline()
