"""Checks that play episodes of their own: what happens at the end, after a reset, and to actions nobody asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from pettingzoo import AECEnv, ParallelEnv  # type: ignore[import-untyped]

from masim.testing.choose import Choose, any_choice, forbidden_choice, legal_chooser, nothing
from masim.testing.determinism import digest, episode_digests
from masim.testing.drive import Driver, Seen, drive, play
from masim.testing.problems import Problem

MIDDLE = 20
"""Steps after which an episode is broken off by a reset."""
SPARE_TRIES = 3
"""Steps that are taken after the end."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is played: how environments are made, the seed, and how many steps at most."""

    make: Callable[[], Any]
    seed: int
    limit: int


EpisodeCheck = Callable[[Plan], Iterator[Problem]]


def check_after_end(plan: Plan) -> Iterator[Problem]:
    """Steps after the end are tolerated and change nothing: ``step({})``, ``step(None)`` in AEC, any in Gymnasium."""
    driver = drive(plan.make())
    steps = sum(1 for _ in play(driver, plan.seed, plan.limit, _chooser(driver, plan.seed))) - 1
    if driver.live():
        return  # it did not get there: `ends` says so
    for number in range(steps + 1, steps + 1 + SPARE_TRIES):
        try:
            yield from (Problem("after_end", text, "", number, "step after the end") for text in _step_on(driver))
        except Exception as error:  # noqa: BLE001 - whatever it raises is what the check reports
            text = f"raises {type(error).__name__}: {error}"
            yield Problem("after_end", text, "", number, "step after the end")


def _step_on(driver: Driver) -> Iterator[str]:
    env = driver.env
    if isinstance(env, ParallelEnv):
        if not all(part == {} for part in env.step({})):
            yield "step({}) does not give five empty dicts"
    elif isinstance(env, AECEnv):
        env.step(None)
        if env.agents:
            yield f"step(None) brings {env.agents} back"
    elif not isinstance(env, gymnasium.Env):
        observations, rewards, *_ = env.step({})
        if observations or rewards:
            yield "step({}) shows agents again"
    else:
        _, reward, terminated, truncated, _ = env.step(nothing(driver, driver.agents()[0]))
        if reward != 0.0 or not (terminated or truncated):
            yield f"pays {reward!r} with terminated={terminated} and truncated={truncated}"


def check_seed(plan: Plan) -> Iterator[Problem]:
    """The same seed plays the same episode, also after a reset in the middle of another one."""
    fresh = episode_digests(plan.make(), plan.seed, plan.limit)
    env = plan.make()
    episode_digests(env, plan.seed + 1, min(plan.limit, MIDDLE))
    again = episode_digests(env, plan.seed, plan.limit)
    if again == fresh:
        return
    other = episode_digests(plan.make(), plan.seed, plan.limit)
    if other != fresh:
        yield Problem("seed", "the same seed plays differently from this step on", "", _parting(fresh, other))
        return
    text = "after a reset in the middle of an episode the same seed plays differently, from this step on"
    yield Problem("seed", text, "", _parting(fresh, again))


def _parting(one: list[str], other: list[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


@dataclass(frozen=True, slots=True)
class _Played:
    """One step of an episode as it was played, to be played again."""

    actions: dict[str, Any]
    ready: dict[str, bool]
    """Who had a decision to make before it."""
    all_acted: bool
    """Whether an action was due from busy agents, too."""
    given: dict[str, str]
    """Digest of what each agent was given then."""


def check_busy(plan: Plan) -> Iterator[Problem]:
    """A busy agent cannot change its action: whatever it sends, the episode goes on as if it had waited."""
    calm = drive(plan.make())
    if isinstance(calm.env, AECEnv | gymnasium.Env):
        return  # these take no action but that of the agent that they ask
    played = list(_record(calm, plan))
    wild, noise = drive(plan.make()), np.random.default_rng(plan.seed + 1)
    wild.reset(plan.seed)
    for step, one in enumerate(played, 1):
        busy = [a for a in wild.agents() if not one.ready.get(a, False) and (a in one.actions or not one.all_acted)]
        unruly = {**one.actions, **{a: any_choice(wild, a, noise) for a in busy}}
        given = {s.agent: digest(_apart(s)) for s in wild.step(unruly)}
        if given != one.given:
            changed = sorted(a for a in one.given if one.given[a] != given.get(a))
            text = f"an action sent by a busy agent ({', '.join(busy)}) changes the episode"
            yield Problem("busy", text, changed[0] if changed else "", step)
            return


def _record(driver: Driver, plan: Plan) -> Iterator[_Played]:
    latest: dict[str, Seen] = {}
    for seen, actions in play(driver, plan.seed, plan.limit, _chooser(driver, plan.seed)):
        if actions:
            ready = {a: latest[a].ready() for a in actions}
            yield _Played(
                actions, ready, isinstance(driver.env, ParallelEnv), {s.agent: digest(_apart(s)) for s in seen}
            )
        latest.update({s.agent: s for s in seen})


def _apart(seen: Seen) -> tuple[Any, ...]:
    """Return what was seen without the note that the action was illegal, which is meant to differ."""
    info = {key: value for key, value in seen.info.items() if key != "illegal"} if seen.info else {}
    return (seen.agent, seen.observation, seen.reward, seen.terminated, seen.truncated, info)


def check_illegal(plan: Plan) -> Iterator[Problem]:
    """An illegal action is no exception: it is taken as a wait, and ``info["illegal"]`` says so, where there is one."""
    driver = drive(plan.make())
    rng = np.random.default_rng(plan.seed)
    latest = {seen.agent: seen for seen in driver.reset(plan.seed)}
    owed: set[str] = set()
    for step in range(1, plan.limit + 1):
        live = driver.live()
        if not live:
            return
        forbidden = {agent: forbidden_choice(driver, latest[agent], rng) for agent in live}
        actions = {a: nothing(driver, a) if choice is None else choice for a, choice in forbidden.items()}
        owed |= {a for a in live if forbidden[a] is not None and _says(latest[a]) and latest[a].ready()}
        try:
            given = driver.step(actions)
        except Exception as error:  # noqa: BLE001 - whatever it raises is what the check reports
            text = f"an illegal action raises {type(error).__name__}: {error}"
            yield Problem("illegal", text, live[0], step)
            return
        for seen in given:
            if seen.agent in owed and not seen.info.get("illegal"):
                text = "an action that the mask forbids is not reported illegal"
                yield Problem("illegal", text, seen.agent, step, "info['illegal']")
            owed.discard(seen.agent)
            latest[seen.agent] = seen


def _says(seen: Seen) -> bool:
    return isinstance(seen.info, dict) and "illegal" in seen.info


def check_render(plan: Plan) -> Iterator[Problem]:
    """The picture is what ``render_mode`` promises: text for ``ansi``, (H, W, 3) bytes for ``rgb_array``."""
    driver = drive(plan.make())
    mode = getattr(driver.env, "render_mode", None)
    if mode is None:
        return
    for step, _ in enumerate(play(driver, plan.seed, min(plan.limit, MIDDLE), _chooser(driver, plan.seed))):
        picture = driver.env.render()
        fits = isinstance(picture, str) if mode == "ansi" else _is_picture(picture)
        if mode in ("ansi", "rgb_array") and not fits:
            yield Problem("render", f"render_mode {mode!r} gives a {type(picture).__name__}", "", step, "render()")


def _is_picture(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.uint8 and value.ndim == 3 and value.shape[2] == 3


def _chooser(driver: Driver, seed: int) -> Choose:
    return legal_chooser(driver, np.random.default_rng(seed))


WHOLE_EPISODES: dict[str, EpisodeCheck] = {
    "after_end": check_after_end,
    "seed": check_seed,
    "busy": check_busy,
    "illegal": check_illegal,
    "render": check_render,
}
"""The checks that play episodes of their own."""
