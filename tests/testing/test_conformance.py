"""``check_env`` passes on our environments and finds every planted bug.

1. All adapters, all bundled scenarios, the options that change what is given.
2. One planted bug per check, each found with a text that names it, also when it starts after the first steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from testing import planted

from masim.env.make import aec_env, parallel_env
from masim.errors import ConfigError
from masim.policy.company import gym_env
from masim.testing import ConformanceError, check_env

SCENARIOS = ("freight/first-steps-v0", "freight/short-chain-v0", "freight/twelve-apis-v0")
OPTIONS = (
    {},
    {"sync": "all", "mask_in": "both", "memory": True},
    {"death": "remove", "settle": "cut"},
    {"campaign": True, "mask_in": "info"},
)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("options", OPTIONS[:1])
def test_parallel_on_every_scenario(scenario: str, options: dict[str, object]) -> None:
    check_env(lambda: parallel_env(scenario, **options))


@pytest.mark.parametrize("options", OPTIONS[1:], ids=str)
def test_parallel_with_options(options: dict[str, object]) -> None:
    check_env(lambda: parallel_env(SCENARIOS[1], **options))


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("make", [aec_env, gym_env])
def test_aec_and_gymnasium(make: Callable[..., Any], scenario: str) -> None:
    check_env(lambda: make(scenario))


FOUND = {
    planted.wrong_dtype: "dtype float64",
    planted.wrong_shape: "shape",
    planted.nan: "NaN",
    planted.out_of_space: "out of bounds",
    planted.missing_key: "the space has",
    planted.missing_agent: "observations are for",
    planted.both_flags: "terminated and truncated at once",
    planted.flag_of_numpy: "not a bool",
    planted.infinite_reward: "not a finite number",
    planted.reward_of_nowhere: "its parts sum to",
    planted.text_in_info: "not a number",
    planted.nan_in_info: "is not finite",
    planted.new_info_key: "info keys of booker_0 change",
    planted.mask_allows_nothing: "forbids WAIT",
    planted.mask_of_bool: "not int8",
    planted.mask_of_busy_agent: "allows more than WAIT",
    planted.illegal_mask: "was reported illegal",
    planted.reused_array: "was given before",
    planted.shared_array: "was given before",
    planted.memory_of_the_last_episode: "after a reset in the middle",
    planted.unseeded: "after a reset in the middle",
}


@pytest.mark.parametrize("change", FOUND, ids=lambda change: change.__name__)
def test_a_planted_bug_is_found(change: Callable[..., None]) -> None:
    with pytest.raises(ConformanceError) as caught:
        check_env(lambda: planted.Planted(change))
    assert FOUND[change] in str(caught.value)


def test_busy_agents_that_act_are_found() -> None:
    with pytest.raises(ConformanceError, match="sent by a busy agent changes the episode"):
        check_env(planted.BusyActs)


def test_an_endless_episode_is_found() -> None:
    with pytest.raises(ConformanceError, match="does not end within 60 steps"):
        check_env(planted.Endless, limit=60)


def test_a_step_after_the_end_that_answers_is_found() -> None:
    with pytest.raises(ConformanceError, match="after the end does not give five empty dicts"):
        check_env(planted.BreaksAfterTheEnd)


def test_a_wrong_aec_reward_is_found() -> None:
    with pytest.raises(ConformanceError, match="its parts sum to"):
        check_env(planted.WrongAecReward)


def test_something_that_is_no_environment_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="not an environment; got str"):
        check_env(lambda: "freight/first-steps-v0")
