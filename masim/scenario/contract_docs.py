"""What a scenario may say of a vendor's contract: keys of carriers and docks that all have a silent default."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, available_timezones

from pydantic import BeforeValidator, Field

from masim.errors import did_you_mean
from masim.scenario.dist_models import Doc, DurationDist
from masim.scenario.quantities import (
    Clock,
    Count,
    Duration,
    Factor,
    Money,
    Name,
    PositiveDuration,
    Probability,
    choice,
    refusal,
)
from masim.sim.terms import Decisions, KeyRule

_YEARS = (1970, 2199)
"""Campaigns of any length that start in them stay within the calendar."""

DecisionWay = Annotated[Decisions, BeforeValidator(choice(Decisions, "way of decisions"))]
KeyChoice = Annotated[KeyRule, BeforeValidator(choice(KeyRule, "rule for idempotency keys"))]


class TermsDoc(Doc):
    """What carriers and docks have in common."""

    decisions: DecisionWay = Field(default=Decisions.CALLBACK, description="How the decision on a request arrives.")
    retry_after: Duration | None = Field(
        default=None, description="What a pending answer says about when to ask; 5 min when polled, else nothing."
    )
    idempotency: KeyChoice = Field(default=KeyRule.IGNORED, description="What becomes of an idempotency key.")
    idempotency_ttl: PositiveDuration | None = Field(default=None, description="How long a key that expires is known.")


def _zone(value: Any) -> Any:
    try:
        ZoneInfo(value)
    except (KeyError, OSError, ValueError, TypeError) as error:  # not found, a folder, or not a name at all
        fix = did_you_mean(str(value), available_timezones()) or "write it as America/Chicago"
        raise refusal("no such time zone", "names of the IANA time zone database", fix) from error
    return value


def _date(value: Any) -> Any:
    try:
        given = date.fromisoformat(value)
    except (ValueError, TypeError) as error:
        raise refusal("expected a date", "dates of the calendar", "write it as '2026-03-07'") from error
    if not _YEARS[0] <= given.year <= _YEARS[1]:
        raise refusal("out of range", f"years {_YEARS[0]} to {_YEARS[1]}")
    return given.isoformat()


Zone = Annotated[str, BeforeValidator(_zone)]
Date = Annotated[str, BeforeValidator(_date)]


class ReplacedDoc(Doc):
    """A vendor's end: its old id is gone for good."""

    at: Duration = Field(description="After the start of the campaign.")
    by: Name | None = Field(default=None, description="The vendor that takes its place then, unless it joined before.")


class DegradesDoc(Doc):
    """A carrier that becomes less reliable."""

    at: Duration = Field(description="After the start of the campaign.")
    on_time: Probability = Field(description="What is left of its on-time probability: a factor.")


class BlackoutDoc(Doc):
    """A time of the day in which no slot starts."""

    start: Clock
    end: Clock


class DeclinesDoc(Doc):
    """A dock that gets worse."""

    at: Duration = Field(description="After the start of the campaign.")
    slower: Factor | None = Field(default=None, description="Its decisions and its dwell take this much longer.")
    capacity: Count | None = Field(default=None, description="Places per slot that it has left for new bookings.")


class LifeDoc(TermsDoc):
    """Comings and goings of a vendor."""

    joins: Duration | None = Field(default=None, description="After the start of the campaign; absent: it is there.")
    replaced: ReplacedDoc | None = None


class CarrierLoadDoc(Doc):
    """What a carrier says of loads of one type; a key that is absent is as for all loads."""

    quote_ttl: PositiveDuration | None = None
    cancel_fee: Money | None = None
    detention_free: Duration | None = None
    detention_fee: Money | None = None
    tonu: Money | None = None


class CarrierContract(LifeDoc):
    """Fees and the life of a carrier."""

    detention_free: Duration = Field(default=7200.0, description="How long a dock may keep the truck for nothing.")
    detention_fee: Money = Field(default=0, description="Per hour beyond that.")
    tonu: Money | None = Field(default=None, description="Cost of a truck that was turned away at its pickup.")
    degrades: DegradesDoc | None = None
    load_types: dict[Name, CarrierLoadDoc] = Field(default={}, description="Other terms for types of loads.")


class LoadTypeDoc(Doc):
    """What a dock demands of loads of one type; a key that is absent is as for all loads."""

    lead_min: Duration | None = None
    lead_max: PositiveDuration | None = None
    change_lead: Duration | None = None
    cutoff: Clock | None = None
    blackouts: tuple[BlackoutDoc, ...] | None = None
    cancel_free: Duration | None = None
    cancel_fee: Money | None = None
    dwell: DurationDist | None = None
    capacity: Count | None = Field(default=None, description="Of a slot's places, those that take such loads.")


class DockContract(LifeDoc):
    """Rules of a dock."""

    lead_min: Duration = Field(default=0.0, description="Slots are booked at the latest this long before.")
    lead_max: PositiveDuration | None = Field(default=None, description="... and at the earliest this long before.")
    change_lead: Duration = Field(default=0.0, description="Appointments are moved at the latest this long before.")
    cutoff: Clock | None = Field(default=None, description="After this nothing is booked for the same day.")
    blackouts: tuple[BlackoutDoc, ...] = ()
    confirm_by: Duration | None = Field(
        default=None, description="How long before its slot what is unconfirmed lapses."
    )
    cancel_free: Duration | None = Field(default=None, description="Cancelling this long before costs nothing.")
    changes: Literal["at_once", "decided"] = "at_once"
    dwell: DurationDist | None = Field(default=None, description="How long loading or unloading takes.")
    zone: Zone | None = Field(default=None, description="IANA zone of the dock's clock times.")
    degrades: DeclinesDoc | None = None
    load_types: dict[Name, LoadTypeDoc] = Field(default={}, description="Rules of their own for types of loads.")
