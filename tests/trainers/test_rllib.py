"""RLlib really drives the environment of ready agents: `make trainers`.

1. PPO with masks attaches, steps and updates; only asked agents act, legally only.
2. Its episodes are different days.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from trainers.attach import Acts, copied, example, moved

from masim.env.stage import Stage

pytestmark = [pytest.mark.trainers, pytest.mark.filterwarnings("default")]
SHORT = "freight/short-chain-v0"


@pytest.fixture(autouse=True)
def shut_down() -> Iterator[None]:
    yield
    example("rllib/ppo_ready.py", "ray").ray.shutdown()


def test_attaches_steps_and_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    rllib = example("rllib/ppo_ready.py", "ray")
    acts = Acts().watch(monkeypatch)
    days: list[object] = []
    real = Stage.reset

    def reset(stage: Stage, *given: object) -> None:
        real(stage, *given)
        days.append(stage.session.instance)

    monkeypatch.setattr(Stage, "reset", reset)
    algorithm = rllib.build(SHORT, seed=1, batch=500)
    module = algorithm.get_module(rllib.SHARED)
    before = copied(module.parameters())
    algorithm.train()
    assert moved(before, copied(algorithm.get_module(rllib.SHARED).parameters())) > 0.5
    algorithm.stop()
    acts.assert_legal(at_least=400)
    assert acts.agents == {f"booker_{i}" for i in range(4)}
    assert acts.waits_of_busy == 0
    assert len(set(map(str, days))) > len(days) // 2
