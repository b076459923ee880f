"""Recordings: every decision is a row, nothing is lost, nothing is changed, and Minari reads what was written.

1. Around every adapter: the episode is the same with and without the recorder, which passes the conformance checks.
2. Rewards, parts, times and actions are those that were given, whichever adapter they went through.
3. Episodes that are left, agents that are removed, outcomes that land late.
4. The file is whole or absent; what is no recording is refused.
5. Minari: one dataset per agent, written and read back.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from masim.env.make import aec_env, parallel_env
from masim.env.ready import ready_env
from masim.errors import ConfigError, MissingExtraError, RunError
from masim.policy.company import gym_env, scripted
from masim.rng import Noise
from masim.rollout.recording import export_minari, read_recording, record
from masim.rollout.recording import minari as exporter
from masim.scenario.load import load_scenario
from masim.testing import check_env, episode_digests
from masim.testing.choose import legal_chooser
from masim.testing.drive import drive, play

SHORT, FIRST = (load_scenario(name) for name in ("freight/short-chain-v0", "freight/first-steps-v0"))
ADAPTERS = {"parallel": parallel_env, "aec": aec_env, "gymnasium": gym_env, "ready": ready_env}
OPTIONS = (
    ("parallel", {}),
    ("parallel", {"death": "remove"}),
    ("parallel", {"sync": "all", "mask_in": "info"}),
    ("parallel", {"sync": "tick", "tick_s": 600, "settle": "cut"}),
    ("aec", {}),
    ("aec", {"settle": "cut", "mask_in": "info"}),
    ("ready", {"memory": True}),
    ("gymnasium", {"mask_in": "both"}),
)


def played(env: Any, path: Path, seeds: tuple[int, ...] = (3,)) -> tuple[pd.DataFrame, dict[str, float]]:
    """Play episodes at random under a recorder; return the rows, and what each agent was paid in all."""
    paid: dict[str, float] = {}
    with record(env, path) as recorded:
        driver = drive(recorded)
        for seed in seeds:
            choose = legal_chooser(driver, np.random.default_rng(seed))
            for seen, _ in play(driver, seed, 5_000, choose):
                for one in seen:
                    paid[one.agent] = paid.get(one.agent, 0.0) + one.reward
    return read_recording(path).table.to_pandas(), paid


@pytest.mark.parametrize("kind", ADAPTERS)
def test_the_recorder_changes_nothing(kind: str, tmp_path: Path) -> None:
    plain = episode_digests(ADAPTERS[kind](FIRST, trace=True), seed=5)
    assert episode_digests(record(ADAPTERS[kind](FIRST, trace=True), tmp_path / "a.parquet"), seed=5) == plain
    files = (tmp_path / f"{n}.parquet" for n in range(99))
    check_env(lambda: record(ADAPTERS[kind](SHORT), next(files)), steps=12)


@pytest.mark.parametrize(("kind", "options"), OPTIONS, ids=str)
def test_every_decision_is_a_row_and_no_reward_is_lost(kind: str, options: dict[str, Any], tmp_path: Path) -> None:
    env = ADAPTERS[kind](SHORT, **options)
    rows, paid = played(env, tmp_path / "a.parquet")
    for agent, own in rows.groupby("agent"):
        assert len(own) == env.stage.session.decisions(agent)
        assert list(own["decision"]) == list(range(len(own)))
        # A removed agent's outcome is paid when it is gone: the driver, like most trainers, no longer hears of it.
        if options.get("death") != "remove":
            assert own["reward"].sum() == pytest.approx(paid[agent])
        assert own["reward"].to_numpy() == pytest.approx((own["r_out"] + own["r_pen"]).to_numpy())
        assert own["next_t_s"].to_numpy()[:-1] == pytest.approx(own["t_s"].to_numpy()[1:])
        assert own["dt_s"].to_numpy()[1:] == pytest.approx(np.diff(own["t_s"]))
        assert not own["terminated"].to_numpy()[:-1].any() and not own["truncated"].to_numpy()[:-1].any()
        assert own["terminated"].iloc[-1] != own["truncated"].iloc[-1]
        assert own["final_observation"].notna().sum() == 1 and own["final_observation"].iloc[-1] is not None
    assert rows["ready"].all() and not rows["aborted"].any() and not rows["illegal"].any()
    assert set(rows["seed"]) == {3} and set(rows["agent"]) <= set(SHORT.spec.agents)


def test_discounted_rewards_chain_to_the_same_return_in_every_adapter(tmp_path: Path) -> None:
    found: list[dict[str, float]] = []
    for kind in ("parallel", "aec", "ready"):
        rows = scripted_rows(lambda scenario, kind=kind: ADAPTERS[kind](scenario, gamma_per_hour=0.9), tmp_path / kind)
        assert rows["discount"].between(0.01, 1.0).all() and rows["discount"].min() < 0.9
        found.append({str(agent): chained(own) for agent, own in rows.groupby("agent")})
    assert found[0] == pytest.approx(found[1])
    assert found[0] == pytest.approx(found[2])
    assert len(set(found[0].values())) > 1
    leaving = scripted_rows(lambda scenario: parallel_env(scenario, gamma_per_hour=0.9, death="remove"), tmp_path / "x")
    assert {str(a): chained(own) for a, own in leaving.groupby("agent")} == pytest.approx(found[0])


def chained(rows: pd.DataFrame) -> float:
    value = 0.0
    for reward, discount in zip(rows["reward"][::-1], rows["discount"][::-1], strict=True):
        value = reward + discount * value
    return value


@pytest.mark.parametrize("kind", ADAPTERS)
def test_several_calls_of_one_decision_are_one_row(kind: str, tmp_path: Path) -> None:
    several = load_scenario("freight/first-steps-v0", {"turn": "{calls: 3, mode: first}"})
    env = ADAPTERS[kind](several)
    rows, paid = played(env, tmp_path / "a.parquet")
    assert {len(action) for action in rows["action"]} == {3}
    assert {len(mask) for mask in rows["mask"]} == {3 * len(env.stage.table)}
    assert rows["reward"].sum() == pytest.approx(paid["booker_0"]) and not rows["illegal"].any()
    assert read_recording(tmp_path / "a.parquet").agents["booker_0"]["actions"] == [len(env.stage.table)] * 3


def scripted_rows(make: Callable[..., Any], path: Path) -> pd.DataFrame:
    """Record one episode of the scripted workflow."""
    company, noise = scripted(), Noise(0, "test")
    with record(make(SHORT), path) as env:
        env.reset(seed=2)
        while not env.stage.over:
            decisions = env.stage.open_decisions()
            choices = dict(zip((d.agent for d in decisions), company(decisions, noise), strict=True))
            env.step(choices[env.agent_selection] if hasattr(env, "agent_selection") else choices)
    return read_recording(path).table.to_pandas().sort_values(["agent", "decision"], ignore_index=True)


def test_all_adapters_write_the_same_rows(tmp_path: Path) -> None:
    tables = [scripted_rows(ADAPTERS[kind], tmp_path / kind) for kind in ("parallel", "aec", "ready")]
    columns = ["agent", "decision", "t_s", "dt_s", "next_t_s", "action", "r_out", "terminated"]
    for other in tables[1:]:
        pd.testing.assert_frame_equal(tables[0][columns], other[columns])
        assert other["r_pen"].to_numpy() == pytest.approx(tables[0]["r_pen"].to_numpy())
        for column in ("observation", "mask", "final_observation"):
            pairs = zip(tables[0][column], other[column], strict=True)
            assert all(a is b or np.array_equal(a, b) for a, b in pairs)
    assert tables[0]["r_out"].sum() >= 1.0


def test_a_removed_agent_is_paid_on_its_last_decision(tmp_path: Path) -> None:
    stay = scripted_rows(parallel_env, tmp_path / "stay")
    leave = scripted_rows(lambda scenario: parallel_env(scenario, death="remove"), tmp_path / "leave")
    assert leave.groupby("agent")["reward"].sum().to_dict() == pytest.approx(
        stay.groupby("agent")["reward"].sum().to_dict()
    )
    last = leave.groupby("agent").tail(1)
    assert last["terminated"].all() and (last["r_out"] == 1.0).any()
    assert leave["next_t_s"].max() > last["next_t_s"].min()


@pytest.mark.parametrize("kind", ADAPTERS)
def test_an_episode_that_is_left_is_marked(kind: str, tmp_path: Path) -> None:
    with record(ADAPTERS[kind](FIRST), tmp_path / "a.parquet") as env:
        driver = drive(env)
        for seed in (1, 2):
            for number, _ in enumerate(play(driver, seed, 9, legal_chooser(driver, np.random.default_rng(seed)))):
                assert number < 10
    rows = read_recording(tmp_path / "a.parquet").table.to_pandas()
    assert [list(own["aborted"]) for _, own in rows.groupby("episode")] == [[False] * 8 + [True]] * 2
    assert list(rows["truncated"]) == list(rows["aborted"]) and not rows["terminated"].any()
    assert rows["final_observation"].isna().all()


def test_the_file_is_whole_or_absent(tmp_path: Path) -> None:
    path = tmp_path / "below" / "a.parquet"
    env = record(gym_env(FIRST), path)
    env.reset(seed=0)
    env.step(1)
    assert not path.exists()
    env.close()
    env.close()
    assert len(read_recording(path)) == 1 and [file.name for file in path.parent.iterdir()] == ["a.parquet"]
    with pytest.raises(RunError, match="there is a file of this name"):
        record(gym_env(FIRST), path)
    with pytest.raises(ZeroDivisionError), record(gym_env(FIRST), tmp_path / "b.parquet") as env:
        env.reset(seed=0)
        for _ in range(300):
            env.step(1)
        raise ZeroDivisionError
    assert [file.name for file in tmp_path.iterdir()] == ["below"]


def test_an_interrupt_keeps_what_was_played(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), record(gym_env(FIRST), tmp_path / "a.parquet") as env:
        env.reset(seed=0)
        env.step(1)
        raise KeyboardInterrupt
    assert len(read_recording(tmp_path / "a.parquet")) == 1


def test_nothing_played_is_an_empty_recording(tmp_path: Path) -> None:
    with record(parallel_env(FIRST), tmp_path / "a.parquet"):
        pass
    assert len(read_recording(tmp_path / "a.parquet")) == 0


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="there is no such recording"):
        read_recording(tmp_path / "a.parquet")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    with pytest.raises(RunError, match=r"not a recording of this version; got no recording"):
        read_recording(tmp_path / "other.parquet")
    newer = pa.table({"a": [1]}).replace_schema_metadata({b"masim.recording": b'{"schema": 2}'})
    pq.write_table(newer, tmp_path / "newer.parquet")
    with pytest.raises(RunError, match=r"got schema 2; allowed: schema 1"):
        read_recording(tmp_path / "newer.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "other.parquet").read_bytes()[:-20])
    with pytest.raises(RunError, match="the recording is damaged"):
        read_recording(tmp_path / "cut.parquet")


def test_what_has_no_columns_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not an environment; got str"):
        record("freight/first-steps-v0", tmp_path / "a.parquet")
    with pytest.raises(ConfigError, match=r"this action space cannot be recorded; got Box.*; allowed: Discrete, M"):
        record(gymnasium.make("Pendulum-v1"), tmp_path / "a.parquet")
    with pytest.raises(ConfigError, match=r"this observation space cannot be recorded; got Discrete"):
        record(gymnasium.make("FrozenLake-v1"), tmp_path / "a.parquet")


def test_any_environment_of_boxes_and_choices_can_be_recorded(tmp_path: Path) -> None:
    with record(gymnasium.make("CartPole-v1"), tmp_path / "a.parquet") as env:
        env.reset(seed=1)
        while not (answer := env.step(0))[2]:
            assert not answer[3]
    recording = read_recording(tmp_path / "a.parquet")
    rows = recording.table.to_pandas()
    assert recording.env == "CartPole-v1" and recording.parts == ()
    assert rows["mask"].isna().all() and rows["t_s"].isna().all() and rows["reward"].sum() == len(rows)


# -- Minari -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    if importlib.util.find_spec("minari") is None:
        pytest.skip("Minari is not installed: pip install 'masim[minari]'")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    yield tmp_path / "minari"


@pytest.mark.parametrize("options", [{}, {"mask_in": "info"}], ids=str)
def test_minari_reads_what_was_recorded(options: dict[str, Any], datasets: Path, tmp_path: Path) -> None:
    import minari

    env = parallel_env(SHORT, **options)
    rows, _ = played(env, tmp_path / "a.parquet", seeds=(3, 4))
    names = export_minari(tmp_path / "a.parquet", author="somebody")
    assert names == [f"masim/freight/short-chain-v0/booker_{n}-v0" for n in range(4)]
    for name, agent in zip(names, SHORT.spec.agents, strict=True):
        dataset = minari.load_dataset(name)
        assert dataset.observation_space == env.observation_space(agent)
        assert dataset.action_space == env.action_space(agent)
        assert dataset.storage.metadata["author"] == {"somebody"}
        own = rows[rows["agent"] == agent]
        assert dataset.total_steps == len(own)
        for episode, (_, expected) in zip(dataset.iterate_episodes(), own.groupby("episode"), strict=True):
            compare(episode, expected, masked=not options)


def compare(episode: Any, expected: pd.DataFrame, masked: bool) -> None:
    features = episode.observations["observation"] if masked else episode.observations
    assert np.array_equal(features[:-1], np.stack(expected["observation"]))
    assert np.array_equal(features[-1], expected["final_observation"].iloc[-1])
    if masked:
        assert np.array_equal(episode.observations["action_mask"][:-1], np.stack(expected["mask"]))
    assert np.array_equal(episode.actions, expected["action"])
    assert np.array_equal(episode.rewards, expected["reward"])
    assert np.array_equal(episode.terminations, expected["terminated"]) and episode.terminations[-1]
    assert np.array_equal(episode.infos["t_s"], [*expected["t_s"], expected["next_t_s"].iloc[-1]])
    assert np.array_equal(episode.infos["r_pen"][1:], expected["r_pen"])


def test_minari_takes_decisions_of_several_calls(datasets: Path, tmp_path: Path) -> None:
    import minari

    env = gym_env(load_scenario("freight/first-steps-v0", {"turn": "{calls: 2}"}), gamma_per_hour=0.8)
    rows, _ = played(env, tmp_path / "a.parquet")
    (name,) = export_minari(tmp_path / "a.parquet")
    dataset = minari.load_dataset(name)
    assert (dataset.action_space, dataset.observation_space) == (env.action_space, env.observation_space)
    (episode,) = dataset.iterate_episodes()
    assert np.array_equal(episode.actions, np.stack(rows["action"]))
    assert np.array_equal(episode.infos["discount"][1:], rows["discount"])


def test_a_dataset_is_never_overwritten(datasets: Path, tmp_path: Path) -> None:
    played(gym_env(FIRST), tmp_path / "a.parquet")
    assert export_minari(tmp_path / "a.parquet") == ["masim/freight/first-steps-v0/booker_0-v0"]
    with pytest.raises(RunError, match="there is a Minari dataset of this name"):
        export_minari(tmp_path / "a.parquet")
    assert export_minari(tmp_path / "a.parquet", version=1) == ["masim/freight/first-steps-v0/booker_0-v1"]
    assert export_minari(tmp_path / "a.parquet", "mine") == ["mine/booker_0-v0"]
    with record(gym_env(FIRST), tmp_path / "empty.parquet"):
        pass
    with pytest.raises(RunError, match="holds no decisions"):
        export_minari(tmp_path / "empty.parquet")


def test_without_minari_the_error_names_the_pip_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "minari", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'masim\[minari\]'"):
        exporter.export_minari(tmp_path / "a.parquet")
