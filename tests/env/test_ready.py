"""The adapter of ready agents, snapshots of the adapters that pay with the next turn, and the clients of agents.

1. Shown are exactly the agents that have a decision; everybody at the end, with ``__all__``.
2. A reward waits for its agent's next observation; totals are those of the other adapters.
3. Actions out of turn are noted, strangers refused, steps after the end tolerated.
4. Restored, it goes on alike, and so does AEC, with the rewards that were still to be shown.
5. ``clients``: settings reach the wire; what cannot be is refused by name.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from masim.env.aec import BookingAECEnv
from masim.env.make import aec_env, parallel_env
from masim.env.ready import EVERYBODY, BookingReadyEnv, ready_env
from masim.errors import ConfigError
from masim.policy.company import gym_env
from masim.testing.determinism import digest
from masim.tools.retry import RetrySettings
from masim.tools.settings import ClientSettings

SHORT = "freight/short-chain-v0"


def random_actions(observations: dict[str, Any], rng: np.random.Generator) -> dict[str, int]:
    return {a: int(rng.choice(np.flatnonzero(o["action_mask"]))) for a, o in observations.items()}


def run_ready(env: BookingReadyEnv, seed: int) -> dict[str, float]:
    observations, _ = env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    total = dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        observations, rewards, terminated, truncated, infos = env.step(random_actions(observations, rng))
        assert set(observations) == set(rewards) == set(infos)
        assert set(terminated) == set(truncated) == {*observations, EVERYBODY}
        for agent, reward in rewards.items():
            total[agent] += reward
            assert reward == pytest.approx(infos[agent]["r_out"] + infos[agent]["r_pen"])
    return total


def run_aec(env: BookingAECEnv, seed: int) -> dict[str, float]:
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    total = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        total[agent] += reward
        env.step(None if terminated or truncated else random_actions({agent: observation}, rng)[agent])
    return total


@pytest.mark.parametrize("settle", ["drain", "cut"])
def test_only_ready_agents_appear_and_everybody_at_the_end(settle: str) -> None:
    env = ready_env(SHORT, settle=settle)
    observations, infos = env.reset(seed=0)
    assert set(observations) == set(env.possible_agents)
    rng = np.random.default_rng(0)
    sizes = []
    while True:
        step = env.step(random_actions(observations, rng))
        observations, _, terminated, truncated, infos = step
        if terminated[EVERYBODY] or truncated[EVERYBODY]:
            break
        assert all(info["ready"] for info in infos.values())
        assert set(observations) == {d.agent for d in env.stage.open_decisions()}
        assert not any(terminated.values()) and not any(truncated.values())
        sizes.append(len(observations))
    assert set(observations) == set(env.possible_agents) and env.agents == []
    assert (terminated[EVERYBODY], truncated[EVERYBODY]) == (settle == "drain", settle == "cut")
    assert np.mean(sizes) < 2
    again = env.step({})
    assert again[:2] == ({}, {}) and again[2] == {EVERYBODY: settle == "drain"} and again[4] == {}


@pytest.mark.parametrize("seed", range(3))
def test_totals_are_those_of_the_aec_adapter(seed: int) -> None:
    assert run_ready(ready_env(SHORT), seed) == pytest.approx(run_aec(aec_env(SHORT), seed))


def test_out_of_turn_strangers_and_no_action_at_all() -> None:
    env = ready_env(SHORT)
    env.reset(seed=0)
    shown, *_ = env.step({"booker_1": 1, "booker_0": 2, "booker_2": 1})
    assert set(shown) == {"booker_1", "booker_2"}
    _, _, _, _, infos = env.step({"booker_1": 1, "booker_2": 0, "booker_0": 7})
    assert set(infos) == {"booker_1"}
    while "booker_0" not in infos:
        infos = env.step({})[4]
    assert infos["booker_0"]["illegal"] == 1 and infos["booker_0"]["t_s"] == 6 * 3600 + 300
    with pytest.raises(ConfigError, match="did you mean 'booker_1'"):
        env.step({"boker_1": 0})
    with pytest.raises(ConfigError, match="no such environment option"):
        ready_env(SHORT, death="remove")


@pytest.mark.parametrize("steps", [0, 3, 40])
def test_a_restored_episode_of_ready_agents_goes_on_alike(steps: int) -> None:
    env = ready_env(SHORT)
    observations, _ = env.reset(seed=3)
    rng = np.random.default_rng(1)
    for _ in range(steps):
        observations = env.step(random_actions(observations, rng))[0]
    snapshot = env.snapshot()
    ends = []
    for back in (False, True):
        shown = env.restore(snapshot)[0] if back else observations
        rng = np.random.default_rng(2)
        found = [digest(shown)]
        while env.agents:
            result = env.step(random_actions(shown, rng))
            shown = result[0]
            found.append(digest(result))
        ends.append(found)
    assert ends[0] == ends[1] and len(ends[0]) > 3


@pytest.mark.parametrize("steps", [0, 2, 41])
def test_a_restored_aec_episode_goes_on_alike(steps: int) -> None:
    env = aec_env(SHORT)
    env.reset(seed=3)
    rng = np.random.default_rng(1)
    for _ in range(steps):
        env.step(random_actions({"": env.last()[0]}, rng)[""])
    snapshot = env.snapshot()
    ends = []
    for back in (False, True):
        if back:
            env.restore(snapshot)
        rng = np.random.default_rng(2)
        found = []
        for agent in env.agent_iter():
            seen = env.last()
            found.append(digest((agent, seen, env.agents, dict(env._cumulative_rewards))))
            over = seen[2] or seen[3]
            env.step(None if over else random_actions({"": seen[0]}, rng)[""])
        ends.append(found)
    assert ends[0] == ends[1] and len(ends[0]) > 30


def attempts(env: Any) -> int:
    env.reset(seed=4)
    rng = np.random.default_rng(0)
    for _ in range(30):
        if env.agents:
            actions = {d.agent: int(rng.choice(d.legal[6:])) for d in env.stage.open_decisions()}
            env.step(actions)
    return sum(row.event == "retry" for row in env.trace_rows)


def test_clients_settings_reach_the_wire() -> None:
    hostile = "freight/twelve-apis-v0"
    robust = ClientSettings(deadline_s=0.2, retry=RetrySettings("fixed", attempts=4))
    assert attempts(parallel_env(hostile, trace=True)) == 0
    assert attempts(parallel_env(hostile, trace=True, clients=robust)) > 0
    one = parallel_env(hostile, trace=True, clients={"booker_1": {"deadline_s": 0.2, "retry": {"policy": "fixed"}}})
    assert attempts(one) > 0
    assert {row.agent for row in one.trace_rows if row.event == "retry"} == {"booker_1"}
    info = one.stage.info("booker_1")
    snapshot = one.snapshot()
    one.restore(snapshot)
    assert one.stage.info("booker_1")["t_s"] == info["t_s"]


def test_an_agents_own_deadline_is_its_clients() -> None:
    env = parallel_env(SHORT, clients={"booker_0": ClientSettings(deadline_s=7.0)})
    env.reset(seed=0)
    quote = next(i for i in range(len(env.stage.table)) if env.stage.table.verb[i] == "quote")
    for agent in env.agents:
        env.stage.act(agent, quote)
    waits = {a: env.stage.info(a)["deadline_s"] - env.stage.info(a)["busy_since_s"] for a in env.agents}
    assert waits == {"booker_0": 7.0, **dict.fromkeys(env.agents[1:], env.stage.spec.client_deadline_s)}


@pytest.mark.parametrize("make", [parallel_env, aec_env, gym_env, ready_env])
@pytest.mark.parametrize(
    ("clients", "text"),
    [
        ({"boker_1": {}}, "did you mean 'booker_1'"),
        ({"booker_1": {"deadlines_s": 3.0}}, r"clients\['booker_1'\].*deadlines_s"),
        ({"booker_1": {"deadline_s": -3.0}}, "client.deadline_s"),
        ({"booker_1": 3.0}, r"clients\['booker_1'\]"),
        ("robust", "ClientSettings, or one per agent"),
    ],
)
def test_clients_that_cannot_be_are_refused(make: Any, clients: Any, text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        make(SHORT, clients=clients)
