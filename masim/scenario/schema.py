"""What a scenario file and an API profile may say: frozen models, unknown keys refused.

A scenario names its profiles and says what differs from them; :mod:`masim.scenario.resolve` lays the two together
and the result is again a :class:`ScenarioDoc`, with every number in its place. Fields that a profile or a
``*_defaults`` section may supply are optional here; :mod:`masim.scenario.build` demands what is still missing.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from masim.scenario.contract_docs import CarrierContract, Date, DockContract
from masim.scenario.dist_models import Doc, DurationDist, MassDist
from masim.scenario.drift_docs import DriftDoc
from masim.scenario.fault_docs import FaultDoc
from masim.scenario.history_docs import VersionDoc
from masim.scenario.quantities import (
    ApiVerb,
    Background,
    Clock,
    Count,
    CountOrZero,
    DockType,
    Duration,
    Money,
    Name,
    NonNegative,
    PositiveDuration,
    PricePerMass,
    Probability,
    Rate,
    Reward,
    ScenarioId,
    Sigma,
    Text,
    Weight,
    ZoneOffset,
)
from masim.scenario.role_docs import AgentsDoc
from masim.scenario.turn_docs import TurnDoc


class ProfilesDoc(Doc):
    """Names of files in ``scenarios/profiles/`` (or paths ending in .yaml, relative to the scenario)."""

    apis: Text | None = Field(default=None, description="How APIs, callbacks and outages behave.")
    carriers: Text | None = Field(default=None, description="Measured carriers to pick from.")


class TimeDoc(Doc):
    """The clock of a day and the length of a campaign."""

    day_start: Clock = Field(description="Clock time at which the agents start to book.")
    booking_end: Clock = Field(description="Clock time after which nobody decides any more.")
    campaign_days: Count = Field(description="Consecutive days over the same vendors; memories carry over.")
    date: Date | None = Field(default=None, description="Calendar date of day 0; needed where a dock has a zone.")
    utc_offset: ZoneOffset = Field(default=0.0, description="The scenario's own clock minus UTC; it has no DST.")


class RateLimitDoc(Doc):
    """A token bucket per vendor and endpoint, shared by all agents."""

    rate: Rate
    burst: Count
    retry_after: bool = Field(default=True, description="Whether a refusal says how long to wait.")


class StationDoc(Doc):
    """Servers per vendor and endpoint, shared by all agents."""

    servers: Count = Field(description="Calls served at the same time.")
    service: DurationDist = Field(description="How long one call keeps a server, on top of the latency.")
    queue: CountOrZero | None = Field(
        default=None, description="Places to wait in, first come, first served; 0: none; absent: no bound."
    )
    refusal: Literal[429, 503] | None = Field(
        default=None, description="Code of the answer when no place is left; 503 by default."
    )


class TransientDoc(Doc):
    """Errors per call in good and bad spells."""

    good_p: Probability
    bad_p: Probability
    bad_share: Probability = Field(description="Share of the time that is bad.")
    bad_mean: PositiveDuration = Field(description="Mean length of a bad spell.")


class ApiDoc(Doc):
    """One endpoint; every key lays over the APIs profile. ``null`` removes a rate limit, a stale age or a station."""

    latency: DurationDist | None = None
    transient: TransientDoc | None = None
    rate_limit: RateLimitDoc | None = None
    lost_request_p: Probability = 0.0
    lost_response_p: Probability = Field(default=0.0, description="The effect happened, the answer never arrives.")
    stale_age: DurationDist | None = Field(default=None, description="Age of the snapshot that a read answers from.")
    station: StationDoc | None = Field(default=None, description="Absent: any number of calls are served at once.")


class CarrierTerms(CarrierContract):
    """What a carrier charges and how it decides; ``carrier_defaults`` holds what most of them share."""

    price: Money | None = Field(default=None, description="Fixed part of the price of a leg.")
    price_per_kg: PricePerMass | None = None
    price_sigma: Sigma = Field(default=0.1, description="Spread of the price from day to day.")
    accept_p: Probability | None = None
    decision_delay: DurationDist | None = None
    quote_ttl: PositiveDuration | None = None
    cancel_fee: Money | None = None
    late: DurationDist | None = Field(default=None, description="Lateness of a truck that is late.")
    late_scale: Duration | None = Field(
        default=None,
        description="What a day late in the carriers profile counts as here; used when `late` is absent.",
    )


class CarrierDoc(CarrierTerms):
    """One carrier of the scenario."""

    id: Name
    profile: Name | None = Field(default=None, description="Entry of the carriers profile, when its id is another one.")


class DockTerms(DockContract):
    """How docks book; ``dock_defaults`` holds what most of them share."""

    type: DockType | None = None
    open: Clock | None = None
    close: Clock | None = None
    slot: PositiveDuration | None = None
    capacity: Count | None = None
    background_per_slot: Background | None = Field(default=None, description="Expected bookings of others per slot.")
    decision_delay: DurationDist | None = Field(default=None, description="Needed unless the type is AUTOMATIC.")
    hold_ttl: PositiveDuration | None = Field(default=None, description="How long a hold lasts; absent: no holds.")
    slots_per_answer: Count = 4
    cancel_fee: Money = 0
    utc_offset: ZoneOffset = 0.0


class DockDoc(DockTerms):
    """One dock of the scenario."""

    id: Name


class ShipperDoc(Doc):
    """One shipper: whose goods an order moves."""

    id: Name


class HiddenDoc(Doc):
    """Facts that no API shows, dealt out anew by each campaign."""

    on_time_p: tuple[Probability, ...] = Field(description="One per carrier, dealt in a random order.")
    refused_per_shipper: CountOrZero = Field(default=0, description="How many carriers each shipper refuses.")
    drift: DriftDoc | None = Field(default=None, description="How shares on time change; absent: they stay.")


class LegDoc(Doc):
    """One leg; a list of docks means one of them, no docks means no appointment."""

    pickup_docks: tuple[Name, ...] = ()
    delivery_docks: tuple[Name, ...] = ()
    pickup_open: Clock = Field(description="Earliest pickup.")
    delivery_due: Clock = Field(description="Latest delivery.")
    transit: DurationDist
    transit_plan: PositiveDuration = Field(description="What a planner should allow for the drive.")


class OrdersDoc(Doc):
    """How each agent's orders of a day look."""

    per_agent: Count
    weight: MassDist
    budget_factor: NonNegative = Field(description="Budget of an order: this times the median price of its legs.")
    load_types: dict[Name, Weight] = Field(default={}, description="Types of loads with their shares of the orders.")
    legs: tuple[LegDoc, ...]


class MessagesDoc(Doc):
    """Callbacks of decisions that come later."""

    delay: DurationDist | None = None
    lost_p: Probability = 0.0
    duplicate_p: Probability = 0.0


class OutagesDoc(Doc):
    """Outages of one vendor's whole API."""

    gap_mean: PositiveDuration
    length: DurationDist


class RewardsDoc(Doc):
    """Reward per event."""

    outcome: Literal["completed", "safe"] = "completed"
    decision: Reward = -0.1
    illegal: Reward = -0.1
    unsupported_claim: Reward = -1.0
    duplicate: Reward = -2.0
    credit_at: Literal["landing", "request"] = "landing"


class ScenarioDoc(Doc):
    """A scenario file."""

    schema_version: Literal[1] = Field(alias="schema", description="Version of this format.")
    id: ScenarioId
    title: Text
    description: Text = ""
    extends: Text | None = Field(default=None, description="File that this one says its differences from.")
    history: tuple[VersionDoc, ...] = Field(default=(), description="What each version changed, the oldest first.")
    profiles: ProfilesDoc = ProfilesDoc()
    time: TimeDoc
    agents: AgentsDoc
    apis: dict[ApiVerb, ApiDoc] = Field(description="The endpoints of this scenario; {} takes the profile's numbers.")
    carrier_defaults: CarrierTerms = CarrierTerms()
    carriers: tuple[CarrierDoc, ...]
    dock_defaults: DockTerms = DockTerms()
    docks: tuple[DockDoc, ...] = ()
    shippers: tuple[ShipperDoc, ...]
    hidden: HiddenDoc
    orders: OrdersDoc
    messages: MessagesDoc = MessagesDoc()
    outages: OutagesDoc | None = Field(default=None, description="Absent: the profile's; null: none.")
    turn: TurnDoc = TurnDoc()
    late_grace: Duration = Field(default=1800.0, description="A truck at most this late is still served.")
    rewards: RewardsDoc = RewardsDoc()
    faults: tuple[FaultDoc, ...] = Field(default=(), description="Injected on top of what the endpoints do anyway.")
    profile_faults: bool = Field(default=False, description="Whether the faults of the APIs profile are taken too.")


class ApisProfileDoc(Doc):
    """An APIs profile: how endpoints behave in one regime (calm, typical, peak, hostile)."""

    schema_version: Literal[1] = Field(alias="schema")
    id: ScenarioId
    title: Text
    description: Text = ""
    reads: ApiDoc = Field(description="Every endpoint that changes nothing.")
    writes: ApiDoc = Field(description="Every endpoint that changes something.")
    apis: dict[ApiVerb, ApiDoc] = Field(default={}, description="What differs for one endpoint.")
    messages: MessagesDoc
    outages: OutagesDoc | None = None
    faults: tuple[FaultDoc, ...] = Field(default=(), description="What scenarios with `profile_faults` take too.")


class Measured(BaseModel):
    """Base of what a fit wrote: the keys that worlds need are checked, further measurements are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class LateDaysDoc(Measured):
    """Days late of a late delivery, log-normal."""

    median: NonNegative
    sigma: Sigma


class CarrierProfileEntry(Measured):
    """A measured carrier."""

    id: Name
    late_days: LateDaysDoc | None = None
    cents_per_kg: NonNegative | None = None
    source: Text = ""


class CarriersProfileDoc(Measured):
    """A carriers profile, as ``masim fit`` writes it."""

    schema_version: Literal[1] = Field(alias="schema")
    carriers: tuple[CarrierProfileEntry, ...]
