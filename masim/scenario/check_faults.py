"""What no single fault shows: names that nothing in the scenario has, and faults that hide each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from masim.errors import ScenarioError, did_you_mean
from masim.scenario.fault_docs import PHASES, FaultDoc
from masim.scenario.nodes import Node
from masim.scenario.schema import ScenarioDoc

CALLBACK = "callback"


def check_faults(doc: ScenarioDoc, node: Node) -> Iterator[ScenarioError]:
    """Yield every fault that matches nothing or names what is not there."""
    agents = doc.agents.names()
    carriers, docks = [c.id for c in doc.carriers], [d.id for d in doc.docks]
    verbs = [verb.value for verb in doc.apis]
    seen: dict[str, str] = {}
    for i, fault in enumerate(doc.faults):
        here = node.find("faults", i)
        if fault.id in seen:
            yield ScenarioError(
                f"duplicate id {fault.id!r}", here.find("id").where, "", "", f"first at {seen[fault.id]}"
            )
        seen.setdefault(fault.id, here.find("id").where)
        known = (
            ("vendors", fault.match.vendors, [*carriers, *docks]),
            ("agents", fault.match.agents, agents),
            ("endpoints", fault.match.endpoints, [*verbs, CALLBACK]),
        )
        for key, names, allowed in known:
            yield from _unknown(fault, here, key, names, allowed)
        yield from _nothing(fault, here, carriers, docks, verbs)
        yield from _days(doc, fault, here)


def _unknown(
    fault: FaultDoc, here: Node, key: str, names: Sequence[str], allowed: Sequence[str]
) -> Iterator[ScenarioError]:
    for j, name in enumerate(names):
        if name not in allowed:
            near = did_you_mean(name, allowed) or "remove it, or add it to the scenario"
            problem = f"faults.{fault.id}: {key} names {name!r}, which this scenario does not have"
            yield ScenarioError(problem, here.find("match", key, j).where, name, ", ".join(allowed), near)


def _nothing(
    fault: FaultDoc, here: Node, carriers: Sequence[str], docks: Sequence[str], verbs: Sequence[str]
) -> Iterator[ScenarioError]:
    """A carrier has no dock endpoints and a dock no carrier endpoints, so a pair of right names can match nothing."""
    match = fault.match
    wanted = [v.value for v in PHASES[match.phase]] if match.phase else list(match.endpoints)
    at_docks = {v.value for v in PHASES["booking"]}
    vendors = match.vendors or (*carriers, *docks)
    pairs = [
        (vendor, verb)
        for vendor in vendors
        for verb in (wanted or verbs)
        if verb == CALLBACK or (verb in verbs and (verb in at_docks) == (vendor in docks))
    ]
    if not pairs:
        problem = f"faults.{fault.id} matches nothing: these vendors have none of these endpoints"
        yield ScenarioError(problem, here.find("match").where, "", "", "match carriers with carrier endpoints")


def _days(doc: ScenarioDoc, fault: FaultDoc, here: Node) -> Iterator[ScenarioError]:
    for j, day in enumerate(fault.when.days):
        if day >= doc.time.campaign_days:
            place = here.find("when", "days", j)
            allowed = f"0 to {doc.time.campaign_days - 1}"
            yield ScenarioError(f"faults.{fault.id}: the campaign has no such day", place.where, str(day), allowed)
