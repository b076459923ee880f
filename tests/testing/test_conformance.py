"""The checks pass on our environments and find every planted bug.

1. Every bundled scenario through every adapter, the beginning of an episode each; at night whole episodes.
2. The options that change what is given, whole episodes.
3. One planted bug per hole, in every adapter that could have it: found by the check made for it, with agent and step.
4. How the checks are called: instances, kinds, checks left out, things that are no environment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from testing import planted
from testing.planted import Plant, PlantedAec, PlantedGym, PlantedParallel, PlantedReady, scenario

import masim.testing
from masim.env.make import aec_env, parallel_env
from masim.env.ready import ready_env
from masim.env.register import scenario_ids
from masim.errors import ConfigError
from masim.policy.company import gym_env, scripted
from masim.scenario.load import load_scenario
from masim.testing import (
    CHECKS,
    ConformanceError,
    Problem,
    check_aec,
    check_env,
    check_gymnasium,
    check_parallel,
    check_ready,
)

STEPS = 10
ADAPTERS = {"parallel": parallel_env, "aec": aec_env, "gymnasium": gym_env, "ready": ready_env}
OPTIONS = (
    {},
    {"sync": "tick", "tick_s": 1800},
    {"sync": "all", "mask_in": "both", "memory": True},
    {"death": "remove", "settle": "cut"},
    {"campaign": True, "mask_in": "info"},
)


@pytest.mark.parametrize("name", scenario_ids())
def test_the_beginning_of_every_scenario(name: str) -> None:
    for make in ADAPTERS.values():
        check_env(lambda make=make: make(scenario(name)), seed=1, steps=STEPS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("name", scenario_ids())
def test_whole_episodes_of_every_scenario(name: str, adapter: str, seed: int) -> None:
    check_env(lambda: ADAPTERS[adapter](scenario(name)), seed)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_parallel_with_options(options: dict[str, object]) -> None:
    check_parallel(lambda: parallel_env(scenario(), **options))


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("turn", ["{calls: 3}", "{calls: 2, mode: first}", "{calls: 2, mode: async}"])
def test_several_calls_in_one_decision(turn: str, adapter: str) -> None:
    several = load_scenario("freight/short-chain-v0", {"turn": turn})
    check_env(lambda: ADAPTERS[adapter](several, gamma_per_hour=0.9, memory=True), steps=3 * STEPS)


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_pictures(adapter: str, mode: str) -> None:
    check_env(lambda: ADAPTERS[adapter](scenario("freight/first-steps-v0"), render_mode=mode), steps=4)


# -- planted bugs -----------------------------------------------------------------------------------------------------

FOUND = {
    planted.wrong_dtype: ("spaces", "observation.observation", "dtype float64"),
    planted.wrong_shape: ("spaces", "observation.observation", "shape"),
    planted.nan: ("spaces", "observation.observation", "NaN"),
    planted.out_of_space: ("spaces", "observation.observation", "out of bounds"),
    planted.missing_key: ("spaces", "observation", "the space has"),
    planted.list_for_array: ("spaces", "observation.observation", "a list, not an array"),
    planted.both_flags: ("flags", "flags", "terminated and truncated at once"),
    planted.flag_of_numpy: ("flags", "terminated", "not a bool"),
    planted.infinite_reward: ("rewards", "reward", "inf, not a finite number"),
    planted.nan_reward: ("rewards", "reward", "nan, not a finite number"),
    planted.reward_of_nowhere: ("reward_parts", "reward", "its parts sum to"),
    planted.text_in_info: ("infos", "info['reason']", "is a str, not a number"),
    planted.nan_in_info: ("infos", "info['dt_s']", "is not finite"),
    planted.new_info_key: ("info_keys", "info", "keys change: ['extra']"),
    planted.lost_info_key: ("info_keys", "info", "keys change: ['day']"),
    planted.mask_allows_nothing: ("masks", "action_mask", "forbids WAIT"),
    planted.mask_of_bool: ("masks", "action_mask", "not int8"),
    planted.reused_array: ("fresh", "arrays", "was given before, to booker_0"),
}


KINDS = {PlantedParallel: 12, PlantedAec: 50, PlantedGym: 12, PlantedReady: 80}
"""With as many steps as it takes until ``booker_0`` was asked several times."""


def problems_of(env: Any, **how: Any) -> tuple[Problem, ...]:
    with pytest.raises(ConformanceError) as caught:
        check_env(env, **how)
    return caught.value.problems


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("change", FOUND, ids=lambda change: change.__name__)
def test_what_one_agent_is_given(change: planted.Change, kind: type[Any]) -> None:
    plant = Plant(change)
    check, part, text = FOUND[change]
    found = [p for p in problems_of(lambda: kind(plant), steps=KINDS[kind]) if p.check == check]
    # An array that was kept is told where it comes a second time.
    first = plant.first if change is not planted.reused_array else found[0].step
    assert [(p.agent, p.step, p.part) for p in found] == [("booker_0", first, part)]
    assert first > 3 and text in str(found[0])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    ("change", "text"),
    [
        (planted.unseeded, "the same seed plays differently"),
        (planted.memory_of_the_last_episode, "after a reset in the middle of an episode"),
    ],
)
def test_what_is_not_of_the_seed(change: planted.Change, text: str, kind: type[Any]) -> None:
    (found,) = problems_of(lambda: kind(Plant(change, everybody=True)), steps=KINDS[kind], skip=["busy"])
    assert found.check == "seed" and found.step > 3 and found.text.startswith(text)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_mask_that_allows_what_is_illegal(kind: type[Any]) -> None:
    found = problems_of(lambda: kind(Plant(planted.mask_too_open)), steps=2 * KINDS[kind])
    assert {(p.check, p.agent) for p in found} == {("legal", "booker_0")}
    assert found[0].step > 4 and "a legal action was reported illegal" in str(found[0])


def single(kind: type[Any], **options: Any) -> Callable[[], Any]:
    return lambda: kind(scenario("freight/first-steps-v0"), scripted(), **options)


def company(kind: type[Any], name: str = "freight/short-chain-v0", **options: Any) -> Callable[[], Any]:
    return lambda: kind(scenario(name), **options)


def several(kind: type[Any]) -> Callable[[], Any]:
    made = load_scenario("freight/short-chain-v0", {"turn": "{calls: 2}"})
    return lambda: kind(made)


SHORT = {"steps": 20}
FIRST = "freight/first-steps-v0"
WHOLE = {
    "masks": (company(planted.MaskOfBusyAgent), SHORT, "allows more than WAIT while the agent is not ready"),
    "masks of several calls": (several(planted.SecondCallCannotWait), SHORT, "step 1, booker_0, action_mask: forbids"),
    "busy with several calls": (several(planted.BusyActsTogether), SHORT, "an action sent by a busy agent (booker_"),
    "fresh": (company(planted.SharedArray), SHORT, "step 1, booker_1, arrays: an array was given before, to booker_0"),
    "busy": (company(planted.BusyActs), SHORT, "an action sent by a busy agent (booker_"),
    "answers": (company(planted.MissingAgent), SHORT, "step 1, booker_2, rewards: missing"),
    "answers ": (company(planted.UnknownAgent), SHORT, "step 1, booker_9, observations: the agent had left before"),
    "answers of ready agents": (company(planted.UnreadyShown), SHORT, "infos: shown, but not ready [answers"),
    "answers of everybody": (company(planted.NobodySaysItIsOver), SHORT, "step 1, __all__, terminations: missing"),
    "busy and absent": (company(planted.AbsentActs), SHORT, "an action sent by a busy agent (booker_"),
    "after_end of ready agents": (company(planted.ShowsAfterTheEnd, FIRST), {}, "step({}) shows agents again"),
    "names": (company(planted.ShoutingNames), {"steps": 0}, "step 0, BOOKER_0: the name is not of the form"),
    "state": (company(planted.StateOfNan), SHORT, "step 0, state: contains NaN"),
    "state ": (company(planted.StateKept), SHORT, "step 0, state: the same array is given twice"),
    "state in AEC": (company(planted.StateInAecOfNan), SHORT, "step 0, state: contains NaN"),
    "ends": (company(planted.Endless, FIRST), {"limit": 60}, "step 60: the episode does not end within 60 steps"),
    "ends in Gymnasium": (single(planted.EndlessGym), {"limit": 60}, "does not end within 60 steps"),
    "after_end": (company(planted.AnswersAfterTheEnd, FIRST), {}, "step({}) does not give five empty dicts"),
    "after_end ": (company(planted.RaisesAfterTheEnd, FIRST), {}, "step after the end: raises KeyError"),
    "after_end in AEC": (company(planted.RaisesAfterTheEndInAec, FIRST), {}, "step after the end: raises KeyError"),
    "after_end in Gymnasium": (single(planted.PaysAfterTheEnd), {}, "step after the end: pays 1.0"),
    "illegal": (company(planted.RaisesWhenIllegal), SHORT | {"skip": ["busy"]}, "step 1, booker_0: an illegal action"),
    "illegal in AEC": (company(planted.SilentWhenIllegalInAec), SHORT, "forbids is not reported illegal"),
    "illegal in Gymnasium": (single(planted.SilentWhenIllegal), SHORT, "step 1, booker_0, info['illegal']: an action"),
    "render": (company(planted.NoPicture, render_mode="rgb_array"), {"steps": 3}, "gives a ndarray"),
    "render in Gymnasium": (single(planted.TextOfBytes, render_mode="ansi"), SHORT, "'ansi' gives a bytes"),
    "reward_parts": (company(planted.WrongAecReward), SHORT, "its parts sum to"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_a_whole_environment_does(name: str) -> None:
    make, how, text = WHOLE[name]
    found = problems_of(make, **how)
    assert found[0].check == name.split()[0]
    assert text in str(found[0])


def test_every_check_has_a_bug_that_it_finds() -> None:
    shown = {check for check, *_ in FOUND.values()} | {name.split()[0] for name in WHOLE} | {"legal", "seed"}
    assert shown == set(CHECKS)


def test_a_crash_says_where_it_happened() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        check_env(single(planted.Crash))
    assert caught.value.__notes__[0].startswith("raised by step 3 after reset(seed=0), with the actions {'booker_0'")


def test_a_problem_that_recurs_is_told_once() -> None:
    (found,) = problems_of(lambda: PlantedGym(Plant(planted.nan)), steps=12)
    assert found.times == 9
    assert str(found) == (
        "step 4, booker_0, observation.observation: contains NaN or infinity [spaces, 9 times in all]"
    )


# -- how they are called ----------------------------------------------------------------------------------------------


def test_an_environment_itself_will_do() -> None:
    for check, make in zip((check_parallel, check_aec, check_gymnasium, check_ready), ADAPTERS.values(), strict=True):
        check(make(scenario(FIRST)), steps=STEPS)
    assert problems_of(PlantedGym(Plant(planted.memory_of_the_last_episode)), steps=12)[0].check == "seed"


def test_a_check_can_be_left_out() -> None:
    check_env(lambda: PlantedGym(Plant(planted.text_in_info)), steps=12, skip=["infos"])
    with pytest.raises(ConfigError, match=r"skip: no such check; got info; .*did you mean 'infos'"):
        check_env(parallel_env(scenario(FIRST)), skip=["info"])


def test_what_is_no_such_environment_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="not an environment; got str"):
        check_env(lambda: "freight/first-steps-v0")
    with pytest.raises(ConfigError, match=r"not an environment of this kind; got BookingAECEnv; .*ParallelEnv"):
        check_parallel(aec_env(scenario(FIRST)))
    with pytest.raises(ConfigError, match=r"got BookingParallelEnv; .*gymnasium.Env"):
        check_gymnasium(parallel_env(scenario(FIRST)))
    with pytest.raises(ConfigError, match=r"got BookingParallelEnv; allowed: one of ready agents"):
        check_ready(parallel_env(scenario(FIRST)))


def test_the_package_offers_its_checks() -> None:
    assert all(getattr(masim.testing, name) for name in masim.testing.__all__)
    assert set(masim.testing.__all__) == set(masim.testing._HOMES)
    with pytest.raises(AttributeError, match="no attribute 'check_world'"):
        _ = masim.testing.check_world
