"""The conformance tests that PettingZoo and Gymnasium ship, on every bundled scenario."""

from __future__ import annotations

import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

from masim.env.make import aec_env, parallel_env
from masim.policy.company import gym_env

SCENARIOS = ("freight/first-steps-v0", "freight/short-chain-v0", "freight/twelve-apis-v0", "freight/relay-v0")
CYCLES = 30
OPTIONS = ({}, {"sync": "all"}, {"death": "remove"}, {"mask_in": "both", "memory": True})
DICT_WARNING = "ignore:Observation (space for each agent|is not a NumPy array)"
"""The AEC test expects a Box; a Dict with an action mask is what PettingZoo's own board games have."""

LATE_WARNING = "ignore:Agent was given (reward|info) but was dead last turn"
"""An outcome that lands after its agent has left is paid all the same."""


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_parallel_api(scenario: str, options: dict[str, object]) -> None:
    parallel_api_test(parallel_env(scenario, **options), num_cycles=CYCLES)


@pytest.mark.filterwarnings(LATE_WARNING)
def test_parallel_api_until_the_end_with_agents_that_leave() -> None:
    parallel_api_test(parallel_env(SCENARIOS[1], death="remove"), num_cycles=1000)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_parallel_seed(scenario: str) -> None:
    parallel_seed_test(lambda: parallel_env(scenario), num_cycles=CYCLES)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.filterwarnings(DICT_WARNING)
def test_aec_api(scenario: str) -> None:
    api_test(aec_env(scenario), num_cycles=CYCLES)


def test_aec_api_without_a_warning_when_the_mask_is_in_the_info() -> None:
    api_test(aec_env(SCENARIOS[1], mask_in="info"), num_cycles=CYCLES)


@pytest.mark.parametrize("settle", ["drain", "cut"])
@pytest.mark.filterwarnings(DICT_WARNING)
def test_aec_api_until_the_end(settle: str) -> None:
    api_test(aec_env(SCENARIOS[1], settle=settle), num_cycles=1000)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_aec_seed(scenario: str) -> None:
    seed_test(lambda: aec_env(scenario), num_cycles=CYCLES)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_gymnasium(scenario: str, mode: str) -> None:
    check_env(gym_env(scenario, render_mode=mode), skip_render_check=True)
