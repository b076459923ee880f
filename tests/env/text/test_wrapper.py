"""Text in, text out, through all adapters.

1. Over whole episodes every text lies in its space and the calls of a policy pay what its numbers pay.
2. A call that stands for nothing is a wait, is counted as illegal, and the next text says why; once.
3. Infos stay numbers; going back to a moment, wrapped environments and foreign ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from env.text.play import BUNDLED, FIRST, SHORT, mixed

from masim.env.decision import Decision
from masim.env.make import aec_env, parallel_env
from masim.env.ready import ready_env
from masim.env.stage import Stage
from masim.env.text.toolbox import toolbox_of
from masim.env.text.wrapper import TextWrapper
from masim.errors import ConfigError
from masim.policy.company import gym_env

Say = Callable[[Stage, Decision], Any]
SCENARIOS = [SHORT, "stress/all-faults-v0", "regress/b16-no-zone-v0"]


def as_call(stage: Stage, decision: Decision) -> str:
    return json.dumps(toolbox_of(stage.table, decision.agent).call(mixed(decision)))


def as_number(stage: Stage, decision: Decision) -> int:
    return mixed(decision)


def play_parallel(env: Any, say: Say) -> tuple[dict[str, float], list[Any]]:
    """Return each agent's rewards and all (space, observation) pairs."""
    observations, infos = env.reset(seed=3)
    total, seen = dict.fromkeys(env.possible_agents, 0.0), []
    while env.agents:
        seen += [(env.observation_space(a), o) for a, o in observations.items()]
        stage = env.unwrapped.stage
        observations, rewards, _, _, infos = env.step({d.agent: say(stage, d) for d in stage.open_decisions()})
        assert not any(info["illegal"] for info in infos.values())
        assert not any(isinstance(value, str) for info in infos.values() for value in info.values())
        for agent, reward in rewards.items():
            total[agent] += reward
    return total, seen + [(env.observation_space(a), o) for a, o in observations.items()]


def play_aec(env: Any, say: Say) -> tuple[dict[str, float], list[Any]]:
    env.reset(seed=3)
    total, seen = dict.fromkeys(env.possible_agents, 0.0), []
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        seen.append((env.observation_space(agent), observation))
        total[agent] += reward
        stage = env.unwrapped.stage
        asked = {d.agent: d for d in stage.open_decisions()}
        env.step(None if terminated or truncated else say(stage, asked[agent]))
    return total, seen


def play_single(env: Any, say: Say) -> tuple[dict[str, float], list[Any]]:
    observation, _ = env.reset(seed=3)
    total, seen, over = 0.0, [(env.observation_space, observation)], False
    while not over:
        stage = env.unwrapped.stage
        observation, reward, terminated, truncated, _ = env.step(say(stage, stage.open_decisions()[0]))
        seen.append((env.observation_space, observation))
        total, over = total + reward, terminated or truncated
    return {env.unwrapped.agent: total}, seen


def play_ready(env: Any, say: Say) -> tuple[dict[str, float], list[Any]]:
    observations, _ = env.reset(seed=3)
    total, seen = dict.fromkeys(env.possible_agents, 0.0), []
    while env.agents:
        seen += [(env.observation_space(a), o) for a, o in observations.items()]
        asked = {d.agent: d for d in env.stage.open_decisions()}
        observations, rewards, *_ = env.step({a: say(env.stage, asked[a]) for a in observations})
        for agent, reward in rewards.items():
            total[agent] += reward
    return total, seen


PLAYS: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (parallel_env, play_parallel),
    (aec_env, play_aec),
    (ready_env, play_ready),
    (gym_env, play_single),
]


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize(("make", "play"), PLAYS, ids=["parallel", "aec", "ready", "gymnasium"])
def test_words_play_as_numbers_do_and_lie_in_their_space(scenario: str, make: Any, play: Any) -> None:
    by_number, _ = play(make(scenario), as_number)
    by_words, seen = play(TextWrapper(make(scenario)), as_call)
    assert by_words == by_number
    assert len(seen) > 5
    for space, text in seen:
        assert isinstance(text, str) and space.contains(text), set(text) - set(space.characters)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", BUNDLED)
def test_every_scenario_is_played_in_words(scenario: str) -> None:
    _, seen = play_parallel(TextWrapper(parallel_env(scenario)), as_call)
    for space, text in seen:
        assert space.contains(text), set(text) - set(space.characters)


def test_a_call_that_stands_for_nothing_is_told_of_once() -> None:
    env = TextWrapper(parallel_env(SHORT))
    before, _ = env.reset(seed=0)
    observations, _, _, _, infos = env.step({"booker_0": "book me a truck", "booker_1": {"name": "wait"}})
    assert [infos[agent]["illegal"] for agent in env.agents] == [1, 1, 0, 0]
    error = observations["booker_0"].split("[error]\n")[1].splitlines()[0]
    assert error.startswith("your last call did nothing and counted as a wait. not_json: this is not JSON")
    assert "not_a_call" in observations["booker_1"]
    assert "[error]" not in before["booker_0"] + observations["booker_2"]
    while not infos["booker_0"]["ready"]:
        observations, _, _, _, infos = env.step({})
    assert "not_json" in observations["booker_0"], "it is still there when the agent is asked again"
    snapshot = env.snapshot()
    assert "[error]" not in env.step({})[0]["booker_0"], "saying nothing is a wait like any other"
    env.restore(snapshot)
    wait = '{"name": "wait", "arguments": {"duration": "30 s"}}'
    observations, _, _, _, infos = env.step({"booker_0": wait})
    assert infos["booker_0"]["illegal"] == 0 and "[error]" not in observations["booker_0"]


def test_a_busy_agent_can_only_go_on_waiting() -> None:
    env = TextWrapper(parallel_env(SHORT))
    env.reset(seed=0)
    quote = '{"name": "quote", "arguments": {"order": 0, "leg": 0, "carrier": "aster"}}'
    observations, _, _, _, infos = env.step(dict.fromkeys(env.agents, quote))
    busy = next(agent for agent in env.agents if not infos[agent]["ready"])
    assert f"{busy}, you are busy" in observations[busy]
    assert "[under way]\nquote(order 0, leg 0, carrier aster) since d0 06:00:00 local" in observations[busy]
    for say, illegal in ((quote, 1), ('{"name": "wait", "arguments": {"duration": "until_message"}}', 0)):
        observations, _, _, _, infos = env.step({busy: say} if not infos[busy]["ready"] else {})
        assert infos[busy]["illegal"] == illegal
        assert ("busy: you are not asked now" in observations[busy]) == bool(illegal)


def test_errors_in_the_other_adapters() -> None:
    single = TextWrapper(gym_env(SHORT))
    single.reset(seed=0)
    text, _, _, _, info = single.step('{"name": "qoute", "arguments": {}}')
    assert info["illegal"] == 1 and 'unknown_tool: there is no tool "qoute"' in text
    assert "[error]" not in single.reset(seed=0)[0]
    several = TextWrapper(aec_env(FIRST))
    several.reset(seed=0)
    several.step("half {")
    assert several.last()[4]["illegal"] == 1
    assert "not_json" in several.observe("booker_0")


def test_errors_of_ready_agents() -> None:
    env = TextWrapper(ready_env(SHORT))
    observations, _ = env.reset(seed=0)
    assert list(observations) == env.possible_agents
    observations, _, terminated, _, infos = env.step({"booker_1": '{"name": "wait"}'})
    while "booker_1" not in observations:
        observations, _, terminated, _, infos = env.step({})
    assert infos["booker_1"]["illegal"] == 1 and "not_a_call" in observations["booker_1"]
    assert not terminated["__all__"]
    with pytest.raises(ConfigError, match="no such agent"):
        env.step({"boker_1": "?"})


def test_an_illegal_number_is_told_of_too() -> None:
    env = parallel_env(FIRST)
    env.reset(seed=0)
    env.step({"booker_0": 10_000})
    assert "illegal_number: the number of the action was not legal" in env.observe_text("booker_0")


def test_after_the_end_and_on_a_wrapped_environment() -> None:
    env = TextWrapper(gymnasium.make("masim/freight.first-steps-v0"))
    text, _ = env.reset(seed=0)
    assert text.startswith("[masim text ") and env.tools()[0]["function"]["name"] == "wait"
    over = False
    while not over:
        text, _, terminated, truncated, _ = env.step('{"name": "wait", "arguments": {"duration": "until_message"}}')
        over = terminated or truncated
    assert "the episode is over" in text
    both = TextWrapper(parallel_env(FIRST))
    both.reset(seed=0)
    while both.agents:
        both.step({})
    assert both.step({"booker_0": "?"}) == ({}, {}, {}, {}, {})


def test_going_back_to_a_moment() -> None:
    env = TextWrapper(parallel_env(SHORT))
    env.reset(seed=2)
    for _ in range(6):
        observations = env.step({d.agent: as_call(env.stage, d) for d in env.stage.open_decisions()})[0]
    snapshot = env.snapshot()
    env.step({})
    assert env.restore(snapshot)[0] == observations


def test_going_back_in_the_other_adapters() -> None:
    several, single = TextWrapper(aec_env(SHORT)), TextWrapper(gym_env(SHORT))
    for env in (several, single):
        env.reset(seed=2)
        snapshot = env.snapshot()
        before = env.unwrapped.observe_text("booker_0")
        env.step("half {")
        restored = env.restore(snapshot)
        assert (several.observe("booker_0") if restored is None else restored[0]) == before


def test_what_has_no_text_is_refused() -> None:
    with pytest.raises(ConfigError, match="this environment has no text; got"):
        TextWrapper(gymnasium.make("CartPole-v1"))  # type: ignore[arg-type]
    env = parallel_env(SHORT)
    for use in (env.observe_text, env.tools):
        with pytest.raises(ConfigError, match="did you mean 'booker_1'"):
            use("boker_1")
    with pytest.raises(ConfigError, match=r"call reset\(\) first"):
        env.observe_text("booker_0")
    with pytest.raises(ConfigError, match="shows one agent only"):
        gym_env(SHORT).observe_text("booker_1")


def test_the_default_info_has_no_text() -> None:
    env = TextWrapper(parallel_env(FIRST, mask_in="info"))
    _, infos = env.reset(seed=0)
    assert all(isinstance(v, int | float | np.ndarray) for v in infos["booker_0"].values())
