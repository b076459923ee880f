"""What no single field shows: references, duplicate ids, windows that nothing can meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from masim.errors import ScenarioError, did_you_mean
from masim.scenario.build_contract import for_load
from masim.scenario.check_contract import check_contract, on_scenario_clock
from masim.scenario.check_faults import check_faults
from masim.scenario.check_lives import check_lives
from masim.scenario.check_loads import check_loads
from masim.scenario.check_roles import check_roles
from masim.scenario.check_spells import check_spells
from masim.scenario.drift_docs import check_drift
from masim.scenario.history_docs import check_history
from masim.scenario.nodes import Node
from masim.scenario.schema import DockDoc, LegDoc, ScenarioDoc
from masim.scenario.turn_docs import check_turn
from masim.scenario.validate import shown
from masim.sim.spec import AppointmentType, Verb
from masim.sim.terms import ANY_LOAD
from masim.units import DAY, HOUR, MINUTE

MAX_SLOTS = 1440
"""Most slots of a dock in a day: one a minute."""


def check(doc: ScenarioDoc, node: Node) -> None:
    """Raise ScenarioError for the first contradiction, with the number of others."""
    problems = [
        *_ids(node),
        *_counts(doc, node),
        *_times(doc, node),
        *_verbs(doc, node),
        *_legs(doc, node),
        *check_roles(doc, node, needed_verbs(doc)),
        *check_contract(doc, node),
        *check_lives(doc, node),
        *check_loads(doc, node),
        *check_faults(doc, node),
        *check_spells(doc, node),
        *check_drift(doc.hidden.drift, doc.hidden.on_time_p, node.find("hidden", "drift")),
        *check_history(doc.id, doc.history, node.find("history")),
        *check_turn(doc.turn, node.find("turn")),
    ]
    if problems:
        first = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise ScenarioError(first.problem + more, first.where, first.value, first.allowed, first.fix)


def clock(t_s: float) -> str:
    """Render seconds after midnight as ``HH:MM``."""
    return f"{int(t_s // HOUR):02d}:{int(t_s % HOUR // MINUTE):02d}"


def _ids(node: Node) -> Iterator[ScenarioError]:
    """Vendors share one namespace, because traces name them; shippers have their own."""
    for sections in (("carriers", "docks"), ("shippers",)):
        seen: dict[object, str] = {}
        for entry in (entry for section in sections for entry in node.find(section).elements()):
            named = entry.find("id")
            if named.value in seen:
                problem = f"duplicate id {named.value!r}"
                yield ScenarioError(problem, named.where, "", "", f"first at {seen[named.value]}")
            seen.setdefault(named.value, named.where)


def _counts(doc: ScenarioDoc, node: Node) -> Iterator[ScenarioError]:
    carriers = len(doc.carriers)
    lists: list[tuple[str, Sequence[object], Node]] = [
        ("carriers", doc.carriers, node.find("carriers")),
        ("shippers", doc.shippers, node.find("shippers")),
        ("orders.legs", doc.orders.legs, node.find("orders", "legs")),
    ]
    for name, values, where in lists:
        if not values:
            yield ScenarioError(f"{name} is empty", where.where, "", "at least one entry")
    hidden = node.find("hidden", "on_time_p")
    if len(doc.hidden.on_time_p) != carriers:
        problem = "hidden.on_time_p must have one probability per carrier"
        yield ScenarioError(problem, hidden.where, f"{len(doc.hidden.on_time_p)} values", f"{carriers} values")
    refused = node.find("hidden", "refused_per_shipper")
    if doc.hidden.refused_per_shipper >= carriers > 0:
        problem = "hidden.refused_per_shipper leaves no carrier to book"
        yield ScenarioError(problem, refused.where, shown(refused), f"0 to {carriers - 1}")


def _times(doc: ScenarioDoc, node: Node) -> Iterator[ScenarioError]:
    end = node.find("time", "booking_end")
    if doc.time.booking_end <= doc.time.day_start:
        allowed = f"later than time.day_start {clock(doc.time.day_start)}"
        yield ScenarioError("time.booking_end is not after the start of the day", end.where, shown(end), allowed)
    for i, dock in enumerate(doc.docks):
        if dock.open is None or dock.close is None or dock.slot is None:
            continue
        slot, close = node.find("docks", i, "slot"), node.find("docks", i, "close")
        if dock.close - dock.open > MAX_SLOTS * dock.slot:
            allowed = f"{(dock.close - dock.open) / MAX_SLOTS:g} s or longer at this dock"
            problem = f"docks.{dock.id}: more than {MAX_SLOTS} slots a day"
            yield ScenarioError(problem, slot.where, shown(slot), allowed)
        if dock.close - dock.open < dock.slot:
            allowed = f"at least one slot after {clock(dock.open)}"
            yield ScenarioError(
                f"docks.{dock.id}: closes before its first slot ends", close.where, shown(close), allowed
            )


def needed_verbs(doc: ScenarioDoc) -> list[Verb]:
    """Return the verbs without which no order is completed."""
    booked = {dock.id for dock in doc.docks if dock.type is not AppointmentType.FCFS}
    docks = any(booked & {*leg.pickup_docks, *leg.delivery_docks} for leg in doc.orders.legs)
    return [Verb.QUOTE, Verb.TENDER, Verb.DISPATCH, *((Verb.AVAILABILITY, Verb.SCHEDULE) if docks else ())]


def _verbs(doc: ScenarioDoc, node: Node) -> Iterator[ScenarioError]:
    for verb in needed_verbs(doc):
        if verb not in doc.apis:
            problem = f"no order can be completed without the API {verb.value!r}"
            yield ScenarioError(problem, node.find("apis").where, "", "", f"add `{verb.value}: {{}}` under `apis`")


def _legs(doc: ScenarioDoc, node: Node) -> Iterator[ScenarioError]:
    docks = on_scenario_clock(doc)
    ready = doc.time.day_start
    for i, leg in enumerate(doc.orders.legs):
        here = node.find("orders", "legs", i)
        yield from _references(leg, here, docks)
        start = max(ready, leg.pickup_open)
        ready = start + leg.transit_plan
        due = here.find("delivery_due")
        if ready > leg.delivery_due:
            problem = f"orders.legs.{i}: cannot be delivered in time: pickup at {clock(start)} or later, then the drive"
            yield ScenarioError(problem, due.where, shown(due), f"{clock(ready)} or later", "widen the window")
            return
        yield from _open_docks(leg, here, docks, start, doc.time.day_start)


def _references(leg: LegDoc, here: Node, docks: Mapping[str, DockDoc]) -> Iterator[ScenarioError]:
    for key, names in (("pickup_docks", leg.pickup_docks), ("delivery_docks", leg.delivery_docks)):
        for j, name in enumerate(names):
            if name not in docks:
                near = did_you_mean(name, docks) or "add it under `docks`"
                yield ScenarioError(f"{key}: no such dock", here.find(key, j).where, name, ", ".join(docks), near)


def _open_docks(
    leg: LegDoc, here: Node, docks: Mapping[str, DockDoc], start: float, open_s: float
) -> Iterator[ScenarioError]:
    """A dock that has no slot inside its leg's window can never be booked; nobody asks before ``open_s``."""
    windows = (
        ("pickup_docks", leg.pickup_docks, start, leg.delivery_due - leg.transit_plan),
        ("delivery_docks", leg.delivery_docks, start + leg.transit_plan, leg.delivery_due),
    )
    for key, names, low, high in windows:
        for j, name in enumerate(names):
            for load, dock in _as_found(docks.get(name)):
                if slots_between(dock, max(low, _first_bookable_s(dock, open_s)), high):
                    continue
                whose = f" for loads of type {load!r}" if load else ""
                window = f"{clock(low)} to {clock(high)}"
                problem = f"{key}: the dock {name!r} has no slot{whose} that starts in the window {window}"
                fix = "widen the window or the dock's hours, blackouts, cutoff and lead_min"
                yield ScenarioError(problem, here.find(key, j).where, "", "", fix)


def _first_bookable_s(dock: DockDoc, open_s: float) -> float:
    """Return when the first slot starts that can be booked by somebody who asks at ``open_s``."""
    tomorrow = DAY if dock.cutoff is not None and open_s > dock.cutoff else 0.0
    return max(tomorrow, open_s + dock.lead_min)


def _as_found(dock: DockDoc | None) -> Iterator[tuple[str, DockDoc]]:
    """Yield a dock as loads without rules of their own find it, and as each load type does that has some."""
    if dock is not None:
        yield ANY_LOAD, dock
        yield from ((name, for_load(dock, own)) for name, own in dock.load_types.items())


def slots_between(dock: DockDoc, low: float, high: float) -> int:
    """Return how many slots of a dock start within [low, high] (1 where the dock is not fully described)."""
    if dock.open is None or dock.close is None or dock.slot is None:
        return 1
    count = min(MAX_SLOTS, int((dock.close - dock.open) // dock.slot))
    starts = (dock.open + k * dock.slot for k in range(count))
    return sum(low <= s <= high and not any(b.start <= s < b.end for b in dock.blackouts) for s in starts)
