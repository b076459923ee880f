"""Contract keys of carriers and docks -> :mod:`masim.sim.terms`; contradictions are refused with their line."""

from __future__ import annotations

from collections.abc import Sequence

from masim.errors import ScenarioError
from masim.scenario.contract_docs import CarrierContract, DockContract, TermsDoc
from masim.scenario.nodes import Node
from masim.scenario.validate import shown
from masim.sim.spec import AppointmentType
from masim.sim.terms import Decisions, DockRules, Fees, KeyRule, Life, Terms
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


def rules(doc: DockContract) -> DockRules:
    """Return the rules of a dock."""
    return DockRules(
        lead_min_s=doc.lead_min,
        lead_max_s=doc.lead_max,
        change_lead_s=doc.change_lead,
        cutoff_s=doc.cutoff,
        blackouts=tuple((window.start, window.end) for window in doc.blackouts),
        confirm_by_s=doc.confirm_by,
        cancel_free_s=doc.cancel_free,
        changes_decided=doc.changes == "decided",
        dwell=doc.dwell.dist() if doc.dwell else None,
        zone=doc.zone or "",
    )


def fees(doc: CarrierContract) -> Fees:
    """Return what a carrier charges on the road."""
    return Fees(doc.detention_free, doc.detention_fee, doc.tonu)


def life(doc: CarrierContract, name: str, others: Sequence[CarrierContract]) -> Life:
    """Return a carrier's comings and goings; one that takes another's place joins then, unless it says when."""
    inherits = (c.replaced.at for c in others if c.replaced is not None and c.replaced.by == name)
    joins_s = doc.joins if doc.joins is not None else next(inherits, 0.0)
    gone, worse = doc.replaced, doc.degrades
    return Life(
        joins_s=joins_s,
        gone_s=gone.at if gone else None,
        successor=(gone.by or "") if gone else "",
        degrades_s=worse.at if worse else None,
        on_time_factor=worse.on_time if worse else 1.0,
    )
