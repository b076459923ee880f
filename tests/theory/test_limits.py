"""Token buckets to the last call.

1. Who comes back after exactly the told wait is let in, wherever on the clock; who comes a little earlier is not.
2. A full bucket gives its burst at once, and a burst again only after burst / rate seconds.
3. A bucket of burst b lets the same calls through as one server with service 1 / rate and b places.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from masim.sim.dists import Constant
from masim.sim.limits import TokenBucket
from masim.sim.spec import RateLimit, StationSpec
from masim.sim.stations import Station
from masim.testing.theory import rig


@given(
    rate=st.sampled_from([1 / 60, 1 / 3, 0.7, 5.0, 140.0]),
    burst=st.integers(1, 5),
    start=st.floats(0.0, 30 * 86_400.0),
    gaps=st.lists(st.floats(0.0, 3.0), min_size=1, max_size=20),
)
def test_the_told_wait_is_exact(rate: float, burst: int, start: float, gaps: list[float]) -> None:
    bucket, now = TokenBucket(RateLimit(rate, burst), start), start
    for gap in gaps:
        now += gap / rate
        wait = bucket.take(now)
        if wait > 0.0:
            assert bucket.take(now + 0.99 * wait) > 0.0
            now += wait
            assert bucket.take(now) == 0.0


def test_the_gateway_tells_the_truth() -> None:
    spec = rig.world(rig.endpoint(rate_limit=RateLimit(1 / 60, 2)))
    (plan,) = rig.plans(spec, 1)
    first = [22_000.1, 22_000.2, 22_007.3]
    told = rig.answers(spec, plan, first)[-1].body
    assert told.code == 429
    codes = [a.body.code for a in rig.answers(spec, plan, [*first, 22_007.3 + told.retry_after_s])]
    assert codes == [200, 200, 429, 200]


def test_the_burst() -> None:
    bucket = TokenBucket(RateLimit(0.5, 4), 0.0)
    assert [bucket.take(0.0) for _ in range(5)] == [0.0] * 4 + [2.0]
    assert [bucket.take(8.0) for _ in range(5)] == [0.0] * 4 + [2.0]
    assert [bucket.take(14.0) for _ in range(4)] == [0.0] * 3 + [2.0]


@pytest.mark.parametrize("burst", [1, 2, 7])
@pytest.mark.parametrize("load", [0.6, 1.0, 2.5])
def test_a_bucket_is_a_queue(burst: int, load: float) -> None:
    rng = np.random.default_rng(burst)
    times = np.cumsum(rng.exponential(0.5 / load, 20_000)).tolist()
    bucket, station = TokenBucket(RateLimit(2.0, burst), 0.0), Station(StationSpec(1, Constant(0.5), burst - 1))
    let_in = [bucket.take(t) == 0.0 for t in times]
    assert let_in == [station.join(t, 0.5) is not None for t in times]
