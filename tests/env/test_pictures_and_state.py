"""What every adapter shows beside observations: by id from the registries, its state, and pictures in both modes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest

from masim.env.make import aec_env, parallel_env
from masim.env.ready import ready_env
from masim.env.register import env_id, register_all, scenario_ids
from masim.policy.company import gym_env
from masim.scenario.load import load_scenario
from masim.testing.choose import legal_chooser
from masim.testing.drive import drive, play

ADAPTERS = {"parallel": parallel_env, "aec": aec_env, "gymnasium": gym_env, "ready": ready_env}
SHORT = load_scenario("freight/short-chain-v0")
LINE = re.compile(r"d\d \d\d:\d\d:\d\d booker_\d +\w+ ")


def played(env: Any, steps: int) -> Any:
    driver = drive(env)
    for _ in play(driver, 1, steps, legal_chooser(driver, np.random.default_rng(1))):
        pass
    return env


@pytest.mark.parametrize("name", scenario_ids())
def test_every_scenario_is_made_by_its_id(name: str) -> None:
    register_all()
    for kind in ("parallel", "aec"):
        env = pettingzoo.make(kind, env_id(name), memory=True)
        assert env.metadata["name"] == name.replace("/", ".")
        env.reset(seed=0)
        assert env.state_space.contains(env.state())
    single = gymnasium.make(env_id(name), agent=env.possible_agents[0])
    assert single.reset(seed=0)[0] in single.observation_space


@pytest.mark.parametrize("adapter", ["parallel", "aec", "ready"])
def test_the_state_is_everybodys_and_a_copy(adapter: str) -> None:
    env = ADAPTERS[adapter](SHORT)
    env.reset(seed=1)
    first = env.state()
    kept = first.copy()
    played(env, 9)
    assert env.state_space.contains(first) and env.state_space.contains(env.state())
    assert np.array_equal(first, kept) and not np.array_equal(first, env.state())
    assert env.state().size == 4 * env.stage.layout.status.stop


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_ansi_is_a_timeline_that_grows(adapter: str) -> None:
    env = ADAPTERS[adapter](SHORT, render_mode="ansi")
    env.reset(seed=1)
    begin = env.render()
    text = played(env, 60).render()
    lines = text.splitlines()
    assert text.startswith(begin) and len(lines) > 5
    assert all(LINE.match(line) for line in lines)
    assert [line[:11] for line in lines] == sorted(line[:11] for line in lines)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_rgb_array_is_a_chart_with_a_bar_per_call(adapter: str) -> None:
    env = ADAPTERS[adapter](SHORT, render_mode="rgb_array")
    env.reset(seed=1)
    empty = env.render()
    full = played(env, 60).render()
    assert empty.shape == full.shape == (320, 960, 3) and full.dtype == np.uint8
    colours = [len(np.unique(picture.reshape(-1, 3), axis=0)) for picture in (empty, full)]
    assert colours[1] > colours[0] and not np.shares_memory(full, env.render())


@pytest.mark.parametrize("make", ADAPTERS.values())
def test_without_a_mode_there_is_no_picture(make: Callable[..., Any]) -> None:
    env = make(SHORT)
    env.reset(seed=0)
    assert env.render() is None and env.metadata["render_modes"] == ["ansi", "rgb_array"]
