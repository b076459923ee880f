"""Retries: schedules against their closed forms, what is retried, Retry-After, budgets, and what the trace says."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from sim.desk import AGENT
from sim.worlds import apis, calm
from tools.rig import Rig, retrying

from masim.errors import ConfigError
from masim.sim.dists import Constant, LogNormal
from masim.sim.faults.base import REFUSAL_LATENCY_S
from masim.sim.spec import RateLimit, Transient, Verb
from masim.sim.wire import Body, Result, Stop
from masim.tools.retry import POLICIES, RetryBudget, RetrySettings, is_retried
from masim.units import HOUR, MINUTE

ALWAYS_502 = Transient(1.0, 1.0, 0.0, MINUTE)
OTHER = "booker_1"


def delays(policy: str, u: float = 0.5, **more: float) -> list[float]:
    backoff = RetrySettings(policy, base_s=2.0, cap_s=15.0, **more).backoff()  # type: ignore[arg-type]
    return [backoff.delay_s(retry, u) for retry in range(1, 6)]


def test_schedules_are_their_closed_forms() -> None:
    assert delays("fixed") == [2.0] * 5
    assert delays("exponential") == [2.0, 4.0, 8.0, 15.0, 15.0]
    assert delays("exponential", factor=3.0) == [2.0, 6.0, 15.0, 15.0, 15.0]
    assert delays("exponential", factor=1.0) == [2.0] * 5
    assert delays("full-jitter", u=0.25) == [0.5, 1.0, 2.0, 3.75, 3.75]
    assert delays("equal-jitter", u=0.0) == [1.0, 2.0, 4.0, 7.5, 7.5]
    assert RetrySettings().backoff().delay_s(1, 0.5) == math.inf
    assert RetrySettings("exponential").backoff().delay_s(10**6, 0.0) == 30.0


@pytest.mark.parametrize(("policy", "low", "mean"), [("full-jitter", 0.0, 0.5), ("equal-jitter", 0.5, 0.75)])
def test_jitter_fills_its_range(policy: str, low: float, mean: float) -> None:
    backoff = RetrySettings(policy, base_s=1.0, cap_s=4.0).backoff()
    waits = np.array([backoff.delay_s(9, u) for u in np.linspace(0.0, 1.0, 1001)]) / 4.0
    assert (waits.min(), waits.max(), waits.mean()) == pytest.approx((low, 1.0, mean))


def test_what_is_retried() -> None:
    careful, bold = RetrySettings("fixed"), RetrySettings("fixed", write_timeouts=True)
    late = Body(Result.TIMEOUT, 0)
    assert is_retried(careful, Verb.QUOTE, late) and not is_retried(careful, Verb.SCHEDULE, late)
    assert is_retried(bold, Verb.SCHEDULE, late)
    again = [c for c in range(400, 600) if is_retried(bold, Verb.SCHEDULE, Body(Result.FAILURE, c))]
    assert again == [408, 429, *range(500, 600)]
    assert not is_retried(bold, Verb.QUOTE, Body(Result.SUCCESS, 200))


def test_attempts_follow_the_schedule_and_the_agent_sees_the_last_answer_alone() -> None:
    spec = calm(apis=apis(transient=ALWAYS_502))
    rig = Rig(spec, {AGENT: retrying("exponential", attempts=4, base_s=3.0)})
    assert rig.ask(Verb.AVAILABILITY, "plant", Stop.PICKUP).code == 502
    at = [t - rig.start for t, _, _ in rig.wire.sent]
    assert at == pytest.approx([0.0, 1 + 3, 2 + 9, 3 + 21])
    assert len(rig.answers) == 1 and rig.answers[0].t_s - rig.start == pytest.approx(25.0)
    retries = rig.rows("retry")
    assert [(row.note, row.latency_s, row.code) for row in retries] == [
        ("attempt 2", 3.0, 502), ("attempt 3", 6.0, 502), ("attempt 4", 12.0, 502),
    ]  # fmt: skip
    assert [row.request_id for row in retries] == [row.request_id for row in rig.rows("call")][1:]


@pytest.mark.parametrize(("bold", "bookings"), [(False, 1), (True, 2)])
def test_a_write_without_an_answer_is_repeated_only_by_setting(bold: bool, bookings: int) -> None:
    rig = Rig(calm(apis=apis(lost_response_p=1.0)), {AGENT: retrying(attempts=2, write_timeouts=bold)})
    assert rig.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, 6).result is Result.TIMEOUT
    assert len(rig.world.docks["plant"].appointments) == bookings


def test_the_deadline_is_the_clients_own() -> None:
    slow = calm(apis=apis(Constant(20.0)))
    assert Rig(slow, {}).ask(Verb.QUOTE, "aster").result is Result.TIMEOUT
    rig = Rig(slow, {AGENT: retrying("none", deadline_s=30.0)})
    assert rig.ask(Verb.QUOTE, "aster").code == 200 and rig.now - rig.start == 20.0


def limited(told: bool = True) -> Rig:
    """A bucket of one token a minute, empty after one call."""
    spec = calm(apis=apis(rate_limit=RateLimit(1 / 60, 1, told)))
    rig = Rig(spec, {AGENT: retrying("fixed", attempts=5, base_s=10.0)})
    assert rig.ask(Verb.AVAILABILITY, "plant", Stop.PICKUP).code == 200
    return rig


def test_heeding_retry_after_costs_one_call_and_ignoring_it_costs_four() -> None:
    heeding = limited()
    assert heeding.ask(Verb.AVAILABILITY, "plant", Stop.PICKUP).code == 200
    assert len(heeding.wire.sent) == 1 + 2
    deaf = limited(told=False)
    assert deaf.ask(Verb.AVAILABILITY, "plant", Stop.PICKUP).code == 429, "five attempts within 41 seconds"
    assert len(deaf.wire.sent) == 1 + 5
    spec = calm(apis=apis(rate_limit=RateLimit(1 / 60, 1)))
    ignoring = Rig(spec, {AGENT: retrying("fixed", attempts=9, base_s=10.0, retry_after=False)})
    codes = [ignoring.ask(Verb.AVAILABILITY, "plant", Stop.PICKUP).code for _ in range(2)]
    assert codes == [200, 200] and len(ignoring.wire.sent) == 1 + 7


def test_a_retry_after_beyond_patience_is_told_to_the_agent() -> None:
    spec = calm(apis=apis(rate_limit=RateLimit(1 / HOUR, 1)))
    rig = Rig(spec, {AGENT: retrying()})
    rig.ask(Verb.AVAILABILITY, "plant", Stop.PICKUP)
    before = rig.now
    body = rig.ask(Verb.AVAILABILITY, "plant", Stop.PICKUP)
    assert (body.code, rig.now - before) == (429, pytest.approx(REFUSAL_LATENCY_S))
    assert body.retry_after_s > 5 * MINUTE


def test_full_jitter_can_burn_all_retries_inside_a_limit_of_one_a_minute() -> None:
    spec = calm(apis=apis(rate_limit=RateLimit(1 / 60, 1, retry_after=False)))
    jitter = retrying("full-jitter", attempts=5, base_s=1.0, cap_s=8.0)
    rig = Rig(spec, {AGENT: jitter})
    rig.ask(Verb.AVAILABILITY, "plant", Stop.PICKUP)
    assert rig.ask(Verb.AVAILABILITY, "plant", Stop.PICKUP).code == 429
    assert len(rig.wire.sent) == 1 + 5
    assert rig.now - rig.start < 1 + 2 + 4 + 8 + 5, "at most the sum of the exponential waits, far from a minute"


def test_the_budget_limits_retries_to_a_share_of_calls() -> None:
    budget = RetryBudget(RetrySettings("fixed", budget_tokens=2.0, budget_ratio=0.25))
    assert [budget.spend() for _ in range(3)] == [True, True, False]
    for _ in range(4):
        budget.earn()
    assert [budget.spend() for _ in range(2)] == [True, False]
    spec = calm(apis=apis(transient=ALWAYS_502))
    rig = Rig(spec, {AGENT: retrying(attempts=10, budget_tokens=4.0, budget_ratio=0.5)})
    for _ in range(8):
        rig.ask(Verb.QUOTE, "aster")
    assert len(rig.rows("retry")) == 4 + 3, "four saved up, and half a token earned by each of the seven calls after"


def test_another_agents_retries_move_nobody_elses_rows() -> None:
    faulty = apis(LogNormal(1.0, 1.0), transient=Transient(0.4, 0.4, 0.0, MINUTE))

    def rows(settings: dict[str, object]) -> list[object]:
        rig = Rig(calm(apis=faulty), settings)  # type: ignore[arg-type]
        for _ in range(6):
            for agent in (AGENT, OTHER):
                rig.start_call(Verb.AVAILABILITY, "plant", Stop.PICKUP, agent=agent)
                rig.start_call(Verb.QUOTE, "birch", agent=agent) if agent == OTHER else None
            rig.after(10 * MINUTE)
        found = rig.rows("call", OTHER) + rig.rows("answer", OTHER) + rig.rows("effect", OTHER)
        assert bool(rig.rows("retry")) == (AGENT in settings)
        return [row._replace(request_id=0, cause_id="") for row in found]

    assert rows({}) == rows({AGENT: retrying("full-jitter", attempts=4)})


def test_the_same_seed_gives_the_same_bytes() -> None:
    def trace() -> str:
        spec = calm(apis=apis(LogNormal(1.0, 1.0), transient=ALWAYS_502))
        rig = Rig(spec, {AGENT: retrying("full-jitter", attempts=4)})
        for verb in (Verb.QUOTE, Verb.QUOTE, Verb.TENDER_STATUS):
            rig.ask(verb, "aster")
        return repr(rig.world.trace.rows)

    assert trace() == trace()


def test_jitter_differs_from_call_to_call_and_retry_to_retry() -> None:
    rig = Rig(calm(apis=apis(transient=ALWAYS_502)), {AGENT: retrying("full-jitter", attempts=4, factor=1.0)})
    for _ in range(5):
        rig.ask(Verb.QUOTE, "aster")
    waits = [row.latency_s for row in rig.rows("retry")]
    assert len(set(waits)) == len(waits) == 15 and all(0.0 <= w < 1.0 for w in waits)


def test_after_the_end_of_the_day_nothing_more_is_sent() -> None:
    rig = Rig(calm(apis=apis(transient=ALWAYS_502)), {AGENT: retrying(attempts=9, base_s=20.0)})
    rig.start_call(Verb.QUOTE, "aster")
    rig.after(5.0)
    rig.clients.close()
    rig.world.settle()
    assert len(rig.wire.sent) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"policy": "exponental"}, "did you mean 'exponential'"),
        ({"policy": "none", "attempts": 5}, "name a policy"),
        ({"policy": "fixed", "attempts": 0}, "1 to 100"),
        ({"policy": "fixed", "factor": 0.5}, "from 1"),
        ({"policy": "fixed", "base_s": -1.0}, "from 0"),
        ({"policy": "fixed", "base_s": 60.0}, "at most the cap"),
        ({"policy": "fixed", "cap_s": math.nan}, "from 0"),
    ],
)
def test_impossible_settings_are_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        replace(RetrySettings(), **change)  # type: ignore[arg-type]


def test_every_registered_policy_waits_no_longer_than_its_cap() -> None:
    for name in set(POLICIES) - {"none"}:
        backoff = RetrySettings(name, base_s=2.0, cap_s=9.0).backoff()
        assert all(0.0 <= backoff.delay_s(retry, 0.999) <= 9.0 for retry in range(1, 40)), name
