"""What the kinds of the families throttle and auth do, call by call.

1. Each limit admits what its definition says and tells the true wait; the factor falsifies it, 0 hides it.
2. A key is shared by the agents, or each has its own; endpoints are limited alone or together.
3. Calls that were refused before do not count.
4. Tokens: 401 until the login is over; early death, skew, revocation and the race each in their own way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from masim.errors import ConfigError
from masim.rng import Noise
from masim.sim.faults.base import CallChange, CallFault, Fault, Memo
from masim.sim.faults.event import Event, Where
from masim.sim.faults.kinds.auth import ClockSkew, EarlyDeath, RefreshRace, Revocation, TokenExpiry
from masim.sim.faults.kinds.throttle import (
    ConcurrencyCap,
    CostLimit,
    DailyQuota,
    FixedWindow,
    Limit,
    SlidingWindow,
    TokenBucket,
)
from masim.sim.wire import Body, Result
from masim.units import DAY, HOUR

A, B = "booker_0", "booker_1"
NOISE = Noise(0, "test")


class Line:
    """One fault's memory, asked call by call."""

    def __init__(self, fault: CallFault) -> None:
        self.fault = fault
        self.memo: Memo = {}
        self.change = CallChange()

    def call(self, t_s: float, agent: str = A, verb: str = "quote", **more: Any) -> int:
        """Return the code of a refusal, 0 for a call that passes."""
        values = {"deadline_s": 10.0, "latency_s": 1.0, **more}
        drawn = values.pop("drawn", True)
        event = Event(Where(agent, "aster", verb, "order", 0, "", t_s, **values), NOISE, "fault", "call", drawn)
        self.change = CallChange()
        changed = self.fault.on_call(event, self.change, self.memo)
        assert changed == (self.change != CallChange()), "a strike is labelled exactly when something changed"
        return self.change.abort.code if self.change.abort else 0

    def codes(self, times: Sequence[float], **more: Any) -> list[int]:
        return [self.call(t, **more) for t in times]

    @property
    def told_s(self) -> float:
        return self.change.abort.retry_after_s if self.change.abort else -1.0


@pytest.mark.parametrize(
    ("limit", "times", "codes", "wait_s"),
    [
        (TokenBucket(limit=6, window_s=60.0, burst=2), [0, 0, 9.9, 10, 19], [0, 0, 429, 0, 429], 1.0),
        (SlidingWindow(limit=2, window_s=60.0), [0, 30, 59, 60, 61, 90], [0, 0, 429, 0, 429, 0], -1.0),
        (SlidingWindow(limit=2, window_s=60.0), [0, 30, 59], [0, 0, 429], 1.0),
        (FixedWindow(limit=2, window_s=60.0), [58, 59, 59.5, 60, 61, 62], [0, 0, 429, 0, 0, 429], 58.0),
        (DailyQuota(limit=2), [HOUR, 2 * HOUR, 23 * HOUR], [0, 0, 429], HOUR),
        (DailyQuota(limit=1), [23 * HOUR, DAY, DAY + 1], [0, 0, 429], DAY - 1),
        (ConcurrencyCap(limit=2), [0, 0.2, 0.9, 1.0], [0, 0, 429, 0], -1.0),
        (ConcurrencyCap(limit=2), [0, 0.2, 0.75], [0, 0, 429], 0.25),
    ],
)
def test_limits_admit_what_they_say_and_tell_the_true_wait(
    limit: Limit, times: list[float], codes: list[int], wait_s: float
) -> None:
    line = Line(limit)
    assert line.codes(times) == codes
    assert line.told_s == pytest.approx(wait_s)
    if wait_s > 0:
        assert line.call(times[-1] + wait_s + 1e-6) == 0, "who waits as told gets in"


def test_the_cost_of_a_call_depends_on_what_it_asks() -> None:
    def passed(verb: str) -> int:
        line = Line(CostLimit(limit=60, window_s=60.0, burst=20, read_cost=1, write_cost=5, list_cost=10))
        return sum(line.call(0.0, verb=verb) == 0 for _ in range(30))

    assert [passed(verb) for verb in ("quote", "tender", "availability")] == [20, 4, 2]


def test_a_concurrency_cap_knows_the_delays_of_earlier_faults_and_the_deadline() -> None:
    line = Line(ConcurrencyCap(limit=1))
    assert line.codes([0.0], latency_s=99.0) == [0]
    assert line.codes([9.9, 10.1]) == [429, 0], "its caller gave up after 10 s"


@pytest.mark.parametrize(("factor", "told"), [(1.0, 40.0), (0.0, 0.0), (0.25, 10.0), (3.0, 120.0)])
def test_a_refusal_tells_the_wait_wrongly_or_not_at_all(factor: float, told: float) -> None:
    line = Line(SlidingWindow(limit=1, window_s=60.0, retry_after_factor=factor))
    assert line.codes([0.0, 20.0]) == [0, 429]
    assert line.told_s == pytest.approx(told)


def test_a_key_is_shared_or_each_agents_own() -> None:
    assert [Line(SlidingWindow(limit=1)).call(0.0, agent) for agent in (A, B)] == [0, 0]
    for per, second in (("key", 429), ("agent", 0)):
        line = Line(SlidingWindow(limit=1, per=per))  # type: ignore[arg-type]
        assert [line.call(0.0, agent) for agent in (A, B)] == [0, second]
    for scope, second in (("vendor", 429), ("endpoint", 0)):
        line = Line(SlidingWindow(limit=1, scope=scope))  # type: ignore[arg-type]
        assert [line.call(0.0, verb=verb) for verb in ("quote", "tender")] == [0, second]


def test_what_was_refused_before_does_not_count() -> None:
    line = Line(SlidingWindow(limit=1))
    assert line.call(0.0, refused=503) == 0
    change = CallChange(abort=Body(Result.FAILURE, 503))
    event = Event(Where(A, "aster", "quote", "order", 0, "", 0.0), NOISE, "fault", "call")
    assert not line.fault.on_call(event, change, line.memo)
    assert line.codes([0.0, 0.0]) == [0, 429]


def test_an_expired_token_is_refused_until_the_login_is_over() -> None:
    line = Line(TokenExpiry(life_s=100.0, login_s=10.0))
    assert line.codes([0, 99, 100, 105, 109.9, 110, 209, 210]) == [0, 0, 401, 401, 401, 0, 0, 401]


def test_a_token_that_is_renewed_ahead_costs_time_and_no_refusal() -> None:
    line = Line(TokenExpiry(life_s=100.0, login_s=10.0, refresh="ahead"))
    added = []
    for t in (0, 100, 104, 110):
        assert line.call(t) == 0
        added.append(line.change.add_s)
    assert added == [0.0, 10.0, 6.0, 0.0]


def test_a_token_dies_early_and_the_client_doubts_late() -> None:
    line = Line(EarlyDeath(life_s=300.0, login_s=10.0, share=1 / 3, doubts_after=3))
    assert line.codes([0, 99, 100, 120, 140, 149, 150, 249, 250]) == [0, 0, 401, 401, 401, 401, 0, 0, 401]


def test_a_client_that_never_doubts_logs_in_when_the_promised_life_is_over() -> None:
    line = Line(EarlyDeath(life_s=300.0, login_s=10.0, doubts_after=99))
    assert line.codes([0, 100, 299, 300, 310]) == [0, 401, 401, 401, 0]


def test_a_fresh_token_lies_in_the_future_of_the_vendor() -> None:
    line = Line(ClockSkew(life_s=100.0, login_s=10.0, skew_s=30.0))
    assert line.codes([0, 29, 30, 99, 100, 139, 140]) == [401, 401, 0, 0, 401, 401, 0]


def test_a_revoked_key_comes_back() -> None:
    line = Line(Revocation(login_s=60.0))
    assert line.call(0, drawn=False) == 0
    assert line.call(10, drawn=True) == 401
    assert line.codes([11, 69], drawn=False) == [401, 401]
    assert line.call(70, drawn=False) == 0


def test_renewals_void_each_other_until_somebody_is_left_alone() -> None:
    line = Line(RefreshRace(life_s=100.0, login_s=10.0))
    assert line.codes([0, 99]) == [0, 0]
    assert [line.call(t, agent) for t, agent in ((100, A), (109, B), (111, A), (119, B))] == [401] * 4
    assert line.call(128, B) == 401, "one's own call starts nothing over"
    assert [line.call(t, agent) for t, agent in ((129, B), (130, A))] == [0, 0]
    alone = Line(RefreshRace(life_s=100.0, login_s=10.0))
    assert alone.codes([0, 100, 105, 110]) == [0, 401, 401, 0]


@pytest.mark.parametrize("per", ["key", "agent"])
def test_a_token_is_shared_or_each_agents_own(per: Any) -> None:
    line = Line(TokenExpiry(life_s=100.0, login_s=10.0, per=per))
    assert [line.call(t, agent) for t, agent in ((0, A), (60, B), (100, A), (105, B))] == [
        0,
        0,
        401,
        401 if per == "key" else 0,
    ]


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: SlidingWindow(limit=0), "limit"),
        (lambda: FixedWindow(window_s=0.0), "window_s"),
        (lambda: TokenBucket(burst=0), "burst"),
        (lambda: CostLimit(burst=5), "list_cost"),
        (lambda: CostLimit(limit=0), "limit"),
        (lambda: TokenExpiry(life_s=0.0), "life_s"),
        (lambda: EarlyDeath(share=1.5), "share"),
        (lambda: EarlyDeath(doubts_after=0), "doubts_after"),
    ],
)
def test_settings_out_of_range(make: Callable[[], Fault], field: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make()
    assert caught.value.where == field
