"""Contradictions in the load types of orders and in what vendors say of them."""

from __future__ import annotations

from collections.abc import Iterator

from masim.errors import ScenarioError, did_you_mean
from masim.scenario.build_contract import for_load
from masim.scenario.nodes import Node
from masim.scenario.schema import CarrierDoc, DockDoc, ScenarioDoc
from masim.scenario.validate import shown
from masim.sim.spec import AppointmentType

_BOOKING = ("lead_min", "lead_max", "change_lead", "cutoff", "blackouts", "cancel_free", "cancel_fee", "capacity")


def check_loads(doc: ScenarioDoc, node: Node) -> Iterator[ScenarioError]:
    """Yield what is wrong with the shares of load types, and with rules for types that no order has."""
    shares = doc.orders.load_types
    if shares and abs(sum(shares.values()) - 1.0) > 1e-6:
        where = node.find("orders", "load_types").where
        total = f"{sum(shares.values()):g}"
        yield ScenarioError("orders.load_types: the shares do not sum to 1", where, total, "1", "change a share")
    vendors: list[tuple[str, int, CarrierDoc | DockDoc]] = [("carriers", i, c) for i, c in enumerate(doc.carriers)]
    vendors += [("docks", i, dock) for i, dock in enumerate(doc.docks)]
    for section, i, vendor in vendors:
        for name in vendor.load_types:
            here = node.find(section, i, "load_types", name)
            if name not in shares:
                fix = did_you_mean(name, shares) or "add it under `orders: {load_types: ..}`"
                problem = f"{section}.{vendor.id}: no order has the load type {name!r}"
                yield ScenarioError(problem, here.where, name, ", ".join(shares), fix)
            if isinstance(vendor, DockDoc):
                yield from _own(vendor, name, here)


def _own(dock: DockDoc, name: str, here: Node) -> Iterator[ScenarioError]:
    own, label = dock.load_types[name], f"docks.{dock.id}.load_types.{name}"
    if own.capacity is not None and dock.capacity is not None and own.capacity > dock.capacity:
        places = here.find("capacity")
        problem = f"{label}: more places than a slot has"
        yield ScenarioError(problem, places.where, shown(places), f"at most {dock.capacity}", "or raise the dock's")
    both = for_load(dock, own)
    if both.lead_max is not None and both.lead_min > both.lead_max:
        lead = here.child("lead_min") or here.find("lead_max")
        yield ScenarioError(f"{label}: lead_min above lead_max", lead.where, shown(lead), "at most lead_max")
    for j, window in enumerate(own.blackouts or ()):
        if window.end <= window.start:
            end = here.find("blackouts", j, "end")
            fix = "write a blackout over midnight as '22:00' to '30:00'"
            problem = f"{label}: a blackout that ends before it starts"
            yield ScenarioError(problem, end.where, shown(end), "later than `start`", fix)
    given = [key for key in _BOOKING if getattr(own, key) is not None]
    if dock.type is AppointmentType.FCFS and given:
        at = here.find(given[0])
        problem = f"{label}: a dock of type FCFS books nothing, so {given[0]} does nothing"
        yield ScenarioError(problem, at.where, shown(at), "dwell", "remove it, or change `type`")
