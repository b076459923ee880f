"""Contradictions in the contracts of vendors: rules that cannot be met, zones without a calendar."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from masim.errors import ScenarioError
from masim.scenario.contract_docs import BlackoutDoc, LoadTypeDoc
from masim.scenario.nodes import Node
from masim.scenario.schema import DockDoc, ScenarioDoc
from masim.scenario.validate import shown
from masim.sim.spec import AppointmentType, Verb
from masim.sim.terms import Decisions
from masim.sim.zones import clock_on


def check_contract(doc: ScenarioDoc, node: Node) -> Iterator[ScenarioError]:
    """Yield what is wrong with the contracts of carriers and docks."""
    for i, dock in enumerate(doc.docks):
        here = node.find("docks", i)
        yield from _types(dock, here)
        yield from _zones(dock, here, doc)
        yield from _blackouts(dock, here)
        if dock.lead_max is not None and dock.lead_min > dock.lead_max:
            lead = here.find("lead_min")
            yield ScenarioError(
                f"docks.{dock.id}: lead_min above lead_max", lead.where, shown(lead), "at most lead_max"
            )
    yield from _apis(doc, node)


def on_scenario_clock(doc: ScenarioDoc) -> Mapping[str, DockDoc]:
    """Return the docks by id, with the hours and blackouts of day 0 on the scenario's clock."""
    return {dock.id: _moved(dock, doc) for dock in doc.docks}


def _moved(dock: DockDoc, doc: ScenarioDoc) -> DockDoc:
    if not dock.zone or not doc.time.date or dock.open is None or dock.close is None:
        return dock
    zone, day0, offset_s = dock.zone, doc.time.date, doc.time.utc_offset

    def here(clock_s: float) -> float:
        return clock_on(zone, day0, 0, clock_s) + offset_s

    def closed(windows: tuple[BlackoutDoc, ...]) -> tuple[BlackoutDoc, ...]:
        return tuple(b.model_copy(update={"start": here(b.start), "end": here(b.end)}) for b in windows)

    cutoff = None if dock.cutoff is None else here(dock.cutoff)
    moved = {"open": here(dock.open), "close": here(dock.close), "blackouts": closed(dock.blackouts), "cutoff": cutoff}
    own = {name: _own_moved(load, here, closed) for name, load in dock.load_types.items()}
    return dock.model_copy(update={**moved, "load_types": own})


def _own_moved(
    load: LoadTypeDoc,
    here: Callable[[float], float],
    closed: Callable[[tuple[BlackoutDoc, ...]], tuple[BlackoutDoc, ...]],
) -> LoadTypeDoc:
    cutoff = None if load.cutoff is None else here(load.cutoff)
    blackouts = None if load.blackouts is None else closed(load.blackouts)
    return load.model_copy(update={"cutoff": cutoff, "blackouts": blackouts})


def _blackouts(dock: DockDoc, here: Node) -> Iterator[ScenarioError]:
    for j, window in enumerate(dock.blackouts):
        if window.end <= window.start:
            end = here.find("blackouts", j, "end")
            problem = f"docks.{dock.id}: a blackout that ends before it starts"
            fix = "write a blackout over midnight as '22:00' to '30:00'"
            yield ScenarioError(problem, end.where, shown(end), "later than `start`", fix)


def _types(dock: DockDoc, here: Node) -> Iterator[ScenarioError]:
    only = (
        ("confirm_by", dock.confirm_by is not None, AppointmentType.CARRIER_CONFIRMATION_REQUIRED),
        ("changes", dock.changes == "decided", AppointmentType.DEFERRED),
    )
    for key, given, kind in only:
        if given and dock.type is not kind:
            at = here.find(key)
            problem = f"docks.{dock.id}: {key} needs a dock of type {kind}"
            yield ScenarioError(problem, at.where, shown(at), "", "change `type`, or remove it")


def _zones(dock: DockDoc, here: Node, doc: ScenarioDoc) -> Iterator[ScenarioError]:
    if dock.zone is None:
        return
    at = here.find("zone")
    if doc.time.date is None:
        problem = f"docks.{dock.id}: a zone needs a calendar"
        yield ScenarioError(problem, at.where, dock.zone, "", "add `date: '2026-03-07'` under `time`")
    if dock.utc_offset:
        problem = f"docks.{dock.id}: `zone` and `utc_offset` contradict each other"
        yield ScenarioError(problem, at.where, dock.zone, "one of the two", "remove `utc_offset`")


def _apis(doc: ScenarioDoc, node: Node) -> Iterator[ScenarioError]:
    """Whoever is never called back must be able to ask, and whoever must confirm must be able to."""
    later = (AppointmentType.DEFERRED, AppointmentType.CARRIER_CONFIRMATION_REQUIRED)
    needs = (
        (Verb.TENDER_STATUS, any(c.decisions is Decisions.POLL for c in doc.carriers), "a carrier is polled"),
        (
            Verb.APPOINTMENT_DETAILS,
            any(d.decisions is Decisions.POLL and d.type in later for d in doc.docks),
            "a dock that decides later is polled",
        ),
        (Verb.CONFIRM_APPOINTMENT, any(d.confirm_by is not None for d in doc.docks), "a dock wants confirmation"),
    )
    for verb, needed, why in needs:
        if needed and verb not in doc.apis:
            problem = f"{why}, but there is no API {verb.value!r}"
            yield ScenarioError(problem, node.find("apis").where, "", "", f"add `{verb.value}: {{}}` under `apis`")
