"""Warnings about faults that need what the scenario does not have: an endpoint, holds, callbacks, decisions that wait.

Where a kind can act at all follows from its bases and :meth:`masim.sim.faults.base.Fault.verbs`, so a new kind needs
nothing here unless it waits for something that no single event shows (:data:`WAITS_FOR`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from masim.scenario.load import Scenario
from masim.sim.faults.base import CallFault, DecisionFault, Fault, MessageFault, SubmitFault
from masim.sim.faults.engine import CALLBACK
from masim.sim.faults.kinds.auth import EarlyDeath, TokenExpiry, TokenFault
from masim.sim.faults.rules import FaultSpec, Rate
from masim.sim.spec import (
    CARRIER_VERBS,
    DOCK_VERBS,
    EXTRA_VERBS,
    WRITE_VERBS,
    AppointmentType,
    CarrierSpec,
    DockSpec,
    Verb,
    WorldSpec,
)
from masim.sim.terms import Decisions
from masim.units import HOUR

Site = tuple[str, str]
"""Vendor and endpoint."""
SERVER_ERROR = 500
_WRITES = frozenset(verb.value for verb in WRITE_VERBS)
_LATER = (AppointmentType.DEFERRED, AppointmentType.CARRIER_CONFIRMATION_REQUIRED)


@dataclass(frozen=True, slots=True)
class Sites:
    """Where events of each sort happen in one world."""

    calls: frozenset[Site]
    callbacks: frozenset[Site]
    decisions: frozenset[Site]
    ticks: frozenset[Site]
    """Docks with appointments, at the endpoint ``schedule``."""


def sites(spec: WorldSpec) -> Sites:
    """Return where the agents of a world call, and where its vendors decide later and call back."""
    verbs = {api.verb for api in spec.apis}
    booked = [dock for dock in spec.docks if dock.type is not AppointmentType.FCFS]
    at_carriers = {(c.id, v.value) for c in spec.carriers for v in (*CARRIER_VERBS, *EXTRA_VERBS) if v in verbs}
    at_docks = {(d.id, v.value) for d in booked for v in DOCK_VERBS if v in verbs and _serves(d, v)}
    waits = {(c.id, Verb.TENDER.value) for c in spec.carriers if c.terms.decisions is not Decisions.SYNCHRONOUS}
    waits |= {(d.id, Verb.SCHEDULE.value) for d in booked if d.type in _LATER and d.rules.confirm_by_s is None}
    waits |= {(d.id, Verb.RESCHEDULE.value) for d in booked if d.rules.changes_decided and Verb.RESCHEDULE in verbs}
    deciding = {vendor for vendor, _ in waits}
    vendors: list[CarrierSpec | DockSpec] = [*spec.carriers, *booked]
    speaks = [v.id for v in vendors if _calls_back(v, deciding)]
    return Sites(
        frozenset(at_carriers | at_docks),
        frozenset((vendor, CALLBACK) for vendor in speaks),
        frozenset(waits),
        frozenset((d.id, Verb.SCHEDULE.value) for d in booked),
    )


def _serves(dock: DockSpec, verb: Verb) -> bool:
    if verb is Verb.HOLD:
        return dock.hold_ttl_s is not None
    return verb is not Verb.CONFIRM_APPOINTMENT or dock.rules.confirm_by_s is not None


def _calls_back(vendor: CarrierSpec | DockSpec, deciding: set[str]) -> bool:
    """Return whether a vendor ever sends a message: carriers tell what happens on the road, docks what they decide."""
    if vendor.terms.decisions is Decisions.POLL:
        return False
    lapses = isinstance(vendor, DockSpec) and (vendor.rules.confirm_by_s is not None or vendor.life.gone_s is not None)
    return isinstance(vendor, CarrierSpec) or vendor.id in deciding or lapses


def reach(fault: FaultSpec, world: Sites) -> frozenset[Site]:
    """Return the sites at which a fault can do anything."""
    kind, verbs = fault.fault, fault.fault.verbs()
    found: frozenset[Site] = frozenset()
    if isinstance(kind, CallFault | SubmitFault):
        found |= world.calls
    if isinstance(kind, MessageFault):
        found |= world.callbacks
    if isinstance(kind, DecisionFault):
        found |= world.decisions
    if not isinstance(kind, CallFault | SubmitFault | MessageFault | DecisionFault):
        found |= world.ticks
    return frozenset(s for s in found if fault.match.place(*s) and (not verbs or s[1] in verbs))


def _events(kind: Fault) -> str:
    """Return in words what a kind strikes."""
    if verbs := kind.verbs():
        return f"calls of {', '.join(sorted(verbs))}"
    if isinstance(kind, CallFault | SubmitFault):
        return "calls"
    if isinstance(kind, MessageFault | DecisionFault):
        both = isinstance(kind, MessageFault) and isinstance(kind, DecisionFault)
        what = "decisions that come later" if isinstance(kind, DecisionFault) else "callbacks"
        return f"{what} and their callbacks" if both else what
    return "docks with appointments"


def _cure(fault: FaultSpec, spec: WorldSpec, world: Sites) -> str:
    """Return what the scenario lacks: the reason when something would be struck without the match, or what to add."""
    free = FaultSpec(fault.id, fault.fault)
    if reach(free, world):
        match = fault.match
        lists = (("vendors", match.vendors), ("endpoints", match.endpoints))
        named = [f"{key} {', '.join(names)}" for key, names in lists if names]
        return f"its match leaves them out ({'; '.join(named)})"
    missing = fault.fault.verbs() - {api.verb.value for api in spec.apis}
    if missing and missing == fault.fault.verbs():
        return f"add `{min(missing)}: {{}}` under `apis`"
    if fault.fault.verbs() == {Verb.HOLD.value}:
        return "give a dock `hold_ttl`"
    if isinstance(fault.fault, DecisionFault):
        return "no carrier decides after its answer, and no dock is DEFERRED"
    if isinstance(fault.fault, MessageFault):
        return "every vendor is polled"
    return "no dock has appointments"


def _unreachable(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """A fault whose endpoint, hold, decision or callback the scenario does not have never strikes."""
    spec = scenario.spec
    world = sites(spec)
    for i, fault in enumerate(spec.faults):
        name, kind = f"faults.{fault.id}", fault.fault
        if not reach(fault, world):
            text = f"{name}: {kind.kind} strikes {_events(kind)}, of which there are none here"
            yield scenario.where("faults", i, "kind"), f"{text}: {_cure(fault, spec, world)}"
            continue
        why = WAITS_FOR[kind.kind](fault, i, scenario) if kind.kind in WAITS_FOR else ""
        if why:
            yield scenario.where("faults", i, "kind"), f"{name}: {kind.kind} waits for what never comes: {why}"
        elif fault.when.state == "appointed" and not world.ticks:
            where = scenario.where("faults", i, "when", "state")
            yield where, f"{name}: no order is ever appointed, as no dock has appointments"


Wait = Callable[[FaultSpec, int, Scenario], str]
"""``wait(fault, its place in the list, scenario)``: what it waits for in vain; empty: it comes."""


def _nothing_down(fault: FaultSpec, i: int, scenario: Scenario) -> str:
    """A status page lies about a vendor that is down as a whole."""
    spec = scenario.spec
    downs = [
        f for f in spec.faults if f.fault.takes_down and f.rate == Rate() and not (f.match.endpoints or f.match.agents)
    ]
    carriers = [c.id for c in spec.carriers if fault.match.place(c.id, Verb.HEALTH.value)]
    if spec.outages is not None or any(f.match.place(c, "") for f in downs for c in carriers):
        return ""
    return "no carrier is ever down as a whole: add `outages`, or a fault of kind down without endpoints"


def _nothing_refused(fault: FaultSpec, i: int, scenario: Scenario) -> str:
    """A stampede comes after refusals with 5xx, of the endpoint's own or of a fault that stands before it."""
    spec = scenario.spec
    own = spec.outages is not None or any(
        max(api.transient.good_p, api.transient.bad_p) > 0.0 or (api.station is not None and api.station.refusal == 503)
        for api in spec.apis
    )
    if own or any(_refuses(before.fault) for before in spec.faults[:i]):
        return ""
    return "nothing refuses a call with 5xx: add `outages`, or put it after a fault that does"


def _refuses(kind: Fault) -> bool:
    code = getattr(kind, "http_status", SERVER_ERROR if kind.kind == "flapping" else 0)
    return isinstance(kind, CallFault) and code >= SERVER_ERROR


def _one_agent(fault: FaultSpec, i: int, scenario: Scenario) -> str:
    agents = [agent for agent in scenario.spec.agents if fault.match.agent(agent)]
    shared = isinstance(fault.fault, TokenFault) and fault.fault.per == "key"
    return "" if len(agents) > 1 and shared else "a race takes two agents that share a token"


def _outlives(fault: FaultSpec, i: int, scenario: Scenario) -> str:
    """A token that is taken at the first call and lives longer than the agents book never expires."""
    spec, kind = scenario.spec, fault.fault
    if not isinstance(kind, TokenExpiry | EarlyDeath):
        return ""
    lives_s = kind.life_s * (kind.share if isinstance(kind, EarlyDeath) else 1.0)
    span_s = spec.booking_end_s - spec.day_start_s
    return "" if lives_s < span_s else f"a token lives {lives_s / HOUR:g} h and agents book for {span_s / HOUR:g} h"


def _no_write_to_read(fault: FaultSpec, i: int, scenario: Scenario) -> str:
    there = reach(fault, sites(scenario.spec))
    written = {vendor for vendor, verb in there if verb in _WRITES}
    read = {vendor for vendor, verb in there if verb not in _WRITES}
    return "" if written & read else "it must match a vendor's writes and its reads"


def _no_callback_of_a_decision(fault: FaultSpec, i: int, scenario: Scenario) -> str:
    there = reach(fault, sites(scenario.spec))
    decided = {vendor for vendor, endpoint in there if endpoint != CALLBACK}
    told = {vendor for vendor, endpoint in there if endpoint == CALLBACK}
    return "" if decided & told else "it must match a vendor's request (tender, schedule) and `callback`"


WAITS_FOR: dict[str, Wait] = {
    "false_green": _nothing_down,
    "recovery_stampede": _nothing_refused,
    "refresh_race": _one_agent,
    "token_expiry": _outlives,
    "early_death": _outlives,
    "read_your_writes_miss": _no_write_to_read,
    "callback_early": _no_callback_of_a_decision,
}
"""Kinds that wait for more than an event of their own."""

NEEDS_WARNINGS: dict[str, Callable[[Scenario], Iterator[tuple[str, str]]]] = {"fault-needs": _unreachable}
