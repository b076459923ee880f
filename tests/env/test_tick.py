"""``sync="tick"``: everybody steps by the same simulated time.

1. Times are a grid from the start of the day; the last tick ends with it, shorter where it must be.
2. Agents are asked at the first end of a tick after they became ready, and never in between.
3. Totals are those of the decisions that were made; a snapshot remembers ticks in which nobody decided.
4. A length without ticks and ticks without a length are refused by both names.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test

from masim.env.core import Session, SessionOptions
from masim.env.make import aec_env, parallel_env
from masim.env.snapshot import load, restore, take
from masim.env.tick import TickSession
from masim.errors import ConfigError
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance
from masim.testing.determinism import digest

SHORT = "freight/short-chain-v0"
DAY_S = 12 * 3600


def test_steps_are_a_grid_that_ends_with_the_booking_day() -> None:
    env = parallel_env(SHORT, sync="tick", tick_s=5000)
    _, infos = env.reset(seed=0)
    start = infos["booker_0"]["t_s"]
    times = []
    while env.agents:
        infos = env.step({})[4]
        if env.agents:
            times.append(infos["booker_0"]["t_s"] - start)
    assert times == [5000.0 * n for n in range(1, 9)] and 8 * 5000 < DAY_S < 9 * 5000


def test_agents_are_asked_at_the_first_end_of_a_tick_after_their_answer() -> None:
    env = parallel_env(SHORT, sync="tick", tick_s=0.5, trace=True)
    env.reset(seed=1)
    rng = np.random.default_rng(0)
    start = env.stage.session.now
    asked: dict[str, list[float]] = {a: [] for a in env.agents}
    idle = steps = 0
    while env.agents and steps < 120:
        open_now = env.stage.open_decisions()
        actions = {}
        for d in open_now:
            calls = [int(i) for i in d.legal if i > 3 and d.table.actions[int(i)].verb != "declare"]
            actions[d.agent] = int(rng.choice(calls))
            asked[d.agent].append(d.t_s - start)
        idle += not open_now
        steps += 1
        env.step(actions)
    answers = [row for row in env.trace_rows if row.event in ("answer", "timeout")]
    assert answers and idle
    for agent, times in asked.items():
        ends = [row.t_s - start for row in answers if row.agent == agent]
        expected = [0.0, *(0.5 * np.ceil(t / 0.5) for t in ends)]
        assert times == expected[: len(times)]
        assert all(t % 0.5 == 0.0 for t in times)


def test_a_snapshot_remembers_ticks_without_a_decision() -> None:
    env = parallel_env(SHORT, sync="tick", tick_s=600)
    env.reset(seed=2)
    for n in range(7):
        env.step(dict.fromkeys(env.agents, 0) if n % 3 else dict.fromkeys(env.agents, 8))
    assert not env.stage.open_decisions()
    snapshot = env.snapshot()
    assert (snapshot.sync, snapshot.tick_s, snapshot.ticks) == ("tick", 600, 8)
    here = {a: env.stage.observation(a) for a in env.agents}
    rest = [digest(env.step(dict.fromkeys(env.agents, 1))) for _ in range(20)]
    back, _ = env.restore(snapshot)
    assert digest(back) == digest(here)
    assert [digest(env.step(dict.fromkeys(env.agents, 1))) for _ in range(20)] == rest


def test_a_session_on_a_grid_comes_back_from_its_file(tmp_path: Path) -> None:
    scenario = load_scenario(SHORT)
    session = TickSession(scenario.spec, Instance(5, 0), options=SessionOptions(tick_s=0.25))
    for agent in [d.agent for d in session.advance()]:
        session.submit(agent, 8)
    while len(session.advance()) == 0:
        pass
    session.submit(session.open_decisions()[0].agent, 9)
    take(scenario, session).save(tmp_path / "s.json")
    back = restore(scenario, load(tmp_path / "s.json"))
    assert isinstance(back, TickSession) and back.ticks == session.ticks > 2
    assert [d.agent for d in back.open_decisions()] == [d.agent for d in session.open_decisions()]


def test_conformance_and_the_end_of_all_agents() -> None:
    parallel_api_test(parallel_env(SHORT, sync="tick", tick_s=900), num_cycles=200)
    spec = load_scenario("freight/first-steps-v0").spec
    session = TickSession(spec, Instance(1, 0), options=SessionOptions(tick_s=1e9))
    assert len(session.advance()) == len(spec.agents)
    session.submit("booker_0", 0)
    assert [d.t_s for d in session.advance()] == [session.plan.day0_s + spec.booking_end_s]
    session.submit("booker_0", 0)
    assert session.advance() == () and session.over


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"tick_s": 60}, "tick_s and sync='event' contradict each other"),
        ({"tick_s": 60, "sync": "all"}, "tick_s and sync='all' contradict each other"),
        ({"sync": "tick"}, "sync='tick' without tick_s"),
        ({"sync": "tick", "tick_s": 0}, "tick_s: impossible environment option; got 0"),
        ({"sync": "tick", "tick_s": float("nan")}, "tick_s: impossible"),
        ({"sync": "tick", "tick_s": True}, "tick_s: impossible"),
        ({"sync": "tick", "tick_s": "60 s"}, "tick_s: impossible"),
    ],
)
def test_a_tick_and_its_length_belong_together(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        parallel_env(SHORT, **options)


def test_other_sessions_and_adapters_have_no_ticks() -> None:
    with pytest.raises(ConfigError, match="tick_s and sync='event' contradict"):
        Session(load_scenario(SHORT).spec, Instance(1, 0), options=SessionOptions(tick_s=60.0))
    with pytest.raises(ConfigError, match="no such environment option"):
        aec_env(SHORT, tick_s=60)
