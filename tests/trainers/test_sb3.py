"""Stable-Baselines3, sb3-contrib and SuperSuit really drive the environments: `make trainers`.

1. MaskablePPO on the Gymnasium form and on the Parallel form attaches, steps and updates, and acts legally only.
2. Evaluation plays the held-out campaigns it is told to, the same each time.
3. The masks that the vector wrapper hands on are those of the observations, and its copies play different days.
"""

from __future__ import annotations

import numpy as np
import pytest
from trainers.attach import Acts, copied, example, moved

from masim.env.single import BookingEnv

pytestmark = [pytest.mark.trainers, pytest.mark.filterwarnings("default")]
FIRST, SHORT = "freight/first-steps-v0", "freight/short-chain-v0"


def test_maskable_ppo_attaches_steps_and_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    sb3 = example("sb3/maskable_ppo.py", "sb3_contrib")
    acts = Acts().watch(monkeypatch)
    model = sb3.build(FIRST, seed=1)
    before = copied(model.policy.parameters())
    model.learn(1100)
    assert moved(before, copied(model.policy.parameters())) > 0.5
    acts.assert_legal(at_least=1000)


def test_evaluation_is_of_the_days_named_and_repeats() -> None:
    sb3 = example("sb3/maskable_ppo.py", "sb3_contrib")

    def act(env: BookingEnv, observation: np.ndarray) -> int:
        return int(np.flatnonzero(env.action_masks())[-1])

    once, again = sb3.evaluate(act, FIRST, range(5)), sb3.evaluate(act, FIRST, range(5))
    assert once.shape == (5, 2)
    assert np.array_equal(once, again)
    assert not np.array_equal(once, sb3.evaluate(act, FIRST, range(5, 10)))


def test_supersuit_attaches_steps_and_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    sb3 = example("sb3/supersuit_ppo.py", "sb3_contrib", "supersuit")
    acts = Acts().watch(monkeypatch)
    model = sb3.build(SHORT, seed=1, copies=1)
    before = copied(model.policy.parameters())
    model.learn(1024)
    assert moved(before, copied(model.policy.parameters())) > 0.5
    acts.assert_legal(at_least=200)
    assert acts.agents == {f"booker_{i}" for i in range(4)}
    assert acts.waits_of_busy > 0


def test_the_vector_wrapper_hands_on_masks_and_seeds() -> None:
    sb3 = example("sb3/supersuit_ppo.py", "sb3_contrib", "supersuit")
    venv = sb3.build(SHORT, seed=1, copies=2).get_env()
    observations = venv.reset()
    masks = np.stack(venv.env_method("action_masks"))
    assert np.array_equal(masks, observations["action_mask"])
    worlds = [rows.par_env.stage.session.instance for rows in venv.unwrapped.vec_envs]
    assert worlds[0] != worlds[1]
