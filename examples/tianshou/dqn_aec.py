"""Tianshou trains all agents of a scenario on the AEC form: one shared DQN, asked agent by agent.

Usage: ``python examples/tianshou/dqn_aec.py --steps 6000 --seed 1``. Tianshou keeps the turns of all agents in one
sequence and gives each its own column of rewards. An outcome lands at the end, in another agent's turn as a rule, so
returns must reach to the end of the episode (``n_step_return_horizon``); with the usual single step most are lost.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, CollectStats, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from masim.env import aec_env

HORIZON = 250
"""Longer than the episodes of the bundled scenarios with four agents: 4 x 44 turns and the last reports."""


@dataclass
class Training:
    """An algorithm, the worlds it plays, and how long."""

    algorithm: MultiAgentOffPolicyAlgorithm
    network: Net
    params: OffPolicyTrainerParams

    def run(self) -> object:
        """Train; returns Tianshou's statistics."""
        return self.algorithm.run_training(self.params)


def build(scenario: str, steps: int, seed: int, worlds: int = 2) -> Training:
    """Return a training that has not run yet."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    np.random.seed(seed)
    env = PettingZooEnv(aec_env(scenario))
    box, actions = env.observation_space["observation"], env.action_space
    network = Net(state_shape=box.shape, action_shape=actions.n, hidden_sizes=[64, 64])
    # Only the policy around those of the agents hears that training goes on, so exploration is set as for inference.
    policy = DiscreteQLearningPolicy(model=network, action_space=actions, observation_space=box, eps_inference=0.2)
    shared = DQN(
        policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=1.0, n_step_return_horizon=HORIZON, is_double=False
    )
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[shared] * len(env.agents), env=env)
    venv = DummyVectorEnv([lambda: PettingZooEnv(aec_env(scenario))] * worlds)
    venv.seed(seed)
    collector = Collector[CollectStats](algorithm, venv, VectorReplayBuffer(20_000, worlds), exploration_noise=True)
    collector.reset()
    params = OffPolicyTrainerParams(
        training_collector=collector,
        max_epochs=max(steps // 1000, 1),
        epoch_num_steps=min(steps, 1000),
        collection_step_num_env_steps=200,
        update_step_num_gradient_steps_per_sample=0.05,
        batch_size=128,
        multi_agent_return_reduction=lambda returns: returns.mean(axis=1),
    )
    return Training(algorithm, network, params)


def main() -> None:
    """Train; Tianshou shows the mean return as it goes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", default="freight/short-chain-v0")
    parser.add_argument("--steps", type=int, default=6000, help="decisions of all agents together")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(build(options.scenario, options.steps, options.seed).run())


if __name__ == "__main__":
    main()
