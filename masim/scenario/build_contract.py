"""Contract keys of carriers and docks -> :mod:`masim.sim.terms`; contradictions are refused with their line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from masim.errors import ScenarioError
from masim.scenario.contract_docs import (
    CarrierContract,
    CarrierLoadDoc,
    DegradesDoc,
    DockContract,
    LifeDoc,
    LoadTypeDoc,
    TermsDoc,
)
from masim.scenario.nodes import Node
from masim.scenario.schema import DockTerms
from masim.scenario.validate import shown
from masim.sim.spec import AppointmentType
from masim.sim.terms import (
    NO_DECLINE,
    CarrierLoad,
    Decisions,
    Decline,
    DockRules,
    Fees,
    KeyRule,
    Life,
    LoadRules,
    Terms,
)
from masim.units import MINUTE

M = TypeVar("M", bound=LifeDoc)
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


def carrier_loads(doc: CarrierContract, quote_ttl_s: float, cancel_fee_cents: int) -> tuple[CarrierLoad, ...]:
    """Return the terms of the load types of which a carrier says something else."""
    return tuple(
        CarrierLoad(
            name,
            quote_ttl_s if own.quote_ttl is None else own.quote_ttl,
            cancel_fee_cents if own.cancel_fee is None else own.cancel_fee,
            fees(for_load(doc, own)),
        )
        for name, own in doc.load_types.items()
    )


def loads(doc: DockTerms) -> tuple[LoadRules, ...]:
    """Return the rules of the load types that have rules of their own at a dock."""
    return tuple(_load(name, own, doc) for name, own in doc.load_types.items())


def _load(name: str, own: LoadTypeDoc, doc: DockTerms) -> LoadRules:
    fee = doc.cancel_fee if own.cancel_fee is None else own.cancel_fee
    return LoadRules(name, rules(for_load(doc, own)), fee, own.capacity)


def for_load(doc: M, own: LoadTypeDoc | CarrierLoadDoc) -> M:
    """Return a vendor as loads of one type find it; a dock's capacity stays that of all."""
    given = own.model_fields_set - {"source", "capacity"}
    said = {name: value for name in given if (value := getattr(own, name)) is not None}
    return doc.model_copy(update=said)


def decline(doc: DockContract) -> Decline:
    """Return what becomes of a dock that degrades."""
    worse = doc.degrades
    return NO_DECLINE if worse is None else Decline(worse.slower or 1.0, worse.capacity)


def fees(doc: CarrierContract) -> Fees:
    """Return what a carrier charges on the road."""
    return Fees(doc.detention_free, doc.detention_fee, doc.tonu)


def life(doc: LifeDoc, name: str, others: Sequence[LifeDoc]) -> Life:
    """Return a vendor's comings and goings; one that takes another's place joins then, unless it says when."""
    inherits = (c.replaced.at for c in others if c.replaced is not None and c.replaced.by == name)
    joins_s = doc.joins if doc.joins is not None else next(inherits, 0.0)
    gone, worse = doc.replaced, doc.degrades if isinstance(doc, CarrierContract | DockContract) else None
    return Life(
        joins_s=joins_s,
        gone_s=gone.at if gone else None,
        successor=(gone.by or "") if gone else "",
        degrades_s=worse.at if worse else None,
        on_time_factor=worse.on_time if isinstance(worse, DegradesDoc) else 1.0,
    )
