"""``faults:`` of a resolved scenario -> :class:`masim.sim.faults.rules.FaultSpec`, contradictions refused by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from masim.errors import ConfigError, ScenarioError
from masim.scenario.dist_models import DistDoc
from masim.scenario.fault_docs import PHASES, FaultDoc, MatchDoc, WhenDoc, cron_values, setting_name, settings_doc
from masim.scenario.nodes import Node
from masim.scenario.validate import shown, validate
from masim.sim.faults.armed import BURN_IN_S, MAX_SPELLS
from masim.sim.faults.base import Fault
from masim.sim.faults.registry import FAULTS
from masim.sim.faults.rules import Cron, FaultSpec, Markov, Match, Rate, SpellRule, When
from masim.units import DAY


def build_faults(faults: tuple[FaultDoc, ...], node: Node) -> tuple[FaultSpec, ...]:
    """Return the faults in their order. Raises ScenarioError for settings that the kind refuses."""
    return tuple(_fault(doc, node.find(i)) for i, doc in enumerate(faults))


def _fault(doc: FaultDoc, node: Node) -> FaultSpec:
    for problem in _contradictions(doc, node):
        raise problem
    return FaultSpec(
        id=doc.id,
        fault=_kind(doc, node),
        match=Match(doc.match.vendors, _endpoints(doc.match), doc.match.agents),
        when=_when(doc.when),
        rate=_rate(doc),
        max_active=doc.max_active,
        max_strikes=doc.max_strikes,
    )


def _kind(doc: FaultDoc, node: Node) -> Fault:
    kind = FAULTS[doc.kind]
    place = node.child("with") or Node({}, node.where)
    settings = validate(settings_doc(kind), place, f"faults.{doc.id}.with")
    names = {setting_name(name): name for name in kind.__dataclass_fields__}  # type: ignore[attr-defined]
    given = {name: _plain(getattr(settings, key)) for key, name in names.items() if place.child(key) is not None}
    try:
        return kind(**given)
    except ConfigError as error:
        where = place.find(setting_name(error.where)).where
        problem = f"faults.{doc.id}: {error.problem}"
        raise ScenarioError(problem, where, error.value, error.allowed, error.fix) from error


def _plain(value: Any) -> Any:
    return value.dist() if isinstance(value, DistDoc) else value


def _endpoints(match: MatchDoc) -> tuple[str, ...]:
    return tuple(verb.value for verb in PHASES[match.phase]) if match.phase else match.endpoints


def _when(when: WhenDoc) -> When:
    cron = None
    if when.cron is not None and when.lasts is not None:
        minute, hour = when.cron.split()[:2]
        cron = Cron(cron_values(minute, 60), cron_values(hour, 24), when.lasts)
    spells = when.spells
    return When(
        windows=when.windows,
        days=when.days,
        cron=cron,
        calls=when.calls,
        state=when.state or "",
        spells=SpellRule(spells.gap_mean, spells.length.dist(), spells.shared) if spells else None,
    )


def _rate(doc: FaultDoc) -> Rate:
    markov = doc.markov
    states = Markov(markov.good_p, markov.bad_p, markov.bad_share, markov.bad_mean) if markov else None
    return Rate(1.0 if doc.p is None else doc.p, doc.nth or 0, doc.every or 0, states)


def _contradictions(doc: FaultDoc, node: Node) -> Iterator[ScenarioError]:
    """What one fault says twice, or says half."""
    name = f"faults.{doc.id}"
    rates = [key for key in ("p", "nth", "every", "markov") if getattr(doc, key) is not None]
    if len(rates) > 1:
        problem = f"{name}: {' and '.join(rates)} contradict"
        yield ScenarioError(problem, node.find(rates[1]).where, "", "one of p, nth, every, markov", "keep one of them")
    if doc.match.phase and doc.match.endpoints:
        where = node.find("match", "phase").where
        yield ScenarioError(f"{name}: phase and endpoints contradict", where, "", "one of them", "keep one of them")
    if (doc.when.cron is None) != (doc.when.lasts is None):
        where = node.find("when").where
        fix = "add `lasts: '30 min'`" if doc.when.lasts is None else "add `cron:` or write a window"
        yield ScenarioError(f"{name}: cron and lasts belong together", where, "", "both or neither", fix)
    for i, (start, end) in enumerate(doc.when.windows):
        if start >= end:
            place = node.find("when", "windows", i)
            yield ScenarioError(f"{name}: the window ends before it starts", place.where, shown(place), "[from, to]")
    yield from _too_many_spells(doc, node)
    if doc.when.calls is not None and doc.when.calls[0] > doc.when.calls[1]:
        place = node.find("when", "calls")
        yield ScenarioError(f"{name}: no call is in this range", place.where, shown(place), "[first, last]")


def _too_many_spells(doc: FaultDoc, node: Node) -> Iterator[ScenarioError]:
    """A timeline holds so many spells; twice that leaves room for chance."""
    spells = doc.when.spells
    least_s = 2 * (BURN_IN_S + 2 * DAY) / MAX_SPELLS
    if spells is not None and (cycle_s := spells.gap_mean + spells.length.dist().mean) < least_s:
        problem = f"faults.{doc.id}: a spell every {cycle_s:.3g} s is more than a timeline holds"
        where, fix = node.find("when", "spells").where, "use a probability `p`, or the kind `flapping`"
        yield ScenarioError(problem, where, "", f"gap_mean and mean length together >= {least_s:.0f} s", fix)
