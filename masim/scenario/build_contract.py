"""Contract keys of carriers and docks -> :mod:`masim.sim.terms`; contradictions are refused with their line."""

from __future__ import annotations

from masim.errors import ScenarioError
from masim.scenario.contract_docs import TermsDoc
from masim.scenario.nodes import Node
from masim.scenario.validate import shown
from masim.sim.spec import AppointmentType
from masim.sim.terms import Decisions, KeyRule, Terms
from masim.units import MINUTE

POLL_RETRY_AFTER_S = 5 * MINUTE
"""What a polled vendor says about when to ask, unless the scenario does."""


def terms(doc: TermsDoc, node: Node, kind: AppointmentType | None = None) -> Terms:
    """Return the terms of a vendor (``kind`` of a dock). Raises ScenarioError for what contradicts itself."""
    expires = doc.idempotency is KeyRule.EXPIRES
    if expires != (doc.idempotency_ttl is not None):
        given = node.child("idempotency_ttl") or node.child("idempotency") or node
        problem = "idempotency: `expires` and `idempotency_ttl` go together"
        raise ScenarioError(problem, given.where, shown(given), "both or neither", "give both, or remove one")
    at_once = doc.decisions is Decisions.SYNCHRONOUS
    if at_once and kind in (AppointmentType.DEFERRED, AppointmentType.CARRIER_CONFIRMATION_REQUIRED):
        way = node.find("decisions")
        problem = f"decisions: a dock of type {kind} does not decide in its answer"
        raise ScenarioError(problem, way.where, shown(way), "callback, poll", "or make the type AUTOMATIC")
    polled = POLL_RETRY_AFTER_S if doc.decisions is Decisions.POLL else 0.0
    wait_s = polled if doc.retry_after is None else doc.retry_after
    return Terms(doc.decisions, wait_s, doc.idempotency, doc.idempotency_ttl)
