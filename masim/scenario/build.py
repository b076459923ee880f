"""Resolved scenario model -> :class:`masim.sim.spec.WorldSpec`; what is still missing is an error with its line."""

from __future__ import annotations

from typing import TypeVar

from masim.errors import ScenarioError
from masim.scenario.build_contract import carrier_loads, decline, fees, life, loads, rules, terms
from masim.scenario.build_faults import build_faults
from masim.scenario.build_roles import build_staff
from masim.scenario.nodes import Node
from masim.scenario.schema import (
    ApiDoc,
    CarrierDoc,
    DockDoc,
    HiddenDoc,
    LegDoc,
    MessagesDoc,
    RateLimitDoc,
    ScenarioDoc,
    StationDoc,
)
from masim.sim import spec
from masim.sim.dists import Constant

T = TypeVar("T")


def build_spec(doc: ScenarioDoc, node: Node) -> spec.WorldSpec:
    """Return the world of a resolved scenario. Raises ScenarioError for a value that neither file supplies."""
    return spec.WorldSpec(
        id=doc.id,
        agents=doc.agents.names(),
        campaign_days=doc.time.campaign_days,
        day_start_s=doc.time.day_start,
        booking_end_s=doc.time.booking_end,
        max_decisions=doc.agents.max_decisions,
        client_deadline_s=doc.agents.client_deadline,
        apis=tuple(_api(verb, api, node.find("apis", verb)) for verb, api in doc.apis.items()),
        carriers=tuple(
            _carrier(carrier, node.find("carriers", i), doc.carriers) for i, carrier in enumerate(doc.carriers)
        ),
        docks=tuple(_dock(dock, node.find("docks", i), doc.docks) for i, dock in enumerate(doc.docks)),
        shippers=tuple(shipper.id for shipper in doc.shippers),
        hidden=_hidden(doc.hidden),
        orders=_orders(doc),
        messages=_messages(doc.messages, node.find("messages")),
        outages=spec.OutageSpec(doc.outages.gap_mean, doc.outages.length.dist()) if doc.outages else None,
        late_grace_s=doc.late_grace,
        rewards=spec.RewardSpec(**doc.rewards.model_dump(exclude={"source"})),
        turn=doc.turn.spec(),
        faults=build_faults(doc.faults, node.find("faults")),
        date=doc.time.date or "",
        utc_offset_s=doc.time.utc_offset,
        staff=build_staff(doc.agents, doc.orders.per_agent),
    )


def _need(value: T | None, name: str, node: Node, hint: str) -> T:
    """Return the value, or refuse: neither the entry nor anything under it supplies it."""
    if value is not None:
        return value
    named = node.child("id")
    entry = f"{named.value}: " if named is not None else ""
    raise ScenarioError(f"{entry}missing key {name!r}", node.where, "", "", f"add `{name}:` here or {hint}")


def _api(verb: spec.Verb, api: ApiDoc, node: Node) -> spec.ApiSpec:
    hint = "name a profile under `profiles: {apis: ..}`"
    transient = _need(api.transient, "transient", node, hint)
    return spec.ApiSpec(
        verb=verb,
        latency=_need(api.latency, "latency", node, hint).dist(),
        transient=spec.Transient(transient.good_p, transient.bad_p, transient.bad_share, transient.bad_mean),
        rate_limit=_rate_limit(api.rate_limit),
        lost_request_p=api.lost_request_p,
        lost_response_p=api.lost_response_p,
        stale_age=api.stale_age.dist() if api.stale_age else None,
        station=_station(api.station, node.find("station")) if api.station else None,
    )


def _rate_limit(limit: RateLimitDoc | None) -> spec.RateLimit | None:
    return spec.RateLimit(limit.rate, limit.burst, limit.retry_after) if limit else None


def _station(station: StationDoc, node: Node) -> spec.StationSpec:
    if station.refusal is not None and station.queue is None:
        where = node.find("refusal").where
        problem = "station: refusal without a bound: a queue of any length refuses nobody"
        raise ScenarioError(problem, where, str(station.refusal), "", "give `queue`, or remove `refusal`")
    return spec.StationSpec(station.servers, station.service.dist(), station.queue, station.refusal or 503)


def _carrier(carrier: CarrierDoc, node: Node, others: tuple[CarrierDoc, ...]) -> spec.CarrierSpec:
    hint = "under `carrier_defaults`"
    late = "under `carrier_defaults`, or give `late_scale` and a carriers profile"
    quote_ttl_s = _need(carrier.quote_ttl, "quote_ttl", node, hint)
    cancel_fee = _need(carrier.cancel_fee, "cancel_fee", node, hint)
    return spec.CarrierSpec(
        id=carrier.id,
        base_cents=_need(carrier.price, "price", node, hint),
        cents_per_kg=_need(carrier.price_per_kg, "price_per_kg", node, hint),
        accept_p=_need(carrier.accept_p, "accept_p", node, hint),
        decision_delay=_need(carrier.decision_delay, "decision_delay", node, hint).dist(),
        quote_ttl_s=quote_ttl_s,
        cancel_fee_cents=cancel_fee,
        late_s=_need(carrier.late, "late", node, late).dist(),
        price_sigma=carrier.price_sigma,
        terms=terms(carrier, node),
        fees=fees(carrier),
        life=life(carrier, carrier.id, others),
        loads=carrier_loads(carrier, quote_ttl_s, cancel_fee),
    )


def _dock(dock: DockDoc, node: Node, others: tuple[DockDoc, ...]) -> spec.DockSpec:
    hint = "under `dock_defaults`"
    kind = _need(dock.type, "type", node, hint)
    decided = None if kind is not spec.AppointmentType.AUTOMATIC else Constant(0.0)
    delay = dock.decision_delay.dist() if dock.decision_delay else decided
    return spec.DockSpec(
        id=dock.id,
        type=kind,
        open_s=_need(dock.open, "open", node, hint),
        close_s=_need(dock.close, "close", node, hint),
        slot_s=_need(dock.slot, "slot", node, hint),
        capacity=_need(dock.capacity, "capacity", node, hint),
        background_per_slot=_need(dock.background_per_slot, "background_per_slot", node, hint),
        decision_delay=_need(delay, "decision_delay", node, hint),
        hold_ttl_s=dock.hold_ttl,
        slots_per_answer=dock.slots_per_answer,
        cancel_fee_cents=dock.cancel_fee,
        utc_offset_s=dock.utc_offset,
        terms=terms(dock, node, kind),
        rules=rules(dock),
        loads=loads(dock),
        life=life(dock, dock.id, others),
        decline=decline(dock),
    )


def _hidden(hidden: HiddenDoc) -> spec.HiddenSpec:
    drift = hidden.drift.spec() if hidden.drift else None
    return spec.HiddenSpec(hidden.on_time_p, hidden.refused_per_shipper, drift)


def _orders(doc: ScenarioDoc) -> spec.OrderSpec:
    orders = doc.orders
    legs = tuple(_leg(leg) for leg in orders.legs)
    shares = tuple(orders.load_types.items())
    return spec.OrderSpec(orders.per_agent, legs, orders.weight.dist(), orders.budget_factor, shares)


def _leg(leg: LegDoc) -> spec.LegSpec:
    return spec.LegSpec(
        pickup_docks=leg.pickup_docks,
        delivery_docks=leg.delivery_docks,
        pickup_open_s=leg.pickup_open,
        delivery_due_s=leg.delivery_due,
        transit=leg.transit.dist(),
        transit_plan_s=leg.transit_plan,
    )


def _messages(messages: MessagesDoc, node: Node) -> spec.MessageSpec:
    hint = "name a profile under `profiles: {apis: ..}`"
    delay = _need(messages.delay, "messages.delay", node, hint)
    return spec.MessageSpec(delay.dist(), messages.lost_p, messages.duplicate_p)
