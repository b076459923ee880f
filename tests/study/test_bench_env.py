"""``masim bench env`` compares like with like.

1. Native adapters and PettingZoo's converter play the very same episode from the same actions.
2. A decision is counted only where an agent was asked, and a run that takes other turns than the recorded ones raises.
3. The lockstep peer plays by the same rules: with a tick at which nobody has to wait, its day is the event-driven one.
4. Bad options are one-line errors.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from masim.cli.main import run
from masim.env.aec import BookingAECEnv
from masim.env.parallel import BookingParallelEnv
from masim.errors import RunError
from masim.study.bench.env import WHOLE_DAY, adapters, world_of
from masim.study.bench.episodes import play_aec, play_parallel, play_session, record, wait_30_s, workflow
from masim.study.bench.peers import load_peer
from masim.units import MINUTE

WORLD = world_of(3)
PEER = load_peer("peer_env")


def test_adapters_and_the_converter_play_the_same_day() -> None:
    env = BookingParallelEnv(WORLD)
    day = record(env, workflow, 0, WHOLE_DAY)
    first = play_parallel(env, day, 0, WHOLE_DAY)
    session = play_session(WORLD.spec, day, 0)
    aec = play_aec(BookingAECEnv(WORLD), day, 0, WHOLE_DAY, look=True)
    raw = play_aec(BookingAECEnv(WORLD), day, 0, WHOLE_DAY, look=False)
    converted = play_aec(PEER.converted(WORLD), day, 0, WHOLE_DAY, look=True, dummies=True)
    for other in (session, aec, raw, converted):
        assert (other.decisions, other.events, other.end_s) == (first.decisions, first.events, first.end_s)
    assert aec.rewards == pytest.approx(first.rewards) == pytest.approx(converted.rewards)
    assert first.steps <= first.decisions < converted.steps


def test_a_part_of_the_day_ends_where_it_was_recorded() -> None:
    env = BookingParallelEnv(WORLD)
    part = record(env, workflow, 0, 5 * MINUTE)
    played = play_parallel(env, part, 0, 5 * MINUTE)
    assert 0 < played.decisions < sum(map(len, record(env, workflow, 0, WHOLE_DAY).values()))
    assert played.end_s >= 5 * MINUTE


def test_other_turns_than_the_recorded_ones_are_an_error() -> None:
    env = BookingParallelEnv(WORLD)
    day = record(env, wait_30_s, 0, 5 * MINUTE)
    with pytest.raises(RunError, match="where 30 were recorded"):
        play_parallel(env, day, 0, 2 * MINUTE)


def test_the_lockstep_peer_plays_by_the_same_rules() -> None:
    """Agents that only wait for 30 s are ready exactly at ticks of 30 s."""
    env, peer = BookingParallelEnv(WORLD), PEER.Lockstep(WORLD, tick_s=30.0)
    day = record(env, wait_30_s, 0, WHOLE_DAY)
    assert record(peer, wait_30_s, 0, WHOLE_DAY) == day
    ours, theirs = (play_parallel(who, day, 0, WHOLE_DAY) for who in (env, peer))
    assert (theirs.decisions, theirs.events, theirs.steps) == (ours.decisions, ours.events, ours.steps)
    assert theirs.rewards == pytest.approx(ours.rewards)


def test_the_lockstep_peer_books_with_the_workflow() -> None:
    peer = PEER.Lockstep(WORLD)
    ticks = record(peer, workflow, 0, 5 * MINUTE)
    played = play_parallel(peer, ticks, 0, 5 * MINUTE)
    assert played.decisions == sum(map(len, ticks.values())) > 10
    assert played.steps >= 5 * MINUTE
    assert peer.session.world.gateway.calls > 10


def test_every_adapter_is_in_the_table() -> None:
    plays = adapters(WORLD, 0)
    assert {name: plays[name]().decisions > 0 for name in plays} == dict.fromkeys(plays, True)


def test_days_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "env", "--days", "3"]) == 2
    err = capsys.readouterr().err
    assert "--days" in err and "leave it out" in err and len(err.splitlines()) == 1


@pytest.mark.slow
def test_the_whole_benchmark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "env", "--quick", "--json", "--out", str(tmp_path / "bench.json")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "bench.json").read_text("utf-8"))
    assert {row["peer"] for row in printed["peers"]} == {"lockstep", "parallel_to_aec"}
