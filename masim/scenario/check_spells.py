"""Good and bad spells that follow each other faster than a day's timeline can hold."""

from __future__ import annotations

from collections.abc import Iterator

from masim.errors import ScenarioError
from masim.scenario.fault_docs import MarkovDoc
from masim.scenario.nodes import Node
from masim.scenario.schema import ScenarioDoc, TransientDoc
from masim.scenario.validate import shown
from masim.sim.plan import MAX_OUTAGES
from masim.units import DAY

LEAST_CYCLE_S = 1.0
"""Mean of a good and a bad spell together, at least: a few hundred thousand spells are drawn for each vendor."""


def check_spells(doc: ScenarioDoc, node: Node) -> Iterator[ScenarioError]:
    """Yield the transient errors, faults and outages that change faster than that."""
    for verb, api in doc.apis.items():
        if api.transient is not None:
            yield from _markov(api.transient, node.find("apis", verb.value, "transient"), f"apis.{verb}.transient")
    for i, fault in enumerate(doc.faults):
        if fault.markov is not None:
            yield from _markov(fault.markov, node.find("faults", i, "markov"), f"faults.{fault.id}.markov")
    yield from _outages(doc, node)


def _markov(doc: TransientDoc | MarkovDoc, node: Node, name: str) -> Iterator[ScenarioError]:
    if 0.0 < doc.bad_share < 1.0 and doc.bad_mean < LEAST_CYCLE_S * doc.bad_share:
        mean = node.find("bad_mean")
        allowed = f"at least {LEAST_CYCLE_S * doc.bad_share:g} s with this bad_share"
        fix = "for errors without memory give good_p and bad_p the same value"
        yield ScenarioError(f"{name}: spells too short to hold", mean.where, shown(mean), allowed, fix)


def _outages(doc: ScenarioDoc, node: Node) -> Iterator[ScenarioError]:
    """A timeline holds so many outages; twice that leaves room for chance."""
    least_s = 2 * 2 * DAY / MAX_OUTAGES
    if doc.outages is not None and doc.outages.gap_mean + doc.outages.length.dist().mean < least_s:
        gap = node.find("outages", "gap_mean")
        allowed = f"gap_mean and mean length together >= {least_s:.0f} s"
        yield ScenarioError("outages: more than a timeline holds", gap.where, shown(gap), allowed)
