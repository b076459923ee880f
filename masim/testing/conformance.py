"""``check_env``: the contract of an environment, beyond what the tests of PettingZoo and Gymnasium look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]

from masim.testing import checks
from masim.testing.determinism import digest, episode_digests
from masim.testing.drive import Driver, Seen, drive, legal_chooser, play
from masim.testing.problems import Problems

Make = Callable[[], Any]
MIDDLE = 7
"""Steps after which an episode is broken off by a reset."""


def check_env(make: Make, seed: int = 0, limit: int = 5_000) -> None:
    """Play whole episodes of the environment that ``make`` builds and check everything that it gives.

    Checked every step: space membership part by part with dtype and finiteness, flags, rewards and the sum of their
    parts, numeric infos under constant keys, masks, that a legal action is never reported illegal, that arrays are
    not reused. Besides: the episode ends within ``limit`` steps, ``step({})`` after it is tolerated, the same seed
    gives the same episode also after a reset in the middle, and a busy agent cannot change its action.

    Raises :class:`masim.testing.problems.ConformanceError` with every distinct problem.
    """
    problems = Problems()
    driver = drive(make())
    problems.add(_play_checked(driver, seed, limit))
    problems.add(driver.problems)
    problems.raise_any()
    problems.add(_after_the_end(driver))
    problems.add(_reset_in_the_middle(make, seed, limit))
    if isinstance(driver.env, ParallelEnv):
        problems.add(_busy_agents(make, seed, limit))
    problems.raise_any()


def _play_checked(driver: Driver, seed: int, limit: int) -> Iterator[str]:
    rng = np.random.default_rng(seed)
    n = 0
    before: list[Seen] = []
    keys: dict[str, set[str]] = {}
    for seen, actions in play(driver, seed, limit, _chooser(driver, seed, rng)):
        for one in seen:
            space, action_space = driver.spaces(one.agent)
            n = int(getattr(action_space, "n", 0))
            keys.setdefault(one.agent, set(one.info) if isinstance(one.info, dict) else set())
            yield from checks.check_space(one.observation, space, f"observation of {one.agent}")
            yield from checks.check_flags(one)
            yield from checks.check_reward(one)
            yield from checks.check_info(one, keys[one.agent])
            yield from checks.check_mask(one, n)
            if actions:
                yield from checks.check_legal_was_taken(one)
        yield from checks.check_fresh(seen, before)
        before = seen
    if driver.live():
        yield f"the episode does not end within {limit} steps"


def _chooser(driver: Driver, seed: int, rng: np.random.Generator) -> Callable[[Seen], int]:
    agent = driver.reset(seed)[0].agent
    return legal_chooser(rng, int(getattr(driver.spaces(agent)[1], "n", 1)))


def _after_the_end(driver: Driver) -> Iterator[str]:
    if isinstance(driver.env, ParallelEnv):
        given = driver.env.step({})
        if not all(part == {} for part in given):
            yield "step({}) after the end does not give five empty dicts"


def _reset_in_the_middle(make: Make, seed: int, limit: int) -> Iterator[str]:
    fresh = episode_digests(make(), seed, limit)
    env = make()
    episode_digests(env, seed + 1, MIDDLE)
    again = episode_digests(env, seed, limit)
    if again != fresh:
        at = next((i for i, pair in enumerate(zip(fresh, again, strict=False)) if pair[0] != pair[1]), "the end")
        yield f"after a reset in the middle of an episode the same seed plays differently, from round {at}"


def _busy_agents(make: Make, seed: int, limit: int) -> Iterator[str]:
    """Play the same episode twice; the second time busy agents send random actions, which must change nothing."""
    calm, wild = drive(make()), drive(make())
    rng, noise = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    choose = _chooser(calm, seed, rng)
    latest = {seen.agent: seen for seen in calm.reset(seed)}
    wild.reset(seed)
    for step in range(limit):
        if not calm.live() or not wild.live():
            return
        actions = {agent: choose(latest[agent]) for agent in calm.live()}
        seen = calm.step(actions)
        unruly = {a: x if _ready(latest[a]) else _other(calm, a, noise) for a, x in actions.items()}
        if [digest(_apart(s)) for s in seen] != [digest(_apart(s)) for s in wild.step(unruly)]:
            yield f"an action sent by a busy agent changes the episode, at step {step}"
            return
        latest.update({s.agent: s for s in seen})


def _ready(seen: Seen) -> bool:
    return not isinstance(seen.info, dict) or bool(seen.info.get("ready", 1))


def _other(driver: Driver, agent: str, rng: np.random.Generator) -> int:
    n = int(getattr(driver.spaces(agent)[1], "n", 1))
    return int(rng.integers(1, n)) if n > 1 else 0


def _apart(seen: Seen) -> tuple[Any, ...]:
    """Return what was seen without the note that the action was illegal, which is meant to differ."""
    info = {key: value for key, value in seen.info.items() if key != "illegal"}
    return (seen.agent, seen.observation, seen.reward, seen.terminated, seen.truncated, info)
