"""``faults:`` in scenario files: which kind, whom it strikes, when, how often, and the kind's own settings.

The settings of a kind are the fields of its class, so a new kind needs nothing here. A field that ends in ``_s`` is a
duration and is written without the ending, as is ``_cents`` (money); ``_p`` is a probability; a distribution is
written as everywhere else.
"""

from __future__ import annotations

import dataclasses
import re
import typing
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, create_model

from masim.scenario.dist_models import Doc, DurationDist
from masim.scenario.quantities import (
    Clock,
    Count,
    CountOrZero,
    Duration,
    Money,
    Name,
    NonNegative,
    PositiveDuration,
    Probability,
    Text,
    choice,
    refusal,
)
from masim.sim.dists import Dist
from masim.sim.faults.base import Fault
from masim.sim.faults.registry import FAULTS
from masim.sim.faults.states import STATES
from masim.sim.spec import OWN_VERBS, Verb

_FIELD_RE = re.compile(r"(\*|[0-9]{1,2})(?:-([0-9]{1,2}))?(?:/([0-9]{1,2}))?")
PHASES = {
    "tendering": (Verb.QUOTE, Verb.TENDER, Verb.TENDER_STATUS, Verb.CANCEL_TENDER),
    "booking": (
        Verb.AVAILABILITY,
        Verb.HOLD,
        Verb.SCHEDULE,
        Verb.RESCHEDULE,
        Verb.CANCEL_APPOINTMENT,
        Verb.APPOINTMENT_DETAILS,
    ),
    "moving": (Verb.DISPATCH, Verb.TRACK),
}
"""Parts of a booking chain, as groups of endpoints."""
ENDPOINTS = (*(v.value for v in Verb if v not in OWN_VERBS), "callback")


def cron_values(text: str, top: int) -> tuple[int, ...]:
    """Return the numbers below ``top`` that one field of a cron expression names. Raises ValueError."""
    found: set[int] = set()
    for part in text.split(","):
        match = _FIELD_RE.fullmatch(part)
        if match is None:
            raise ValueError(f"{part!r} is no cron field")
        low, high = (0, top - 1) if match[1] == "*" else (int(match[1]), int(match[2] or match[1]))
        if not low <= high < top or match[3] == "0":
            raise ValueError(f"{part!r} leaves 0 to {top - 1}")
        found.update(range(low, high + 1, int(match[3] or 1)))
    return tuple(sorted(found))


def _cron(value: Any) -> Any:
    allowed = "minute and hour of a cron expression, then * * *"
    fix = "write it as '*/30 9-16 * * *'"
    if not isinstance(value, str) or len(parts := value.split()) != 5 or parts[2:] != ["*", "*", "*"]:
        raise refusal("not a cron expression of a day", allowed, fix)
    try:
        cron_values(parts[0], 60), cron_values(parts[1], 24)
    except ValueError as error:
        raise refusal(f"not a cron expression: {error}", allowed, fix) from error
    return value


CronText = Annotated[str, BeforeValidator(_cron), WithJsonSchema({"type": "string", "examples": ["*/30 9-16 * * *"]})]
StateName = Annotated[str, BeforeValidator(choice(STATES, "state"))]
PhaseName = Annotated[str, BeforeValidator(choice(PHASES, "phase"))]
KindName = Annotated[str, BeforeValidator(choice(FAULTS, "kind of fault"))]
EndpointName = Annotated[str, BeforeValidator(choice(ENDPOINTS, "endpoint"))]


class MatchDoc(Doc):
    """Whom the fault strikes; an absent list means every one."""

    vendors: tuple[Name, ...] = ()
    endpoints: tuple[EndpointName, ...] = ()
    agents: tuple[Name, ...] = ()
    phase: PhaseName | None = Field(default=None, description="A part of the booking chain, instead of endpoints.")


class SpellsDoc(Doc):
    """Random spells: exponential gaps, then a spell."""

    gap_mean: PositiveDuration
    length: DurationDist
    shared: bool = Field(default=False, description="One timeline for all matched vendors: a common upstream.")


class WhenDoc(Doc):
    """When the fault can strike; all that is given must hold."""

    windows: tuple[tuple[Clock, Clock], ...] = Field(default=(), description="Clock times, [from, to).")
    days: tuple[CountOrZero, ...] = Field(default=(), description="Days of the campaign; the first is 0.")
    cron: CronText | None = Field(default=None, description="Minute and hour of every start of a window.")
    lasts: PositiveDuration | None = Field(default=None, description="Length of a window of `cron`.")
    calls: tuple[Count, Count] | None = Field(
        default=None, description="From which to which matched event of an agent."
    )
    state: StateName | None = Field(default=None, description="State of the order.")
    spells: SpellsDoc | None = None


class MarkovDoc(Doc):
    """Probability in good and bad spells."""

    good_p: Probability
    bad_p: Probability
    bad_share: Probability
    bad_mean: PositiveDuration


class FaultDoc(Doc):
    """One injected fault."""

    id: Name
    kind: KindName
    match: MatchDoc = MatchDoc()
    when: WhenDoc = WhenDoc()
    p: Probability | None = Field(default=None, description="Probability per matched event; absent: 1.")
    nth: Count | None = Field(default=None, description="Only the n-th matched event of each agent.")
    every: Count | None = Field(default=None, description="Each n-th matched event of each agent.")
    markov: MarkovDoc | None = None
    max_active: CountOrZero = Field(default=0, description="Most strikes under way at once; 0: no bound.")
    max_strikes: CountOrZero = Field(default=0, description="Most strikes in an episode; 0: no bound.")
    settings: dict[str, Any] = Field(default={}, alias="with", description="Settings of the kind.")


def setting_name(field: str) -> str:
    """Return how a field of a kind is written in a scenario."""
    return field.removesuffix("_s").removesuffix("_cents")


@cache
def settings_doc(kind: type[Fault]) -> type[Doc]:
    """Return the model of a kind's settings, made from the fields of its class."""
    hints = typing.get_type_hints(kind)
    fields: dict[str, Any] = {}
    for entry in dataclasses.fields(kind):  # type: ignore[arg-type]
        fields[setting_name(entry.name)] = (_annotation(entry.name, hints[entry.name]) | None, None)
    return create_model(f"{kind.__name__}Settings", __base__=Doc, **fields)


def _annotation(name: str, hint: Any) -> Any:
    """Return how a field of a class is checked."""
    if hint is Dist:
        return DurationDist
    if name.endswith("_s"):
        return Duration
    if name.endswith("_cents"):
        return Money
    if name.endswith("_p"):
        return Probability
    if typing.get_origin(hint) is Literal:
        return Annotated[str, BeforeValidator(choice(typing.get_args(hint), name))]
    plain: dict[Any, Any] = {
        float: NonNegative,
        int: CountOrZero,
        str: Text,
        bool: bool,
        tuple[str, ...]: tuple[Name, ...],
    }
    return plain[hint]
