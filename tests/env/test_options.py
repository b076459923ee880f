"""Options: what is not built is not accepted, contradictions are refused by name, names are right.

1. Unknown names and values, per adapter. 2. Contradictions. 3. Registration. 4. Pictures. 5. Text.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest

import masim.env
from masim.env.make import aec_env, parallel_env
from masim.env.register import env_id, register_all, scenario_ids
from masim.env.text.version import TEXT_VERSION
from masim.errors import ConfigError
from masim.policy.company import gym_env
from masim.sim.spec import Verb

FIRST, SHORT = "freight/first-steps-v0", "freight/short-chain-v0"
MAKERS = (parallel_env, aec_env, gym_env)


@pytest.mark.parametrize(
    ("make", "options", "text"),
    [
        (parallel_env, {"synch": "all"}, "did you mean 'sync'"),
        (
            parallel_env,
            {"sync": "turn"},
            "sync: impossible environment option; got 'turn'; allowed: 'event', 'all'",
        ),
        (parallel_env, {"death": "never"}, "'absorb', 'remove'"),
        (parallel_env, {"mask_in": "observation"}, "'obs', 'info', 'both'"),
        (parallel_env, {"info_level": 1}, "'numeric', 'full'"),
        (parallel_env, {"memory": "yes"}, "memory: impossible"),
        (parallel_env, {"settle": "wait"}, "'drain', 'cut'"),
        (parallel_env, {"render_mode": "human"}, "'ansi', 'rgb_array'"),
        (aec_env, {"sync": "all"}, "no such environment option"),
        (aec_env, {"death": "remove"}, "no such environment option"),
        (gym_env, {"death": "remove"}, "no such environment option"),
    ],
)
def test_what_is_not_built_is_not_accepted(make: Callable[..., Any], options: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        make(FIRST, **options)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"campaign": True, "settle": "cut"}, "campaign and settle='cut' contradict each other"),
        ({"render_mode": "ansi", "trace": False}, "render_mode and trace=False contradict each other"),
    ],
)
def test_contradictions_are_refused_by_name(make: Callable[..., Any], options: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(text)):
        make(FIRST, **options)


def test_ids_are_registered_once_everywhere() -> None:
    register_all()
    register_all()
    for name in scenario_ids():
        assert env_id(name) in gymnasium.registry
        assert pettingzoo.spec("parallel", env_id(name)).version == 0
    assert env_id(FIRST) == "masim/freight.first-steps-v0"
    assert isinstance(gymnasium.make(env_id(FIRST)).unwrapped, gymnasium.Env)
    assert pettingzoo.make("parallel", env_id(FIRST), sync="all").possible_agents == ["booker_0"]
    assert pettingzoo.make("aec", env_id(SHORT), memory=True).possible_agents[3] == "booker_3"


@pytest.mark.parametrize(
    "order", ["masim, gymnasium, pettingzoo", "gymnasium, pettingzoo, masim", "pettingzoo, masim, gymnasium"]
)
def test_ids_appear_whichever_is_imported_first(order: str) -> None:
    code = f"""
import {order}
print(type(gymnasium.make("masim/freight.first-steps-v0").unwrapped).__name__)
print(type(pettingzoo.make("parallel", "masim/freight.first-steps-v0")).__name__)
print(gymnasium.envs.registration.__spec__.loader.__class__.__name__)
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["BookingEnv", "BookingParallelEnv", "SourceFileLoader"], done.stderr


def test_importing_masim_loads_neither_library() -> None:
    code = "import masim, sys; print('gymnasium' in sys.modules, 'pettingzoo' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_the_package_offers_its_constructors() -> None:
    for name in masim.env.__all__:
        assert callable(getattr(masim.env, name))
    with pytest.raises(AttributeError, match="no attribute 'tick_env'"):
        _ = masim.env.tick_env


@pytest.mark.parametrize("scenario", scenario_ids())
def test_agent_names_suit_every_trainer(scenario: str) -> None:
    assert all(re.fullmatch(r"[a-z]+_[0-9]+", agent) for agent in parallel_env(scenario).possible_agents)


def test_ansi_is_a_timeline_of_calls() -> None:
    env = gym_env(SHORT, render_mode="ansi")
    env.reset(seed=0)
    for _ in range(4):
        env.step(8)
    lines = str(env.render()).splitlines()
    assert len(lines) > 3
    assert all(re.match(r"d0 \d\d:\d\d:\d\d booker_\d ", line) for line in lines)
    times = [line[:11] for line in lines]
    assert times == sorted(times)


def test_rgb_array_is_a_gantt_chart() -> None:
    env = parallel_env(SHORT, render_mode="rgb_array")
    env.reset(seed=0)
    empty = env.render()
    quote = env.stage.table.verb.index(Verb.QUOTE)
    env.step(dict.fromkeys(env.agents, quote))
    full = env.render()
    assert isinstance(empty, np.ndarray) and isinstance(full, np.ndarray)
    assert empty.shape == full.shape == (320, 960, 3) and full.dtype == np.uint8
    assert not np.array_equal(empty, full)
    assert parallel_env(SHORT).render() is None


def test_text_is_apart_from_the_numbers() -> None:
    env = parallel_env(SHORT, info_level="full")
    _, infos = env.reset(seed=0)
    assert infos["booker_0"]["text"] == env.observe_text("booker_0")
    assert env.observe_text("booker_0").startswith(f"[masim text {TEXT_VERSION}] booker_0, decision 0 of at most ")
    assert not any(isinstance(v, str) for v in parallel_env(SHORT).reset(seed=0)[1]["booker_0"].values())
