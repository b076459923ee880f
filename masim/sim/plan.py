"""Everything that is drawn before an episode starts: hidden facts, orders, outage and error spells, other shippers.

All rollouts of one comparison group share a plan; it depends on the instance alone. Hidden facts depend on the
campaign seed only, so they hold for every day of the campaign; where carriers drift, on the day as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from masim.rng import Noise, digest64
from masim.sim.drift import dealt, drifted
from masim.sim.presence import present
from masim.sim.spec import DockSpec, Instance, LegSpec, Transient, WorldSpec
from masim.sim.spells import markov
from masim.sim.terms import ANY_LOAD, NO_LIFE
from masim.sim.zones import on_day
from masim.units import DAY

MAX_OUTAGES = 10_000
"""Of one vendor in one plan of two days; a vendor with more is up after the last."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """Facts of one campaign (as of one day, where carriers drift) that no API shows."""

    on_time_p: dict[str, float]
    refused: dict[str, frozenset[str]]
    """Shipper to the carriers that it refuses."""


@dataclass(frozen=True, slots=True)
class LegPlan:
    """One leg of one order: where, when, and how long the drive really takes."""

    pickup_dock: str
    delivery_dock: str
    pickup_open_s: float
    delivery_due_s: float
    transit_s: float
    transit_plan_s: float


@dataclass(frozen=True, slots=True)
class OrderPlan:
    """One order of one agent."""

    id: str
    agent: str
    shipper: str
    weight_kg: float
    legs: tuple[LegPlan, ...]
    budget_cents: int
    load_type: str = ANY_LOAD


@dataclass(frozen=True, slots=True)
class Plan:
    """The drawn part of one instance."""

    instance: Instance
    day0_s: float
    hidden: Hidden
    orders: tuple[OrderPlan, ...]
    errors: dict[tuple[str, Transient], tuple[float, ...]]
    """Vendor and error setting to the ends of its alternating good and bad spells."""
    outages: dict[str, tuple[tuple[float, float], ...]]
    background: tuple[tuple[float, str, int], ...]
    """Bookings of other shippers: (time, dock, slot), in order of time."""
    digest: int


def draw_hidden(spec: WorldSpec, campaign_seed: int, day: int = 0) -> Hidden:
    """Deal the reliabilities to the carriers, as of a day, and to each shipper the carriers that it refuses."""
    noise = Noise(campaign_seed, "campaign")
    ids = tuple(carrier.id for carrier in spec.carriers)
    shares, drift = spec.hidden.on_time_p, spec.hidden.drift
    on_time = dealt(ids, shares, noise) if drift is None else drifted(ids, shares, drift, campaign_seed, day)
    refused = {
        shipper: frozenset(
            ids[i] for i in noise.permutation(len(ids), "refuses", shipper)[: spec.hidden.refused_per_shipper]
        )
        for shipper in spec.shippers
    }
    return Hidden(on_time, refused)


def _pick(options: tuple[str, ...], u: float) -> str:
    return options[int(u * len(options))] if options else ""


def _share(shares: tuple[tuple[str, float], ...], u: float) -> str:
    """Return the load type whose part of the shares a uniform falls into."""
    for name, share in shares[:-1]:
        if u < share:
            return name
        u -= share
    return shares[-1][0]


def _docks_at(spec: WorldSpec, t_s: float) -> Callable[[tuple[str, ...]], tuple[str, ...]]:
    """Return what turns the docks of a leg's template into those that are there at a moment."""
    docks = {dock.id: dock for dock in spec.docks}
    if all(dock.life == NO_LIFE for dock in spec.docks):
        return lambda options: options
    return lambda options: present(docks, options, t_s)


def _draw_leg(
    leg: LegSpec, day0_s: float, us: tuple[float, float, float, float], pickup: str, options: tuple[str, ...]
) -> LegPlan:
    others = tuple(dock for dock in options if dock != pickup) or options
    return LegPlan(
        pickup,
        _pick(others, us[1]),
        day0_s + leg.pickup_open_s,
        day0_s + leg.delivery_due_s,
        leg.transit.ppf(us[2]),
        leg.transit_plan_s,
    )


def _median_price(spec: WorldSpec, weight_kg: float) -> float:
    return float(np.median([c.base_cents + c.cents_per_kg * weight_kg for c in spec.carriers]))


def _dealt(spec: WorldSpec, agent: str) -> int:
    """Return how many orders an agent owns when the day begins."""
    return spec.orders.per_agent if spec.staff is None else spec.staff.role_of(agent).orders


def draw_orders(spec: WorldSpec, noise: Noise, day0_s: float) -> tuple[OrderPlan, ...]:
    """Draw the day's orders; a later leg starts at the dock where the one before it ends."""
    orders = []
    there = _docks_at(spec, day0_s + spec.day_start_s)
    for agent in spec.agents:
        for k in range(_dealt(spec, agent)):
            name = f"{agent}-order_{k}"
            u_shipper, u_weight, _, _ = noise.uniforms("order", agent, k)
            legs: list[LegPlan] = []
            for i, leg in enumerate(spec.orders.legs):
                us = noise.uniforms("leg", agent, k, i)
                pickup = legs[-1].delivery_dock if legs else _pick(there(leg.pickup_docks), us[0])
                legs.append(_draw_leg(leg, day0_s, us, pickup, there(leg.delivery_docks)))
            weight = spec.orders.weight_kg.ppf(u_weight)
            budget = spec.orders.budget_factor * _median_price(spec, weight) * len(legs)
            shipper = _pick(spec.shippers, u_shipper)
            shares = spec.orders.load_types
            load_type = _share(shares, noise.uniform("load type", agent, k)) if shares else ANY_LOAD
            orders.append(OrderPlan(name, agent, shipper, weight, tuple(legs), round(budget), load_type))
    return tuple(orders)


def _error_spells(
    spec: WorldSpec, noise: Noise, vendors: list[str], t0: float, t1: float
) -> dict[tuple[str, Transient], tuple[float, ...]]:
    """Draw the spells of every vendor; endpoints with the same bad share and length have them together."""
    settings = dict.fromkeys(api.transient for api in spec.apis)
    return {
        (v, setting): markov(noise.generator("errors", v), setting.bad_share, setting.bad_mean_s, t0, t1)
        for setting in settings
        for v in vendors
    }


@lru_cache(maxsize=64)
def spec_digest(spec: WorldSpec) -> int:
    """Return a content hash of everything that a world is made of."""
    return digest64(repr(spec))


def _outages(spec: WorldSpec, noise: Noise, vendor: str, t0: float, t1: float) -> tuple[tuple[float, float], ...]:
    if spec.outages is None:
        return ()
    spans = []
    t = t0
    for n in range(MAX_OUTAGES):
        u_gap, u_length, _, _ = noise.uniforms("outage", vendor, n)
        t -= spec.outages.gap_mean_s * float(np.log1p(-u_gap))
        if t >= t1:
            break
        length = spec.outages.length.ppf(u_length)
        spans.append((t, t + length))
        t += length
    return tuple(spans)


def _background(spec: WorldSpec, dock: DockSpec, noise: Noise, day0_s: float) -> list[tuple[float, str, int]]:
    rng = noise.generator("background", dock.id)
    dock = on_day(dock, spec, round(day0_s / DAY))
    n_slots = int((dock.close_s - dock.open_s) / dock.slot_s)
    counts = rng.poisson(dock.background_per_slot, n_slots)
    first = day0_s + spec.day_start_s
    last = day0_s + spec.booking_end_s
    arrivals = []
    for slot, count in enumerate(counts):
        until = min(last, day0_s + dock.open_s + slot * dock.slot_s)
        span = max(until - first, 0.0)
        arrivals += [(first + float(u) * span, dock.id, slot) for u in rng.random(int(count))]
    return arrivals


def draw_plan(spec: WorldSpec, instance: Instance) -> Plan:
    """Draw all that an instance fixes before its first decision."""
    noise = Noise(instance.campaign_seed, f"{instance.namespace}/day{instance.day}")
    day0 = instance.day * DAY
    t0, t1 = day0 + spec.day_start_s, day0 + 2 * DAY
    vendors = [c.id for c in spec.carriers] + [d.id for d in spec.docks]
    background = sorted(arrival for dock in spec.docks for arrival in _background(spec, dock, noise, day0))
    return Plan(
        instance=instance,
        day0_s=day0,
        hidden=draw_hidden(spec, instance.campaign_seed, instance.day),
        orders=draw_orders(spec, noise, day0),
        errors=_error_spells(spec, noise, vendors, t0, t1),
        outages={vendor: _outages(spec, noise, vendor, t0, t1) for vendor in vendors},
        background=tuple(background),
        digest=digest64(spec_digest(spec), instance.campaign_seed, instance.day, instance.namespace),
    )
