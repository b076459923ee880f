"""Stations: waiting, refusal and a stampede that come from the load.

1. One server serves calls in the order in which they were sent; the effect follows the service.
2. Free servers keep nobody waiting; full ones refuse, by code, what finds no place.
3. A caller that gave up is served all the same, and those behind it wait for that.
4. After an outage the calls that it kept away come together, and wait longest.
5. Calls that never arrive (lost requests, errors, refusals of a rate limit) take no server.
6. An injected delay comes on top, and a call that an injected fault aborts takes no server.
7. An extra call of another agent changes waiting, and no draw of anybody's service.
8. Without a station nothing is paid, drawn or changed: the golden traces say so.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from sim.desk import Desk
from sim.worlds import apis, calm

from masim.sim.dists import Constant, LogNormal
from masim.sim.faults.kinds.transport import Latency, Reset
from masim.sim.faults.rules import FaultSpec, Rate
from masim.sim.spec import RateLimit, StationSpec, Transient, Verb
from masim.sim.stations import Station
from masim.sim.wire import Result, Stop
from masim.units import HOUR, MINUTE

PICKUP = Stop.PICKUP
ONE = StationSpec(1, Constant(3.0))


def desk(station: StationSpec, deadline_s: float = HOUR, **changes: object) -> Desk:
    return Desk(calm(client_deadline_s=deadline_s, apis=apis(station=station, **changes)))


def send(at: Desk, calls: int) -> None:
    for _ in range(calls):
        at.send(Verb.AVAILABILITY, "plant", PICKUP)


def latencies(at: Desk) -> list[float]:
    at.after(10 * MINUTE)
    return [round(a.t_s - a.sent_s, 6) for a in sorted(at.answers, key=lambda a: a.request_id)]


def test_one_server_serves_in_order() -> None:
    at = desk(ONE)
    sent = at.now
    send(at, 3)
    assert latencies(at) == [4.0, 7.0, 10.0]
    effects = [row.t_s - sent for row in at.world.trace.rows if row.event == "effect"]
    assert effects == pytest.approx([3.6, 6.6, 9.6])


def test_each_vendor_and_endpoint_has_servers_of_its_own() -> None:
    at = desk(ONE)
    at.send(Verb.AVAILABILITY, "plant", PICKUP)
    at.send(Verb.APPOINTMENT_DETAILS, "plant", PICKUP)
    at.send(Verb.AVAILABILITY, "store", Stop.DELIVERY)
    assert latencies(at) == [4.0] * 3


@pytest.mark.parametrize("code", [429, 503])
def test_a_full_station_refuses(code: int) -> None:
    at = desk(StationSpec(2, Constant(3.0), queue=1, refusal=code))
    send(at, 4)
    assert latencies(at) == [4.0, 4.0, 7.0, 0.05]
    assert [a.body.code for a in sorted(at.answers, key=lambda a: a.request_id)] == [200, 200, 200, code]
    (cause,) = {row.cause_id for row in at.world.trace.rows} - {""}
    assert cause == "busy:plant:availability:1"


def test_places_in_the_queue_become_free_as_service_begins() -> None:
    station = Station(StationSpec(1, Constant(1.0), queue=1))
    assert [station.join(t, 10.0) for t in (0.0, 1.0, 2.0)] == [10.0, 19.0, None]
    assert [station.join(t, 10.0) for t in (10.0, 11.0)] == [20.0, None]


def test_a_server_is_free_the_moment_it_ends() -> None:
    station = Station(StationSpec(1, Constant(1.0), queue=0))
    assert [station.join(t, 5.0) for t in (0.0, 4.999, 5.0)] == [5.0, None, 5.0]


def test_who_gives_up_is_served_all_the_same() -> None:
    at = desk(ONE, deadline_s=5.0)
    send(at, 3)
    assert latencies(at) == [4.0, 5.0, 5.0]
    assert [a.body.result for a in at.answers] == [Result.SUCCESS, Result.TIMEOUT, Result.TIMEOUT]
    assert sum(row.event == "effect" for row in at.world.trace.rows) == 3
    causes = [row.cause_id for row in at.world.trace.rows if row.event == "answer"]
    assert causes == ["", "queue:plant:availability:1", "queue:plant:availability:2"]


@pytest.mark.parametrize(("down_s", "waits"), [(0.0, [0.0] * 10), (MINUTE, [3.0 * k for k in range(10)])])
def test_a_stampede_after_an_outage(down_s: float, waits: list[float]) -> None:
    """Ten callers, one each 6 s; whom the outage refuses calls again on the full minute, as all the others do."""
    start = desk(ONE).now
    at = Desk(calm(client_deadline_s=HOUR, apis=apis(station=ONE)), outages={"plant": ((start, start + down_s),)})
    refused = 0
    for k in range(10):
        at.until(start + 6.0 * k)
        refused += start <= at.now < start + down_s
        send(at, 1)
    at.until(start + MINUTE)
    send(at, refused)
    at.after(10 * MINUTE)
    served = sorted(a.t_s - a.sent_s - 4.0 for a in at.answers if a.body.code == 200)
    assert served == pytest.approx(waits)


@pytest.mark.parametrize(
    "stopped",
    [
        {"lost_request_p": 1.0},
        {"transient": Transient(1.0, 1.0, 0.0, MINUTE)},
        {"rate_limit": RateLimit(1 / HOUR, 1)},
    ],
)
def test_calls_that_never_arrive_take_no_server(stopped: dict[str, object]) -> None:
    at = desk(StationSpec(1, Constant(5.0), queue=0), deadline_s=30.0, **stopped)
    send(at, 4)
    at.after(10 * MINUTE)
    assert not any(row.cause_id.startswith("busy") for row in at.world.trace.rows)


def test_another_agents_call_changes_no_service() -> None:
    spec = StationSpec(1, LogNormal(1.0, 1.0))

    def mine(extra: int) -> tuple[list[float], list[float]]:
        at = desk(spec)
        for _ in range(extra):
            at.send(Verb.AVAILABILITY, "plant", PICKUP, agent="booker_1", order="booker_1-order_0")
        send(at, 4)
        at.after(HOUR)
        ends = sorted(a.t_s - a.sent_s for a in at.answers if a.agent == "booker_0")
        return ends, [b - a for a, b in pairwise(ends)]

    alone, shared = mine(0), mine(1)
    assert alone[1] == pytest.approx(shared[1])
    assert shared[0][0] > alone[0][0]


def test_injected_latency_comes_on_top_of_the_station_and_an_abort_takes_no_server() -> None:
    faults = (
        FaultSpec("slow", Latency(Constant(2.0)), rate=Rate(nth=2)),
        FaultSpec("gone", Reset(), rate=Rate(nth=3)),
    )
    at = Desk(calm(client_deadline_s=HOUR, apis=apis(station=ONE), faults=faults))
    send(at, 4)
    at.after(10 * MINUTE)
    ends = {a.request_id: a.t_s - a.sent_s for a in at.answers if a.body.code == 200}
    assert ends == pytest.approx({0: 4.0, 1: 9.0, 3: 10.0})
