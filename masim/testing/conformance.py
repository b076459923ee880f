"""``check_env`` and its kin: the contract of an environment, beyond what PettingZoo and Gymnasium look at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from pettingzoo import AECEnv, ParallelEnv  # type: ignore[import-untyped]

from masim.errors import ConfigError, did_you_mean
from masim.testing.checks import AT_EACH_STEP, Moment
from masim.testing.choose import legal_chooser
from masim.testing.drive import Driver, Seen, drive, is_of_ready_agents, play
from masim.testing.episodes import WHOLE_EPISODES, Plan
from masim.testing.problems import Problem, Problems

Made: TypeAlias = Any
"""An environment, or a callable without arguments that makes one. The latter finds more: what one keeps, too."""

CHECKS = ("answers", *AT_EACH_STEP, "ends", *WHOLE_EPISODES)
"""Every check by name, in the order in which they run."""


def check_parallel(env: Made, seed: int = 0, limit: int = 5_000, **how: Any) -> None:
    """Check a PettingZoo Parallel environment as :func:`check_env` does. Raises ConfigError for another kind."""
    check_env(_of_kind(env, ParallelEnv, "a pettingzoo.ParallelEnv"), seed, limit, **how)


def check_aec(env: Made, seed: int = 0, limit: int = 5_000, **how: Any) -> None:
    """Check a PettingZoo AEC environment as :func:`check_env` does. Raises ConfigError for another kind."""
    check_env(_of_kind(env, AECEnv, "a pettingzoo.AECEnv"), seed, limit, **how)


def check_gymnasium(env: Made, seed: int = 0, limit: int = 5_000, **how: Any) -> None:
    """Check a Gymnasium environment as :func:`check_env` does. Raises ConfigError for another kind."""
    check_env(_of_kind(env, gymnasium.Env, "a gymnasium.Env"), seed, limit, **how)


def check_ready(env: Made, seed: int = 0, limit: int = 5_000, **how: Any) -> None:
    """Check an environment of ready agents as :func:`check_env` does. Raises ConfigError for another kind.

    Its form is that of :class:`masim.env.ready.BookingReadyEnv`: who is in the observations acts.
    """
    make = _maker(env)
    made = make()
    if not is_of_ready_agents(made):
        raise ConfigError("not an environment of this kind", "env", type(made).__name__, "one of ready agents")
    check_env(make, seed, limit, **how)


def check_env(
    env: Made, seed: int = 0, limit: int = 5_000, steps: int | None = None, skip: Collection[str] = ()
) -> None:
    """Play episodes with random legal actions and check everything that the environment gives.

    ``env`` is an environment, or a callable that makes one. An episode must end within ``limit`` steps; ``steps``
    plays only so many of each episode, and then no end is asked for. ``skip`` leaves out checks by name
    (:data:`CHECKS`); what each looks at is said in :mod:`masim.testing.checks` and :mod:`masim.testing.episodes`.

    Raises :class:`masim.testing.problems.ConformanceError` with every problem, its agent and its step; ConfigError
    for what is no environment and for a check that does not exist.
    """
    for name in skip:
        if name not in CHECKS:
            raise ConfigError("no such check", "skip", name, ", ".join(CHECKS), did_you_mean(name, CHECKS))
    plan = Plan(_maker(env), seed, limit if steps is None else steps)
    problems = Problems()
    driver = drive(plan.make())
    problems.add(_each_step(driver, plan, skip, steps is None))
    problems.add(p for p in driver.problems if p.check not in skip)
    problems.raise_any()
    for name, check in WHOLE_EPISODES.items():
        if name not in skip:
            problems.add(check(plan))
    problems.raise_any()


def _each_step(driver: Driver, plan: Plan, skip: Collection[str], to_the_end: bool) -> Iterator[Problem]:
    checks = [check for name, check in AT_EACH_STEP.items() if name not in skip]
    choose = legal_chooser(driver, np.random.default_rng(plan.seed))
    latest: dict[str, Seen] = {}
    first: dict[str, Seen] = {}
    for step, (seen, actions) in enumerate(play(driver, plan.seed, plan.limit, choose)):
        for one in seen:
            first.setdefault(one.agent, one)
        moment = Moment(step, seen, list(latest.values()), actions, first, driver)
        for check in checks:
            yield from check(moment)
        latest.update({one.agent: one for one in seen})
    if to_the_end and driver.live() and "ends" not in skip:
        yield Problem("ends", f"the episode does not end within {plan.limit} steps", "", plan.limit)


def _maker(env: Made) -> Callable[[], Any]:
    return env if callable(env) else lambda: env


def _of_kind(env: Made, kind: type, name: str) -> Callable[[], Any]:
    make = _maker(env)
    made = make()
    if not isinstance(made, kind):
        raise ConfigError("not an environment of this kind", "env", type(made).__name__, name)
    return make
