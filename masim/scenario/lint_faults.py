"""Warnings about injected faults: each loads, but does not do what its author expects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, product

from masim.scenario.checks import clock
from masim.scenario.load import Scenario
from masim.sim.faults.base import CallFault
from masim.sim.faults.rules import FaultSpec, When
from masim.sim.spec import CARRIER_VERBS, DOCK_VERBS
from masim.units import DAY, HOUR

Place = tuple[str, str]
Span = tuple[float, float]
ALWAYS: tuple[Span, ...] = ((0.0, 2 * DAY),)
LIMITS = "throttle"
"""Several limits of one kind at one endpoint are usual: so many a second, so many a day."""


def _faults(scenario: Scenario) -> Iterator[tuple[int, FaultSpec]]:
    yield from enumerate(scenario.spec.faults)


def _outside(scenario: Scenario) -> Iterator[Place]:
    """Nobody calls before the day starts or after the booking phase."""
    spec = scenario.spec
    for i, fault in _faults(scenario):
        for j, (start, end) in enumerate(fault.when.windows):
            if isinstance(fault.fault, CallFault) and not _overlap(((start, end),), _booking(scenario)):
                where = scenario.where("faults", i, "when", "windows", j)
                text = f"faults.{fault.id}: nobody calls between {clock(start)} and {clock(end)}"
                yield where, f"{text}; agents book from {clock(spec.day_start_s)} to {clock(spec.booking_end_s)}"


def _booking(scenario: Scenario) -> tuple[Span, ...]:
    return ((scenario.spec.day_start_s, scenario.spec.booking_end_s),)


def _endless(scenario: Scenario) -> Iterator[Place]:
    """A spell that outlasts the booking phase is no spell, and a window of a day never closes."""
    spec = scenario.spec
    horizon_s = spec.booking_end_s - spec.day_start_s
    for i, fault in _faults(scenario):
        spells, cron = fault.when.spells, fault.when.cron
        if spells is not None and spells.length.mean >= horizon_s:
            where = scenario.where("faults", i, "when", "spells", "length")
            text = f"faults.{fault.id}: a spell lasts {spells.length.mean / HOUR:.3g} h on average"
            yield where, f"{text}, longer than the {horizon_s / HOUR:.3g} h that there are to book"
        if cron is not None and cron.lasts_s >= DAY:
            yield scenario.where("faults", i, "when", "lasts"), f"faults.{fault.id}: its window never closes"


def _contradict(scenario: Scenario) -> Iterator[Place]:
    """Two faults of one kind that always strike the same calls, each in its own way."""
    for (_, first), (i, second) in combinations(_faults(scenario), 2):
        same_kind = type(first.fault) is type(second.fault) and first.fault.family != LIMITS
        if not same_kind or first.fault == second.fault or not (_unconditional(first) and _unconditional(second)):
            continue
        if _meet(scenario, first, second):
            text = f"faults.{second.id}: strikes the same calls as faults.{first.id}, with other settings"
            yield scenario.where("faults", i), f"{text}; both act"


def _hidden(scenario: Scenario) -> Iterator[Place]:
    """What an earlier fault always refuses never gets as far as a later one."""
    for (_, first), (i, second) in combinations(_faults(scenario), 2):
        if not isinstance(first.fault, CallFault) or not isinstance(second.fault, CallFault):
            continue
        if first.fault.refuses_all() and _unconditional(first) and _covers(scenario, first, second):
            text = f"faults.{second.id}: every call that it matches is refused by faults.{first.id} before it"
            yield scenario.where("faults", i), text


def _never(scenario: Scenario) -> Iterator[Place]:
    """A probability of 0 switches a fault off; leaving it out would have it strike always."""
    for i, fault in _faults(scenario):
        if fault.rate.p == 0.0:
            yield scenario.where("faults", i, "p"), f"faults.{fault.id}: never strikes, its p is 0"


def _unconditional(fault: FaultSpec) -> bool:
    """Return whether a fault strikes every call that it matches in its windows and days."""
    rate, when = fault.rate, fault.when
    certain = rate.p == 1.0 and not (rate.nth or rate.every or rate.markov or fault.max_active or fault.max_strikes)
    return certain and not (when.cron or when.calls or when.state or when.spells)


def _places(scenario: Scenario, fault: FaultSpec) -> set[tuple[str, str, str]]:
    """Return the (agent, vendor, endpoint) that a fault can strike; carriers and docks have endpoints of their own."""
    spec = scenario.spec
    verbs = {api.verb for api in spec.apis}
    at_carriers = product((c.id for c in spec.carriers), verbs.intersection(CARRIER_VERBS))
    at_docks = product((d.id for d in spec.docks), verbs.intersection(DOCK_VERBS))
    ends = [(vendor, verb.value) for vendor, verb in (*at_carriers, *at_docks) if fault.match.place(vendor, verb.value)]
    return {(agent, *end) for agent in spec.agents if fault.match.agent(agent) for end in ends}


def _meet(scenario: Scenario, first: FaultSpec, second: FaultSpec) -> bool:
    days = not (first.when.days and second.when.days) or set(first.when.days) & set(second.when.days)
    times = _overlap(_windows(first.when), _windows(second.when))
    return bool(days and times and _places(scenario, first) & _places(scenario, second))


def _covers(scenario: Scenario, first: FaultSpec, second: FaultSpec) -> bool:
    days = not first.when.days or (second.when.days and set(second.when.days) <= set(first.when.days))
    inside = all(
        any(low <= start and end <= high for low, high in _windows(first.when)) for start, end in _windows(second.when)
    )
    return bool(days and inside and _places(scenario, second) <= _places(scenario, first))


def _windows(when: When) -> tuple[Span, ...]:
    return when.windows or ALWAYS


def _overlap(first: tuple[Span, ...], second: tuple[Span, ...]) -> bool:
    return any(a < d and c < b for (a, b), (c, d) in product(first, second))


FAULT_WARNINGS: dict[str, Callable[[Scenario], Iterator[Place]]] = {
    "fault-window": _outside,
    "fault-endless": _endless,
    "fault-contradiction": _contradict,
    "fault-hidden": _hidden,
    "fault-never": _never,
}
