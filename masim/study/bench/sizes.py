"""The worlds that benchmarks play: a bundled scenario's rules with any number of vendors, agents and orders."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import cycle
from math import ceil

from masim.scenario.load import load_scenario
from masim.sim.spec import WorldSpec

BASE = "freight/twelve-apis-v0"
"""All twelve endpoints, two legs per order, docks that decide later."""
CALLS_PER_ORDER = 40
STOPS_PER_ORDER = 4


@dataclass(frozen=True, slots=True)
class Size:
    """How large a world is. Half of the vendors are carriers, half are docks."""

    vendors: int = 12
    agents: int = 4
    orders_per_agent: int = 50
    days: int = 1

    @property
    def calls(self) -> int:
        """Return the calls of all days."""
        return self.days * self.agents * self.orders_per_agent * CALLS_PER_ORDER


def sized(size: Size, profile: str = "typical") -> WorldSpec:
    """Return the base scenario's world in this size, with the APIs of a profile.

    Dock capacity grows with the orders per dock, so that about as many requests meet a full slot in every size. Beyond
    the base scenario's docks the other shippers spread over all of them: their bookings are events, too.
    """
    spec = load_scenario(BASE, {"profiles.apis": f"apis-{profile}-v0"}).spec
    n = max(1, size.vendors // 2)
    carriers = tuple(replace(spec.carriers[i % len(spec.carriers)], id=f"carrier_{i}") for i in range(n))
    slots = int((spec.docks[0].close_s - spec.docks[0].open_s) / spec.docks[0].slot_s)
    bookings = size.agents * size.orders_per_agent * STOPS_PER_ORDER / (n * slots)
    share = min(1.0, len(spec.docks) / n)
    docks = tuple(
        replace(
            dock,
            id=f"dock_{i}",
            capacity=1 + ceil(1.5 * bookings),
            background_per_slot=share * dock.background_per_slot,
        )
        for i, dock in zip(range(n), cycle(spec.docks), strict=False)
    )
    names = tuple(dock.id for dock in docks)
    legs = tuple(replace(leg, pickup_docks=names, delivery_docks=names) for leg in spec.orders.legs)
    on_time = tuple(spec.hidden.on_time_p[i % len(spec.carriers)] for i in range(n))
    return replace(
        spec,
        id=f"bench/world-{profile}",
        agents=tuple(f"booker_{i}" for i in range(size.agents)),
        carriers=carriers,
        docks=docks,
        hidden=replace(spec.hidden, on_time_p=on_time, refused_per_shipper=min(1, n - 1)),
        orders=replace(spec.orders, per_agent=size.orders_per_agent, legs=legs),
    )


def with_rules_of(spec: WorldSpec, scenario: str) -> WorldSpec:
    """Return the world with the endpoints, callbacks, outages and injected faults of another scenario.

    Endpoints that the scenario does not have stay; a fault that names vendors of the scenario meets none of them here.
    """
    other = load_scenario(scenario).spec
    theirs = {api.verb: api for api in other.apis}
    apis = tuple(theirs.get(api.verb, api) for api in spec.apis)
    return replace(
        spec, id=f"bench/{other.id}", apis=apis, messages=other.messages, outages=other.outages, faults=other.faults
    )
