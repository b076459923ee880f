"""All agents of a scenario share one MaskablePPO: PettingZoo Parallel, made a vector environment by SuperSuit.

Usage: ``python examples/sb3/supersuit_ppo.py --steps 8192 --seed 1``. Every agent is one row of the vector. The rows of
busy agents are no decisions: only the wait is unmasked there, so they teach the policy nothing.
"""

from __future__ import annotations

import argparse
from typing import Any

import supersuit
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnvWrapper, VecMonitor

from masim.env import parallel_env


class Masked(VecEnvWrapper):
    """Gives what SuperSuit does not pass on: the masks, which are those of the last observations, and the seed."""

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Seed every copy of the world with a seed of its own."""
        self.venv.venv.reset(seed=seed)
        return [seed] * self.num_envs

    def reset(self) -> Any:
        """Start all episodes."""
        self._last = self.venv.reset()
        return self._last

    def step_wait(self) -> tuple[Any, ...]:
        """Finish a step."""
        self._last, rewards, dones, infos = self.venv.step_wait()
        return self._last, rewards, dones, infos

    def has_attr(self, attr_name: str) -> bool:
        """Say that there are masks; MaskablePPO asks."""
        return attr_name == "action_masks" or super().has_attr(attr_name)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Return the mask of every row."""
        if method_name == "action_masks":
            return list(self._last["action_mask"])
        return super().env_method(method_name, *args, indices=indices, **kwargs)


def build(scenario: str, seed: int, copies: int = 2) -> MaskablePPO:
    """Return an untrained policy for all agents of ``copies`` worlds."""
    rows = supersuit.pettingzoo_env_to_vec_env_v1(parallel_env(scenario))
    venv = supersuit.concat_vec_envs_v1(rows, copies, num_cpus=0, base_class="stable_baselines3")
    return MaskablePPO(
        "MultiInputPolicy",
        VecMonitor(Masked(venv)),
        n_steps=256,
        batch_size=256,
        n_epochs=4,
        gamma=1.0,
        policy_kwargs={"net_arch": [64, 64]},
        seed=seed,
    )


def main() -> None:
    """Train with a line per update."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", default="freight/short-chain-v0")
    parser.add_argument("--steps", type=int, default=8192, help="steps, counted once per agent")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = build(options.scenario, options.seed)
    model.verbose = 1
    model.learn(options.steps)


if __name__ == "__main__":
    main()
