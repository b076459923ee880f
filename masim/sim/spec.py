"""What a world is made of: frozen values that the scenario layer builds and the simulator reads.

Times are simulated seconds, money is cents, rates are per second, probabilities lie in [0, 1]. ``Instance`` names
one episode: the campaign (which fixes the hidden facts), the day in it, and the namespace of its noise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from masim.sim.dists import Dist
from masim.sim.drift import DriftSpec
from masim.sim.faults.rules import FaultSpec
from masim.sim.staff import StaffSpec
from masim.sim.terms import (
    NO_DECLINE,
    NO_FEES,
    NO_LIFE,
    NO_RULES,
    NO_TERMS,
    CarrierLoad,
    Decline,
    DockRules,
    Fees,
    Life,
    LoadRules,
    Terms,
)
from masim.sim.turn import TurnSpec


class Verb(StrEnum):
    """Every API endpoint of the world, and what an agent does without an API: wait, declare, hand over."""

    QUOTE = "quote"
    TENDER = "tender"
    TENDER_STATUS = "tender_status"
    CANCEL_TENDER = "cancel_tender"
    AVAILABILITY = "availability"
    HOLD = "hold"
    SCHEDULE = "schedule"
    RESCHEDULE = "reschedule"
    CANCEL_APPOINTMENT = "cancel_appointment"
    APPOINTMENT_DETAILS = "appointment_details"
    CONFIRM_APPOINTMENT = "confirm_appointment"
    DISPATCH = "dispatch"
    TRACK = "track"
    DECLARE = "declare"
    WAIT = "wait"
    HEALTH = "health"
    HAND_OVER = "hand_over"


CARRIER_VERBS = (Verb.QUOTE, Verb.TENDER, Verb.TENDER_STATUS, Verb.CANCEL_TENDER, Verb.DISPATCH, Verb.TRACK)
OWN_VERBS = (Verb.DECLARE, Verb.WAIT, Verb.HAND_OVER)
"""What an agent does without an API."""
EXTRA_VERBS = (Verb.HEALTH,)
"""Carrier endpoints that a scenario has only for what it studies; features know them by their empty code."""
DOCK_VERBS = (
    Verb.AVAILABILITY,
    Verb.HOLD,
    Verb.SCHEDULE,
    Verb.RESCHEDULE,
    Verb.CANCEL_APPOINTMENT,
    Verb.APPOINTMENT_DETAILS,
    Verb.CONFIRM_APPOINTMENT,
)
WRITE_VERBS = frozenset(
    {
        Verb.TENDER,
        Verb.CANCEL_TENDER,
        Verb.HOLD,
        Verb.SCHEDULE,
        Verb.RESCHEDULE,
        Verb.CANCEL_APPOINTMENT,
        Verb.CONFIRM_APPOINTMENT,
        Verb.DISPATCH,
    }
)


class AppointmentType(StrEnum):
    """How a dock decides (Scheduling Standards Consortium)."""

    AUTOMATIC = "AUTOMATIC"
    DEFERRED = "DEFERRED"
    FCFS = "FCFS"
    CARRIER_CONFIRMATION_REQUIRED = "CARRIER_CONFIRMATION_REQUIRED"


class Status(StrEnum):
    """Status of an appointment or a tender (Scheduling Standards Consortium)."""

    NOT_SCHEDULED = "NOT_SCHEDULED"
    CONFIRMED = "CONFIRMED"
    UNCONFIRMED = "UNCONFIRMED"
    PENDING = "PENDING"
    REJECTED = "REJECTED"
    CANCELED = "CANCELED"


@dataclass(frozen=True, slots=True)
class RateLimit:
    """A token bucket per vendor and endpoint, shared by all agents (one API key)."""

    rate_per_s: float
    burst: int
    retry_after: bool = True


@dataclass(frozen=True, slots=True)
class Transient:
    """Errors per call from a two-state Markov process: good and bad spells, each with its own probability."""

    good_p: float
    bad_p: float
    bad_share: float
    bad_mean_s: float


@dataclass(frozen=True, slots=True)
class StationSpec:
    """Servers per vendor and endpoint, shared by all agents: what a call waits for comes from the load."""

    servers: int
    service: Dist
    queue: int | None = None
    """Places to wait, served in order; 0 is a cap on concurrent calls, ``None`` has no bound."""
    refusal: int = 503
    """Code of the answer when every server and every place is taken: 503 or 429."""


@dataclass(frozen=True, slots=True)
class ApiSpec:
    """One endpoint, served by every vendor of its kind."""

    verb: Verb
    latency: Dist
    transient: Transient
    rate_limit: RateLimit | None = None
    lost_request_p: float = 0.0
    lost_response_p: float = 0.0
    stale_age: Dist | None = None
    """Age of the snapshot that a read answers from; ``None`` reads the present."""
    station: StationSpec | None = None
    """``None``: the endpoint serves any number of calls at once."""


@dataclass(frozen=True, slots=True)
class OutageSpec:
    """Outages of one vendor's whole API: exponential gaps, random lengths; every call answers 503 meanwhile."""

    gap_mean_s: float
    length: Dist


@dataclass(frozen=True, slots=True)
class CarrierSpec:
    """A carrier as its own API shows it. Its reliability is hidden: see :class:`HiddenSpec`."""

    id: str
    base_cents: int
    cents_per_kg: float
    accept_p: float
    decision_delay: Dist
    quote_ttl_s: float
    cancel_fee_cents: int
    late_s: Dist
    """Lateness of a truck that is late."""
    price_sigma: float = 0.1
    terms: Terms = NO_TERMS
    fees: Fees = NO_FEES
    life: Life = NO_LIFE
    loads: tuple[CarrierLoad, ...] = ()


@dataclass(frozen=True, slots=True)
class DockSpec:
    """A dock operator: slots of equal length between opening and closing, each with a capacity."""

    id: str
    type: AppointmentType
    open_s: float
    close_s: float
    slot_s: float
    capacity: int
    background_per_slot: float
    """Expected bookings of other shippers per slot over the booking phase."""
    decision_delay: Dist
    hold_ttl_s: float | None = None
    slots_per_answer: int = 4
    cancel_fee_cents: int = 0
    utc_offset_s: float = 0.0
    terms: Terms = NO_TERMS
    rules: DockRules = NO_RULES
    loads: tuple[LoadRules, ...] = ()
    """Load types with rules of their own; all others go by ``rules``."""
    life: Life = NO_LIFE
    decline: Decline = NO_DECLINE
    """What it is from ``life.degrades_s`` on."""


@dataclass(frozen=True, slots=True)
class HiddenSpec:
    """Facts that no API shows and that the campaign seed deals out anew, so only memory can know them."""

    on_time_p: tuple[float, ...]
    """One per carrier, dealt to the carriers in a random order."""
    refused_per_shipper: int = 0
    """How many carriers each shipper refuses: their tenders are rejected."""
    drift: DriftSpec | None = None
    """How the carriers' reliability changes during a campaign; ``None``: it stays."""


@dataclass(frozen=True, slots=True)
class LegSpec:
    """One leg of an order template. Docks are drawn from ``pickup_docks`` and ``delivery_docks``."""

    pickup_docks: tuple[str, ...]
    delivery_docks: tuple[str, ...]
    pickup_open_s: float
    """Earliest pickup, after the start of the day."""
    delivery_due_s: float
    """Latest delivery, after the start of the day."""
    transit: Dist
    transit_plan_s: float
    """What a planner should allow for the drive."""


@dataclass(frozen=True, slots=True)
class OrderSpec:
    """How each agent's orders of a day look. With no docks on a leg, no appointments are needed."""

    per_agent: int
    legs: tuple[LegSpec, ...]
    weight_kg: Dist
    budget_factor: float
    """An order's budget: this times the median price of its legs."""
    load_types: tuple[tuple[str, float], ...] = ()
    """Load types with their shares of the orders; empty: loads have no type."""


@dataclass(frozen=True, slots=True)
class MessageSpec:
    """Callbacks of asynchronous decisions."""

    delay: Dist
    lost_p: float = 0.0
    duplicate_p: float = 0.0


@dataclass(frozen=True, slots=True)
class RewardSpec:
    """Reward per event; the outcome channel and the penalty channel stay apart."""

    outcome: str = "completed"
    """``completed`` or ``safe``: what the outcome 1 of an order demands."""
    decision: float = -0.1
    illegal: float = -0.1
    unsupported_claim: float = -1.0
    duplicate: float = -2.0
    """Per paid effect beyond one: a second appointment for a stop, a second truck for a leg."""
    credit_at: str = "landing"


@dataclass(frozen=True, slots=True)
class WorldSpec:
    """The whole world: everything that the simulator needs, hashed with the scenario."""

    id: str
    agents: tuple[str, ...]
    campaign_days: int
    day_start_s: float
    """Clock time at which the agents start to book."""
    booking_end_s: float
    """Clock time after which nobody decides any more."""
    max_decisions: int
    client_deadline_s: float
    apis: tuple[ApiSpec, ...]
    carriers: tuple[CarrierSpec, ...]
    docks: tuple[DockSpec, ...]
    shippers: tuple[str, ...]
    hidden: HiddenSpec
    orders: OrderSpec
    messages: MessageSpec
    outages: OutageSpec | None
    late_grace_s: float
    """A truck that comes at most this much after its slot's start is still served."""
    rewards: RewardSpec = field(default_factory=RewardSpec)
    turn: TurnSpec = field(default_factory=TurnSpec)
    faults: tuple[FaultSpec, ...] = ()
    """Injected on top of what the endpoints do anyway."""
    date: str = ""
    """ISO date of day 0; empty: no calendar."""
    utc_offset_s: float = 0.0
    """The scenario's clock minus UTC, where there is a calendar."""
    staff: StaffSpec | None = None
    """Roles of the agents; ``None``: everybody may do everything and is there all day."""


@dataclass(frozen=True, slots=True, order=True)
class Instance:
    """One episode: ``(campaign_seed, day)`` in the noise namespace ``train``, ``eval`` or ``audit``."""

    campaign_seed: int
    day: int
    namespace: str = "eval"
