"""Contradictions in the lives of vendors: successors that are not there, docks that are nobody's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from masim.errors import ScenarioError, did_you_mean
from masim.scenario.build_contract import life
from masim.scenario.nodes import Node
from masim.scenario.schema import CarrierDoc, DockDoc, ScenarioDoc
from masim.scenario.validate import shown
from masim.sim.spec import AppointmentType
from masim.units import DAY


def check_lives(doc: ScenarioDoc, node: Node) -> Iterator[ScenarioError]:
    """Yield what is wrong with the comings and goings of carriers and docks."""
    sections: tuple[tuple[str, Sequence[CarrierDoc | DockDoc]], ...] = (
        ("carriers", doc.carriers),
        ("docks", doc.docks),
    )
    problems = [
        problem
        for section, vendors in sections
        for i, vendor in enumerate(vendors)
        for problem in _successor(section, vendor, node.find(section, i), [other.id for other in vendors])
    ]
    docks = {dock.id: dock for dock in doc.docks}
    problems += [p for i, dock in enumerate(doc.docks) for p in _dock(dock, node.find("docks", i), docks)]
    yield from problems
    if not problems:
        yield from _nobody(doc, node)


def _successor(section: str, vendor: CarrierDoc | DockDoc, here: Node, known: Sequence[str]) -> Iterator[ScenarioError]:
    by = vendor.replaced.by if vendor.replaced is not None else None
    if by is not None and (by not in known or by == vendor.id):
        others = [name for name in known if name != vendor.id]
        where = here.find("replaced", "by").where
        fix = did_you_mean(by, others) or f"add it under `{section}`"
        problem = f"{section}.{vendor.id}: replaced by no other {section.removesuffix('s')}"
        yield ScenarioError(problem, where, by, ", ".join(others), fix)


def _dock(dock: DockDoc, here: Node, docks: dict[str, DockDoc]) -> Iterator[ScenarioError]:
    name = f"docks.{dock.id}"
    worse = dock.degrades
    if worse is not None and worse.slower is None and worse.capacity is None:
        where = here.find("degrades").where
        yield ScenarioError(f"{name}: degrades to what it was", where, "", "", "give `slower`, `capacity` or both")
    if worse is not None and worse.capacity is not None and dock.capacity and worse.capacity >= dock.capacity:
        left = here.find("degrades", "capacity")
        yield ScenarioError(f"{name}: degrades to no less", left.where, shown(left), f"below {dock.capacity}")
    if dock.replaced is None:
        return
    where = here.find("replaced").where
    heir = docks.get(dock.replaced.by or "")
    if dock.replaced.by is None:
        fix = "add `by:`; goods at a dock do not go away"
        yield ScenarioError(f"{name}: replaced by nobody", where, "", "another dock", fix)
    if heir is None or heir is dock:
        return
    fcfs = [d.type is AppointmentType.FCFS for d in (dock, heir)]
    if fcfs[0] != fcfs[1]:
        allowed = "both with appointments, or both without"
        yield ScenarioError(f"{name}: {heir.id} is no dock of its kind", where, "", allowed, "change a `type`")
    if _leads_back(dock, docks):
        yield ScenarioError(f"{name}: docks replace each other in a circle", where, "", "", "let the last one stay")


def _leads_back(dock: DockDoc, docks: dict[str, DockDoc]) -> bool:
    name = dock.id
    for _ in docks:
        gone = docks[name].replaced
        if gone is None or gone.by not in docks:
            return False
        name = gone.by
        if name == dock.id:
            return True
    return False


def _nobody(doc: ScenarioDoc, node: Node) -> Iterator[ScenarioError]:
    """A leg needs one of its docks, or who has taken its place, on every day of the campaign."""
    lives = {dock.id: life(dock, dock.id, doc.docks) for dock in doc.docks}
    for i, leg in enumerate(doc.orders.legs):
        for key, names in (("pickup_docks", leg.pickup_docks), ("delivery_docks", leg.delivery_docks)):
            first = min((lives[name].joins_s for name in names if name in lives), default=0.0)
            if first > doc.time.day_start:
                where = node.find("orders", "legs", i, key).where
                problem = f"orders.legs.{i}.{key}: none of these docks is there on day 0"
                allowed = f"one that joins by the start of day 0, not of day {int(first // DAY) + 1}"
                yield ScenarioError(
                    problem, where, ", ".join(names), allowed, "add a dock that is there, or join sooner"
                )
