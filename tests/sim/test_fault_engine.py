"""Whom faults strike, when, how often, and what several of them make of one call.

1. A match narrows by vendor, endpoint and agent; what is absent is everybody.
2. Schedules open and close: windows, days, cron, call counts, states of the order, spells (own or shared).
3. Rates hold: realised shares lie in the exact 99.9% interval of the configured ones; nth and every are exact.
4. Two-state rates and spells have the shares and lengths of their closed forms, from midnight on.
5. Bounds hold: never more than max_active under way, never more than max_strikes.
6. Order on one call: abort, delay, replace, patch, whatever the order of the list; the first abort wins.
7. Every strike is one trace row with a cause id of its own and the request of its call; answers name no cause.
8. Another agent's extra calls move nobody's strikes; a fault that never strikes changes no byte.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from scipy import stats
from sim.desk import AGENT, Desk
from sim.worlds import at_random, calm, play

from masim.rng import Noise
from masim.sim.dists import Constant, Exponential
from masim.sim.faults.base import CallChange, CallFault, Memo
from masim.sim.faults.engine import FaultEngine
from masim.sim.faults.event import Event, Where
from masim.sim.faults.kinds.transport import Latency, Reset, SlowBody, Truncation
from masim.sim.faults.rules import Cron, FaultSpec, Markov, Match, Rate, SpellRule, When
from masim.sim.spec import Verb
from masim.sim.wire import Body, Result, Stop
from masim.units import DAY, HOUR, MINUTE

N = 4000
OTHER = "booker_1"


@dataclass(frozen=True, slots=True)
class Swap(CallFault):
    """Replaces the answer by an empty success."""

    kind: ClassVar[str] = "swap"
    family: ClassVar[str] = "status"

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        change.replace = Body(Result.SUCCESS, 299)
        return True


@dataclass(frozen=True, slots=True)
class Stamp(CallFault):
    """Adds a letter to what the answer says."""

    letter: str = "a"
    kind: ClassVar[str] = "stamp"
    family: ClassVar[str] = "data"

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        change.patch.append(lambda body: replace(body, problem=body.problem + self.letter))
        return True


@dataclass(frozen=True, slots=True)
class Refusal(CallFault):
    """Aborts with a code."""

    code: int = 503
    kind: ClassVar[str] = "refusal"
    family: ClassVar[str] = "status"

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        return change.refuse(Body(Result.FAILURE, self.code))


def engine(*specs: FaultSpec, day: int = 0, state: bool = False, seed: int = 1) -> tuple[FaultEngine, list[str]]:
    """Return an engine on its own and the list to which it writes its cause ids."""
    causes: list[str] = []
    noise = Noise(seed, "test")
    made = FaultEngine(specs, noise, day * DAY, day, lambda *_: state, lambda _, cause, __: causes.append(cause))
    return made, causes


def hit(
    made: FaultEngine, n: int = 0, agent: str = AGENT, vendor: str = "aster", verb: str = "quote", t_s: float = 0.0
) -> bool:
    """Return whether the n-th call of its key is struck."""
    where = Where(agent, vendor, verb, "o", 0, "", t_s, deadline_s=10.0, latency_s=1.0)
    return made.on_call(where, "\x1f".join((agent, vendor, verb, str(n)))) is not None


def slow(when: When | None = None, rate: Rate | None = None, **more: object) -> FaultSpec:
    """Return a fault of one kind with rules of its own."""
    return FaultSpec("slow", Latency(), when=when or When(), rate=rate or Rate(), **more)  # type: ignore[arg-type]


# -- match and schedule --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("match", "hits"),
    [
        (Match(), {"aster quote 0", "aster quote 1", "birch quote 0", "birch tender 0"}),
        (Match(vendors=("birch",)), {"birch quote 0", "birch tender 0"}),
        (Match(endpoints=("quote",)), {"aster quote 0", "aster quote 1", "birch quote 0"}),
        (Match(agents=(OTHER,)), {"aster quote 1"}),
        (Match(("birch",), ("tender",), (OTHER,)), set()),
    ],
)
def test_a_match_narrows(match: Match, hits: set[str]) -> None:
    made, _ = engine(FaultSpec("f", Latency(), match))
    calls = [("aster", "quote", 0), ("aster", "quote", 1), ("birch", "quote", 0), ("birch", "tender", 0)]
    struck = {f"{v} {e} {a}" for v, e, a in calls if hit(made, agent=f"booker_{a}", vendor=v, verb=e)}
    assert struck == hits


@pytest.mark.parametrize(
    ("when", "open_at", "shut_at"),
    [
        (When(windows=((9 * HOUR, 10 * HOUR), (25 * HOUR, 26 * HOUR))), [9.0, 9.99, 25.0], [8.99, 10.0, 24.9, 33.5]),
        (When(days=(3,)), [24.0, 47.9], [0.0, 23.9, 48.0]),
        (When(cron=Cron((0, 30), (9, 23), 15 * MINUTE)), [9.0, 9.24, 9.5, 23.7, 33.1], [8.9, 9.25, 10.0, 24.0]),
        (When(cron=Cron((50,), (23,), 20 * MINUTE)), [0.1, 23.9, 24.1], [0.2, 23.8]),
        (When(windows=((0.0, 12 * HOUR),), days=(2,)), [11.0], [13.0, 25.0]),
    ],
)  # fmt: skip
def test_schedules_open_and_close(when: When, open_at: list[float], shut_at: list[float]) -> None:
    made, _ = engine(slow(when), day=2)
    for expected, hours in ((True, open_at), (False, shut_at)):
        for hour in hours:
            assert hit(made, t_s=2 * DAY + hour * HOUR) is expected, hour


def test_call_counts_are_per_agent_and_inclusive() -> None:
    made, _ = engine(slow(When(calls=(2, 3))))
    assert [hit(made, n) for n in range(5)] == [False, True, True, False, False]
    assert [hit(made, n, agent=OTHER) for n in range(3)] == [False, True, True]


def test_a_state_is_asked() -> None:
    assert not hit(engine(slow(When(state="tendered")))[0])
    assert hit(engine(slow(When(state="tendered")), state=True)[0])
    spec = FaultSpec("f", Refusal(), Match(endpoints=("quote",)), When(state="tendered"))
    desk = Desk(calm(faults=(spec,)))
    assert desk.ask(Verb.QUOTE, "aster").code == 200
    assert desk.ask(Verb.TENDER, "aster").code == 202
    assert desk.ask(Verb.QUOTE, "birch").code == 503, "the order is tendered now"


def test_a_shared_upstream_is_one_timeline_for_all_vendors() -> None:
    grid = [n * MINUTE for n in range(24 * 60)]

    def bad(shared: bool, vendor: str) -> list[bool]:
        made, _ = engine(slow(When(spells=SpellRule(HOUR, Exponential(HOUR), shared))))
        return [hit(made, n, vendor=vendor, t_s=t) for n, t in enumerate(grid)]

    assert bad(True, "aster") == bad(True, "birch")
    assert bad(False, "aster") != bad(False, "birch")


# -- rates ---------------------------------------------------------------------------------------------------------


def inside(count: int, n: int, p: float) -> bool:
    """Return whether a count lies in the exact 99.9% interval of a binomial."""
    low, high = stats.binom.interval(0.999, n, p)
    return bool(low <= count <= high)


@pytest.mark.parametrize("p", [0.0, 0.01, 0.3, 0.9, 1.0])
def test_a_probability_is_met(p: float) -> None:
    made, causes = engine(slow(rate=Rate(p)))
    count = sum(hit(made, n) for n in range(N))
    assert inside(count, N, p)
    assert made.counts() == {"slow": (N, count)} and len(causes) == count


def test_strikes_of_many_faults_are_independent_of_each_other() -> None:
    p, count = 0.3, 40
    made, causes = engine(*(replace(slow(rate=Rate(p)), id=f"f{i}") for i in range(count)))
    struck = np.zeros((N, count))
    for n in range(N):
        before = len(causes)
        hit(made, n)
        for cause in causes[before:]:
            struck[n, int(cause.split(":f")[1].partition("#")[0])] = 1.0
    both = struck.T @ struck / N
    pairs = both[np.triu_indices(count, 1)]
    # 780 pairs: each within 4.5 of its own standard deviations, and their spread is that of independent draws.
    sd = math.sqrt(p * p * (1.0 - p * p) / N)
    assert np.abs(pairs - p * p).max() < 4.5 * sd
    at_once = struck.sum(axis=1)
    assert abs(at_once.var() / (count * p * (1.0 - p)) - 1.0) < 4.5 * math.sqrt(2.0 / N)


def test_another_fault_in_the_list_moves_nobodys_strikes() -> None:
    alone, first = engine(slow(rate=Rate(0.3)))
    among, second = engine(replace(slow(rate=Rate(0.9)), id="before"), slow(rate=Rate(0.3)))
    for n in range(N):
        hit(alone, n)
        hit(among, n)
    assert alone.counts()["slow"] == among.counts()["slow"] and len(second) > len(first)
    assert 0 < len(first) < N


def test_nth_and_every_count_the_events_of_each_agent() -> None:
    made, _ = engine(slow(rate=Rate(nth=3)))
    assert [n for n in range(9) if hit(made, n)] == [2]
    assert [n for n in range(9) if hit(made, n, agent=OTHER)] == [2]
    made, _ = engine(slow(rate=Rate(every=3)))
    assert [n for n in range(9) if hit(made, n)] == [2, 5, 8]


def test_every_counts_only_what_the_schedule_admits() -> None:
    made, _ = engine(slow(When(windows=((HOUR, 2 * HOUR),)), Rate(every=2)))
    assert [hit(made, n, t_s=t) for n, t in enumerate((0.0, HOUR, 0.0, HOUR, HOUR, HOUR))] == [False] * 3 + [
        True,
        False,
        True,
    ]


@pytest.mark.parametrize("hour", [0, 6, 30])
def test_a_two_state_rate_has_its_share_at_any_time(hour: int) -> None:
    """Vendors have timelines of their own, so one call at each is an independent draw of the process."""
    made, _ = engine(slow(rate=Rate(markov=Markov(0.1, 0.6, 0.25, 2 * HOUR))))
    count = sum(hit(made, vendor=f"v{n}", t_s=hour * HOUR) for n in range(N // 2))
    assert inside(count, N // 2, 0.25 * 0.6 + 0.75 * 0.1)


def runs(states: list[bool], step_s: float) -> tuple[list[float], list[float]]:
    """Return the lengths of the bad and of the good runs that lie inside, without the two at the edges."""
    lengths: list[tuple[bool, int]] = []
    for state in states:
        if lengths and lengths[-1][0] is state:
            lengths[-1] = (state, lengths[-1][1] + 1)
        else:
            lengths.append((state, 1))
    inner = lengths[1:-1]
    return [n * step_s for bad, n in inner if bad], [n * step_s for bad, n in inner if not bad]


def mean_inside(values: list[float], mean: float, slack: float) -> bool:
    """Return whether exponential values have a mean within its exact 99.9% interval, widened by the grid's step."""
    low, high = stats.gamma.interval(0.999, len(values), scale=mean / len(values))
    return bool(low - slack <= sum(values) / len(values) <= high + slack)


def test_spells_have_their_lengths_and_gaps() -> None:
    step = 30.0
    made, _ = engine(slow(When(spells=SpellRule(20 * MINUTE, Constant(10 * MINUTE)))))
    bad: list[float] = []
    good: list[float] = []
    for v in range(6):
        states = [hit(made, n, vendor=f"v{v}", t_s=n * step) for n in range(int(DAY / step))]
        a, b = runs(states, step)
        bad, good = bad + a, good + b
    whole = [length for length in bad if length <= 10 * MINUTE + step]
    assert min(bad) >= 10 * MINUTE - step and len(whole) > 0.95 * len(bad), "two in a row look like one long spell"
    assert mean_inside(good, 20 * MINUTE, step)


def test_spells_hold_their_share_from_midnight_on() -> None:
    made, _ = engine(slow(When(spells=SpellRule(3 * HOUR, Exponential(HOUR)))))
    for hour in (0, 12):
        assert inside(sum(hit(made, vendor=f"v{n}", t_s=hour * HOUR) for n in range(N // 2)), N // 2, 0.25)


def test_two_state_spells_have_their_mean_length() -> None:
    step = 30.0
    made, _ = engine(slow(rate=Rate(markov=Markov(0.0, 1.0, 0.25, 20 * MINUTE))))
    bad: list[float] = []
    for v in range(6):
        bad += runs([hit(made, n, vendor=f"v{v}", t_s=n * step) for n in range(int(DAY / step))], step)[0]
    assert mean_inside(bad, 20 * MINUTE, step)


# -- bounds --------------------------------------------------------------------------------------------------------


def test_max_strikes_is_the_most() -> None:
    made, _ = engine(slow(max_strikes=2))
    assert [hit(made, n, agent=f"booker_{n % 2}") for n in range(4)] == [True, True, False, False]


def test_max_active_counts_until_the_struck_call_has_ended() -> None:
    made, _ = engine(slow(max_active=1))
    ends = 1.0 + 5.0
    assert [hit(made, n, t_s=t) for n, t in enumerate((0.0, 0.1, ends - 0.1, ends + 0.1))] == [True, False, False, True]


# -- several faults on one call ------------------------------------------------------------------------------------


def stack(*faults: CallFault) -> tuple[FaultSpec, ...]:
    return tuple(FaultSpec(f"f{i}", fault) for i, fault in enumerate(faults))


@pytest.mark.parametrize("turned", [False, True])
def test_the_order_is_abort_delay_replace_patch(turned: bool) -> None:
    faults = stack(Refusal(), Latency(Constant(3.0)), Swap(), Stamp("x"))
    desk = Desk(calm(faults=faults[::-1] if turned else faults))
    start = desk.now
    body = desk.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, 6)
    assert (body.code, body.problem) == (299, "x"), "replaced, then patched"
    assert desk.now - start == pytest.approx(3.05), "an abort answers at once, then the delay holds it back"
    assert desk.world.docks["plant"].appointments == [], "an aborted call never reached the books"


def test_delays_multiply_before_they_add_and_patches_follow_the_list() -> None:
    desk = Desk(calm(faults=stack(Latency(Constant(2.0)), SlowBody(3.0), Stamp("a"), Stamp("b"))))
    start = desk.now
    assert desk.ask(Verb.SCHEDULE, "plant", Stop.PICKUP, 6).problem == "ab"
    assert desk.now - start == pytest.approx(1.0 * 3.0 + 2.0)


def test_the_first_abort_wins_and_the_second_is_no_strike() -> None:
    desk = Desk(calm(faults=stack(Refusal(503), Refusal(429), Reset())))
    assert desk.ask(Verb.QUOTE, "aster").code == 503
    assert desk.world.faults is not None
    assert [struck for _, struck in desk.world.faults.counts().values()] == [1, 0, 0]


def test_an_injected_abort_comes_before_the_endpoints_own_refusal() -> None:
    start = Desk(calm()).now
    outages = {"aster": ((start, start + HOUR),)}
    assert Desk(calm(faults=stack(Refusal(429))), outages=outages).ask(Verb.QUOTE, "aster").code == 429
    desk = Desk(calm(faults=stack(Latency(Constant(3.0)))), outages=outages)
    assert desk.ask(Verb.QUOTE, "aster").code == 503
    assert desk.world.trace.rows[-1].cause_id.startswith("outage:"), "the delay is not why it failed"


# -- labels --------------------------------------------------------------------------------------------------------


def test_every_strike_is_one_row_with_a_cause_and_a_request_of_its_own() -> None:
    specs = (*stack(Latency(Constant(1.0)), SlowBody(2.0)), FaultSpec("half", Truncation(), rate=Rate(0.5)))
    session = play(calm(faults=specs), at_random(3))
    faults = session.world.faults
    assert faults is not None
    rows = [row for row in session.trace_rows if row.event == "fault"]
    causes = [row.cause_id for row in rows]
    assert len(set(causes)) == len(causes) == sum(struck for _, struck in faults.counts().values()) > 10
    calls = {row.request_id: row for row in session.trace_rows if row.event == "call"}
    for row in rows:
        kind, vendor, verb, name = row.cause_id.split(":")
        call = calls[row.request_id]
        assert (vendor, verb) == (row.vendor, row.verb) == (call.vendor, call.verb)
        assert (row.agent, row.order, row.slot, row.t_s) == (call.agent, call.order, call.slot, call.t_s)
        assert {"f0": "latency", "f1": "slow_body", "half": "truncation"}[name.partition("#")[0]] == kind


def test_answers_name_no_cause() -> None:
    desk = Desk(calm(faults=stack(SlowBody(2.0), Latency(Constant(1.0)), Truncation(), Reset("effect"))))
    for verb, vendor, stop in ((Verb.QUOTE, "aster", Stop.NONE), (Verb.AVAILABILITY, "plant", Stop.PICKUP)):
        desk.ask(verb, vendor, stop)
    causes = {row.cause_id for row in desk.world.trace.rows if row.cause_id}
    told = repr(desk.answers)
    assert len(causes) == 8
    assert not any(
        word in told for cause in causes for word in (cause, cause.rpartition(":")[2], "slow_body", "latency:")
    )


# -- common random numbers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [Rate(0.5), Rate(nth=2), Rate(every=2), Rate(markov=Markov(0.4, 0.6, 0.5, MINUTE))])
def test_an_extra_call_of_another_agent_moves_nobodys_strikes(rate: Rate) -> None:
    def ends(extra: int) -> list[tuple[str, int, float]]:
        desk = Desk(calm(faults=(slow(rate=rate),)))
        for _ in range(extra):
            desk.send(Verb.AVAILABILITY, "plant", Stop.PICKUP)
        for verb in (Verb.AVAILABILITY, Verb.APPOINTMENT_DETAILS):
            for _ in range(5):
                desk.send(verb, "plant", Stop.PICKUP, agent=OTHER, order=f"{OTHER}-order_0")
        desk.world.settle()
        return [(a.call.verb.value, a.body.code, a.t_s - a.sent_s) for a in desk.answers if a.agent == OTHER]

    assert ends(0) == ends(1) == ends(3)
    assert len({latency for _, _, latency in ends(0)}) == 2, "some were struck, some were not"


def test_a_fault_that_never_strikes_changes_no_byte() -> None:
    idle = FaultSpec("idle", Reset(), rate=Rate(0.0))
    for seed in range(3):
        without, with_it = (play(calm(faults=faults), at_random(seed), seed) for faults in ((), (idle,)))
        assert without.trace_rows == with_it.trace_rows
        assert without.outcomes() == with_it.outcomes()
