"""BenchMARL trains all agents of a scenario, with MAPPO or QMIX on TorchRL's PettingZoo wrapper.

Usage: ``python examples/benchmarl/mappo_qmix.py --algorithm mappo --steps 8000 --seed 1``. The critic of MAPPO and the
mixer of QMIX see the global state; the masks of busy agents leave only the wait.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from benchmarl.algorithms import MappoConfig, QmixConfig
from benchmarl.environments.pettingzoo.common import PettingZooClass
from benchmarl.experiment import Experiment, ExperimentConfig
from benchmarl.models.mlp import MlpConfig
from torchrl.envs import EnvBase, PettingZooWrapper

from masim.env import parallel_env

ALGORITHMS = {"mappo": MappoConfig, "qmix": QmixConfig}


class MasimTask(PettingZooClass):
    """A scenario as a task: the specs are those of any PettingZoo environment, the environment is ours."""

    def get_env_fun(
        self, num_envs: int, continuous_actions: bool, seed: int | None, device: torch.device | str
    ) -> Callable[[], EnvBase]:
        """Return a maker of environments, each with a seed of its own; BenchMARL gives all copies the same."""
        seeds = itertools.count(seed or 0)
        return lambda: PettingZooWrapper(
            parallel_env(self.config["scenario"]), return_state=True, seed=next(seeds), device=device
        )

    def supports_continuous_actions(self) -> bool:
        """Actions are discrete."""
        return False

    def supports_discrete_actions(self) -> bool:
        """Actions are discrete."""
        return True

    def has_state(self) -> bool:
        """There is a global state."""
        return True

    def has_render(self, env: EnvBase) -> bool:
        """Pictures take a ``render_mode``, which nothing here needs."""
        return False

    def max_steps(self, env: EnvBase) -> int:
        """No episode of a bundled scenario is longer."""
        return 1000

    @staticmethod
    def env_name() -> str:
        """Return the name that logs use."""
        return "masim"


def build(scenario: str, algorithm: str, steps: int, seed: int, folder: str | Path) -> Experiment:
    """Return an experiment that has not run yet and logs into ``folder``."""
    torch.set_num_threads(1)
    config = ExperimentConfig.get_from_yaml()
    config.save_folder = folder
    config.loggers = ["csv"]
    config.create_json = config.render = config.evaluation = False
    config.prefer_continuous_actions = False
    config.max_n_frames = steps
    config.gamma, config.lr = 1.0, 3e-4
    config.on_policy_collected_frames_per_batch, config.off_policy_collected_frames_per_batch = 1000, 1000
    config.on_policy_n_envs_per_worker, config.off_policy_n_envs_per_worker = 2, 2
    config.on_policy_n_minibatch_iters, config.on_policy_minibatch_size = 4, 250
    config.off_policy_n_optimizer_steps, config.off_policy_train_batch_size = 50, 128
    config.off_policy_memory_size = 20_000
    return Experiment(
        task=MasimTask("short_chain", {"scenario": scenario}),
        algorithm_config=ALGORITHMS[algorithm].get_from_yaml(),
        model_config=MlpConfig(num_cells=[64, 64], layer_class=torch.nn.Linear, activation_class=torch.nn.Tanh),
        critic_model_config=MlpConfig(num_cells=[64, 64], layer_class=torch.nn.Linear, activation_class=torch.nn.Tanh),
        seed=seed,
        config=config,
    )


def main() -> None:
    """Train; BenchMARL shows the mean return as it goes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", default="freight/short-chain-v0")
    parser.add_argument("--algorithm", choices=sorted(ALGORITHMS), default="mappo")
    parser.add_argument("--steps", type=int, default=8000, help="steps of all agents together")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        build(options.scenario, options.algorithm, options.steps, options.seed, folder).run()


if __name__ == "__main__":
    main()
