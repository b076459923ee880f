"""Queueing stations: a vendor's endpoint with a few servers, whose delays and refusals come from its load.

A request joins the station as it is sent, waits first come, first served for one of the ``servers``, and is served
for a drawn time; its effect follows. A caller that gives up does not leave the queue: its request is still worked off,
which is what makes a stampede after an outage last. The latency of the endpoint is everything besides.

Requests join in order of time, so a request's whole way is known when it joins and nothing is put on the clock: the
waiting time is the recursion of Kiefer and Wolfowitz (1955), for one server that of Lindley (1952).
"""

from __future__ import annotations

from collections import deque
from heapq import heapreplace

from masim.rng import Key, Noise
from masim.sim.spec import ApiSpec, StationSpec
from masim.sim.wire import Body, Result

BUSY = {429: "too many requests at once", 503: "no server is free"}
"""The problem that a refusal names, by its code."""


class Station:
    """One endpoint of one vendor: idle at first; :meth:`join` must be called in order of time."""

    __slots__ = ("_free_s", "_starts", "spec")

    def __init__(self, spec: StationSpec) -> None:
        self.spec = spec
        self._free_s = [float("-inf")] * spec.servers
        self._starts: deque[float] = deque()

    def join(self, t_s: float, service_s: float) -> float | None:
        """Return the seconds until service ends (waiting included); None: refused, as all places are taken."""
        start = max(t_s, self._free_s[0])
        if self.spec.queue is not None and start > t_s and self._full(t_s, self.spec.queue):
            return None
        if self.spec.queue and start > t_s:
            self._starts.append(start)
        heapreplace(self._free_s, start + service_s)
        return start + service_s - t_s

    def _full(self, t_s: float, places: int) -> bool:
        """Return whether the queue is full; starts come in order, so those that have begun stand in front."""
        while self._starts and self._starts[0] <= t_s:
            self._starts.popleft()
        return len(self._starts) >= places


class Stations:
    """All stations of one world, made when their first request comes."""

    __slots__ = ("_noise", "_stations")

    def __init__(self, noise: Noise) -> None:
        self._noise = noise
        self._stations: dict[tuple[str, str], Station] = {}

    def join(self, api: ApiSpec, vendor: str, t_s: float, key: tuple[Key, ...]) -> float | Body:
        """Return the seconds that a request spends at its station, 0 where there is none, or the refusal."""
        spec = api.station
        if spec is None:
            return 0.0
        place = (vendor, api.verb.value)
        station = self._stations.get(place)
        if station is None:
            station = self._stations[place] = Station(spec)
        spent = station.join(t_s, spec.service.ppf(self._noise.uniform("station", *key)))
        if spent is None:
            return Body(Result.FAILURE, spec.refusal, problem=BUSY[spec.refusal])
        return spent
