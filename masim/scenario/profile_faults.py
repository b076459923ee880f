"""Faults that an APIs profile brings: a scenario takes them by ``profile_faults: true``, before its own.

A profile is written for no scenario in particular. Of its faults those are taken that this scenario has endpoints for;
one of the scenario's own with the same id stands in its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from masim.errors import ScenarioError
from masim.scenario.fault_docs import PHASES
from masim.scenario.nodes import Node, element_name
from masim.sim.faults.engine import CALLBACK
from masim.sim.faults.registry import FAULTS

KEY = "profile_faults"


def with_profile_faults(root: Node, profile: Node | None) -> Node | None:
    """Return the list of faults of a scenario that asks for its profile's; None: it does not ask.

    Raises ScenarioError where there are none to take.
    """
    asks = root.child(KEY)
    if asks is None or asks.value is not True:
        return None
    brought = None if profile is None else profile.child("faults")
    if brought is None:
        fix = "name a profile with `faults:` under `profiles: {apis: ..}`, or remove it"
        raise ScenarioError("profile_faults: no profile brings any", asks.where, "true", "", fix)
    own = root.find("faults") if root.child("faults") is not None else Node((), asks.where)
    taken = {element_name(fault, i) for i, fault in enumerate(own.elements())}
    verbs = set(root.find("apis").items())
    fitting = (fault for i, fault in enumerate(brought.elements()) if element_name(fault, i) not in taken)
    kept = tuple(fault for one in fitting for fault in _fit(one, verbs))
    return replace(own, value=(*kept, *own.elements()))


def _fit(fault: Node, verbs: set[str]) -> Iterator[Node]:
    """Yield a profile's fault with the endpoints that a scenario has; nothing where it has none of them."""
    kind = FAULTS[str(fault.find("kind").value)]()
    match = fault.child("match")
    named = None if match is None else match.child("endpoints")
    phase = None if match is None else match.child("phase")
    wanted = kind.verbs()
    if named is not None:
        wanted = frozenset(str(name.value) for name in named.elements())
    elif phase is not None:
        wanted = frozenset(verb.value for verb in PHASES[str(phase.value)])
    if wanted and not wanted & {*verbs, CALLBACK}:
        return
    if named is None or match is None:
        yield fault
        return
    there = tuple(name for name in named.elements() if name.value in verbs or name.value == CALLBACK)
    fitted = replace(match, value={**match.items(), "endpoints": replace(named, value=there)})
    yield replace(fault, value={**fault.items(), "match": fitted})
