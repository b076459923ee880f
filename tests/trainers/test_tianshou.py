"""Tianshou really drives the AEC environment: `make trainers`.

1. A shared DQN attaches, steps and updates; all agents act, legally only, exploration included.
2. Tianshou's wrapper hands on our masks, and the column of rewards of each agent adds up to what we paid.
"""

from __future__ import annotations

import numpy as np
import pytest
from trainers.attach import Acts, copied, example, moved

pytestmark = [pytest.mark.trainers, pytest.mark.filterwarnings("default")]
SHORT = "freight/short-chain-v0"


def test_attaches_steps_and_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    tianshou = example("tianshou/dqn_aec.py", "tianshou")
    acts = Acts().watch(monkeypatch)
    training = tianshou.build(SHORT, steps=400, seed=1)
    before = copied(training.network.parameters())
    training.run()
    assert moved(before, copied(training.network.parameters())) > 0.5
    acts.assert_legal(at_least=400)
    assert acts.agents == {f"booker_{i}" for i in range(4)}
    assert acts.waits_of_busy == 0


def test_the_wrapper_hands_on_masks_and_all_rewards() -> None:
    tianshou = example("tianshou/dqn_aec.py", "tianshou")
    env = tianshou.PettingZooEnv(tianshou.aec_env(SHORT))
    seen, _ = env.reset(seed=3)
    rng = np.random.default_rng(0)
    total, paid, over = np.zeros(4), np.zeros(4), False
    while not over:
        agent = seen["agent_id"]
        assert np.array_equal(seen["mask"], env.env.stage.mask(agent) == 1)
        action = int(rng.choice(np.flatnonzero(seen["mask"])))
        seen, rewards, terminated, truncated, _ = env.step(action)
        total += rewards
        paid += [env.env.rewards[name] for name in env.agents]
        over = terminated or truncated
    assert total == pytest.approx(paid)
    assert (total < 0).all()
