"""Holds of :class:`masim.sim.docks.Dock`: the share that is still live when its owner comes to claim it."""

from __future__ import annotations

from math import exp

from masim.rng import Noise
from masim.sim.clock import Clock
from masim.sim.docks import Dock
from masim.sim.spec import Verb
from masim.sim.wire import Call, Stop
from masim.testing.theory import rig
from masim.testing.theory.check import Case

REPLICATIONS = 40
HOLDS = 600
TTL_S = 600.0
CLAIM_MEAN_S = 500.0


def held_shares(ttl_s: float = TTL_S) -> list[float]:
    """Return, per replication, the share of holds whose place was still kept at an exponential claim time."""
    noise, shares = Noise(1, "theory"), []
    for i in range(REPLICATIONS):
        claims = CLAIM_MEAN_S * noise.generator("claims", i).standard_exponential(HOLDS)
        shares.append(_share(claims.tolist(), ttl_s))
    return shares


def _share(claims_s: list[float], ttl_s: float) -> float:
    clock = Clock(0.0)
    dock = Dock(rig.dock(slots=len(claims_s), hold_ttl_s=ttl_s), clock, 0.0)
    kept: list[bool] = []
    for slot, claim_s in enumerate(claims_s):
        dock.hold(Call(Verb.HOLD, rig.DOCK, str(slot), 0, Stop.PICKUP, slot))
        clock.at(claim_s, lambda slot=slot: kept.append(dock.free(slot) == 0))
    while clock.peek() < float("inf"):
        clock.step()
    return sum(kept) / len(kept)


def cases() -> list[Case]:
    """Return the cases of this module."""
    exact = 1.0 - exp(-TTL_S / CLAIM_MEAN_S)
    return [Case("hold of 600 s, claims after 500 s on average: share held", "1-exp(-ttl/m)", exact, held_shares)]
