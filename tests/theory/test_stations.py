"""Stations beside a queue that is played event by event, and behind the gateway.

1. Whatever arrives, a station tells each call the same as a first-come-first-served queue played with a list.
2. The gateway's answers take the latency, the wait and the service of the station, keyed by the call.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from masim.rng import Noise
from masim.sim.dists import Constant, Exponential
from masim.sim.spec import StationSpec
from masim.sim.stations import Station
from masim.sim.wire import Stop
from masim.testing.theory import rig


def played(arrivals: list[int], services: list[int], servers: int, places: int | None) -> list[int | None]:
    """Play second by second: who is served, who waits, who is turned away."""
    serving: dict[int, int] = {}
    waiting: list[int] = []
    spent: list[int | None] = [None] * len(arrivals)
    for now in range(max(arrivals) + sum(services) + 1):
        serving = {call: left - 1 for call, left in serving.items()} if now else {}
        for call in [call for call, left in serving.items() if left == 0]:
            spent[call] = now - arrivals[call]
            del serving[call]
        while waiting and len(serving) < servers:
            call = waiting.pop(0)
            serving[call] = services[call]
        for call in [i for i, t in enumerate(arrivals) if t == now]:
            if len(serving) < servers:
                serving[call] = services[call]
            elif places is None or len(waiting) < places:
                waiting.append(call)
    return spent


@given(
    calls=st.lists(st.tuples(st.integers(0, 4), st.integers(1, 9)), min_size=1, max_size=25),
    servers=st.integers(1, 3),
    places=st.sampled_from([None, 0, 1, 3]),
)
def test_a_station_is_the_queue(calls: list[tuple[int, int]], servers: int, places: int | None) -> None:
    arrivals = np.cumsum([gap for gap, _ in calls]).tolist()
    services = [service for _, service in calls]
    station = Station(StationSpec(servers, Constant(1.0), places))
    told = [station.join(float(t), float(s)) for t, s in zip(arrivals, services, strict=True)]
    assert told == played(arrivals, services, servers, places)


def test_the_gateway_adds_the_station_to_the_latency() -> None:
    spec = StationSpec(2, Exponential(1.0), queue=5)
    world = rig.world(rig.endpoint(latency_s=0.25, station=spec))
    (plan,) = rig.plans(world, 1)
    times = np.cumsum(Noise(1, "test").generator("arrivals").exponential(0.5, 2_000)).tolist()
    found = rig.answers(world, plan, times)
    noise, station = Noise(plan.instance.campaign_seed, plan.instance.namespace), Station(spec)
    for i, (t, answer) in enumerate(zip(times, found, strict=True)):
        call = answer.call
        u = noise.uniform("station", "caller", call.verb, rig.DOCK, str(i), -1, Stop.NONE, -1, 0)
        spent = station.join(t, spec.service.ppf(u))
        assert answer.body.code == (503 if spent is None else 200)
        if spent is not None:
            assert abs(answer.t_s - answer.sent_s - 0.25 - spent) < 1e-9
    assert {a.body.code for a in found} == {200, 503}
