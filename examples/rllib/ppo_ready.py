"""RLlib's PPO trains all agents of a scenario: only agents with a decision to make appear, one policy for all of them.

Usage: ``python examples/rllib/ppo_ready.py --steps 6000 --seed 1``. Illegal actions are masked by the module that RLlib
ships as an example; it wants the mask as floats beside ``observations``.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import numpy as np
import ray
from gymnasium import spaces
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from masim.env import ready_env

SHARED = "shared"


class Booking(MultiAgentEnv):
    """A scenario as RLlib's multi-agent environment."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        self.env = ready_env(config["scenario"])
        self.agents = self.possible_agents = self.env.possible_agents
        self.action_spaces = self.env.action_spaces
        self.observation_spaces = {agent: _space(self.env.observation_spaces[agent]) for agent in self.agents}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Start an episode."""
        seen, infos = self.env.reset(seed=seed, options=options)
        return _renamed(seen), infos

    def step(self, actions: Mapping[str, Any]) -> tuple[Any, ...]:
        """Take the actions of those who were asked."""
        seen, *rest = self.env.step(actions)
        return _renamed(seen), *rest


def _space(space: spaces.Dict) -> spaces.Dict:
    mask = spaces.Box(0.0, 1.0, space["action_mask"].shape, np.float32)
    return spaces.Dict({"observations": space["observation"], "action_mask": mask})


def _renamed(seen: Mapping[str, Any]) -> dict[str, Any]:
    return {
        agent: {"observations": own["observation"], "action_mask": own["action_mask"].astype(np.float32)}
        for agent, own in seen.items()
    }


def build(scenario: str, seed: int, batch: int = 1000) -> Algorithm:
    """Return an algorithm that has not trained yet, all of it in this process."""
    ray.init(num_cpus=1, include_dashboard=False, ignore_reinit_error=True, log_to_driver=False)
    module = RLModuleSpec(
        module_class=ActionMaskingTorchRLModule, model_config=DefaultModelConfig(fcnet_hiddens=[64, 64])
    )
    config = (
        PPOConfig()
        .environment(Booking, env_config={"scenario": scenario}, disable_env_checking=True)  # it knows no masks
        .env_runners(num_env_runners=0)
        .learners(num_learners=0)
        .multi_agent(policies={SHARED}, policy_mapping_fn=lambda agent, episode, **_: SHARED)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={SHARED: module}))
        .training(train_batch_size_per_learner=batch, minibatch_size=128, num_epochs=4, gamma=1.0, lr=3e-4)
        .debugging(seed=seed)
    )
    return config.build_algo()


def main() -> None:
    """Train with a line per update."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", default="freight/short-chain-v0")
    parser.add_argument("--steps", type=int, default=6000, help="decisions of all agents together")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    algorithm = build(options.scenario, options.seed)
    for update in range(max(options.steps // 1000, 1)):
        found = algorithm.train()["env_runners"]
        print(f"update {update}: return {found.get('episode_return_mean', float('nan')):.2f} of all agents together")
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
