"""Going back to a moment, and words instead of numbers.

1. A restored episode goes on exactly as the one that was left, through both adapters and under all options.
2. A replay that leads elsewhere is refused, and so is a day whose memories are gone.
3. The text wrapper passes Gymnasium's own check and says what the method says.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from masim.env.make import aec_env, parallel_env
from masim.env.parallel import BookingParallelEnv
from masim.env.text.version import TEXT_VERSION
from masim.env.text.wrapper import TextWrapper
from masim.errors import ConfigError, RunError
from masim.policy.company import gym_env
from masim.testing.determinism import digest

SHORT = "freight/short-chain-v0"
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"sync": "all", "memory": True},
    {"death": "remove"},
    {"campaign": True},
)


def go_on(env: BookingParallelEnv, observations: dict[str, Any], steps: int) -> list[str]:
    """Play random legal actions and return a digest per step."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(steps):
        if not env.agents:
            break
        actions = {a: int(rng.choice(np.flatnonzero(observations[a]["action_mask"]))) for a in env.agents}
        result = env.step(actions)
        observations = result[0]
        found.append(digest(result))
    return found


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("steps", [0, 1, 25])
def test_a_restored_episode_goes_on_alike(options: dict[str, Any], steps: int) -> None:
    env = parallel_env(SHORT, **options)
    env.reset(seed=2)
    for step in range(steps):
        env.step({d.agent: int(d.legal[(step + d.agent_index) % len(d.legal)]) for d in env.stage.open_decisions()})
    snapshot = env.snapshot()
    here = {a: env.stage.observation(a) for a in env.agents}
    left = go_on(env, here, 15)
    back, _ = env.restore(snapshot)
    assert digest(back) == digest(here)
    assert go_on(env, back, 15) == left
    assert left


def test_what_a_busy_agent_is_shown_does_not_depend_on_who_looked_before() -> None:
    shown = []
    for look in (True, False):
        env = aec_env(SHORT)
        env.reset(seed=2)
        for _ in range(30):
            env.last(observe=look)
            decision = env.stage.open_decisions()[0]
            env.step(int(decision.legal[-1 - decision.agent_index]))
        shown.append(digest([env.state(), [env.observe(a) for a in env.agents]]))
    assert shown[0] == shown[1]


def test_a_single_agents_episode_goes_on_alike() -> None:
    env = gym_env(SHORT)
    env.reset(seed=2)
    for action in (8, 2, 50, 3):
        env.step(action)
    snapshot = env.snapshot()
    ends = [digest([env.step(action) for action in (1, 9, 0, 1)])]
    env.restore(snapshot)
    ends.append(digest([env.step(action) for action in (1, 9, 0, 1)]))
    assert ends[0] == ends[1]


def test_a_replay_that_leads_elsewhere_is_refused() -> None:
    env = parallel_env(SHORT)
    go_on(env, env.reset(seed=2)[0], 10)
    snapshot = env.snapshot()
    with pytest.raises(RunError, match="does not lead to the snapshot"):
        env.restore(replace(snapshot, actions=snapshot.actions[:-4]))


def test_a_day_that_a_campaign_has_left_is_gone() -> None:
    env = parallel_env("freight/first-steps-v0", campaign=True)
    go_on(env, env.reset(seed=2)[0], 2)
    snapshot = env.snapshot()
    go_on(env, env.restore(snapshot)[0], 1000)
    with pytest.raises(ConfigError, match="the campaign has left that day"):
        env.restore(snapshot)


def test_words_instead_of_numbers() -> None:
    env = TextWrapper(gym_env(SHORT))
    with pytest.warns(UserWarning, match="different from the unwrapped version"):
        check_env(env, skip_render_check=True)
    observation, _ = env.reset(seed=1)
    assert observation.startswith(f"[masim text {TEXT_VERSION}] booker_0, decision 0 of at most ")
    assert env.observation_space.contains(observation)
