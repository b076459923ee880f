"""The eye that the smoke tests keep on actions sees what is wrong; without it they would prove nothing.

1. Illegal actions of asked agents and actions of busy agents are noted, legal ones are not.
2. What an update must change is told from what it leaves, and an update to nothing finite fails.
"""

from __future__ import annotations

import numpy as np
import pytest
from trainers.attach import Acts, moved

from masim.env import parallel_env


def test_illegal_and_busy_actions_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    acts = Acts().watch(monkeypatch)
    env = parallel_env("freight/short-chain-v0")
    seen, _ = env.reset(seed=1)
    legal = {agent: np.flatnonzero(own["action_mask"]) for agent, own in seen.items()}
    env.step({agent: int(actions[-1]) for agent, actions in legal.items()})
    assert acts.wrong == [] and acts.decisions == 4 and acts.waits_of_busy == 0
    busy = [agent for agent in env.agents if not env.stage.asked(agent)]
    env.step(dict.fromkeys(busy, 5))
    assert acts.wrong == [f"{agent} busy took 5" for agent in busy]
    env.reset(seed=1)
    illegal = int(np.flatnonzero(seen["booker_0"]["action_mask"] == 0)[0])
    env.step({"booker_0": illegal})
    assert acts.wrong[-1] == f"booker_0 took {illegal}"
    with pytest.raises(AssertionError):
        acts.assert_legal(at_least=1)


def test_what_moved() -> None:
    before = [np.zeros(2), np.ones(3)]
    assert moved(before, [np.zeros(2), np.full(3, 2.0)]) == 0.5
    with pytest.raises(AssertionError):
        moved(before, [np.zeros(2), np.full(3, np.nan)])
