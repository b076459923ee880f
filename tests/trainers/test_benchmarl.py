"""BenchMARL on TorchRL really drives the Parallel environment: `make trainers`.

MAPPO and QMIX attach, step and update; all agents act, legally only, exploration included.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from trainers.attach import Acts, copied, example, moved

pytestmark = [pytest.mark.trainers, pytest.mark.filterwarnings("default")]


@pytest.mark.parametrize("algorithm", ["mappo", "qmix"])
def test_attaches_steps_and_updates(algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marl = example("benchmarl/mappo_qmix.py", "benchmarl", "torchrl")
    acts = Acts().watch(monkeypatch)
    experiment = marl.build("freight/short-chain-v0", algorithm, 1000, 1, tmp_path)
    policy, loss = experiment.policy, experiment.losses["booker"]
    before = copied(policy.parameters()), copied(loss.parameters())
    experiment.run()
    assert moved(before[0], copied(policy.parameters())) > 0.5
    assert moved(before[1], copied(loss.parameters())) > 0.5
    acts.assert_legal(at_least=200)
    assert acts.agents == {f"booker_{i}" for i in range(4)}
