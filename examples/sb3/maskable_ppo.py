"""MaskablePPO of sb3-contrib learns a scenario as one agent; the other agents follow the scripted workflow.

Usage: ``python examples/sb3/maskable_ppo.py --steps 25000 --seed 1``. Prints reward and completion on held-out days,
before and after: their campaigns have seeds below a million, which training never draws.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from masim.env import gym_env
from masim.env.single import BookingEnv

Act = Callable[[BookingEnv, np.ndarray], int]
"""Chooses an action in an environment that shows this observation."""


def build(scenario: str, seed: int) -> MaskablePPO:
    """Return an untrained agent and its eight worlds; a plain Box suits it, the masks come by ``action_masks()``."""
    worlds = DummyVecEnv([lambda: Monitor(gym_env(scenario, mask_in="info"))] * 8)
    return MaskablePPO(
        "MlpPolicy",
        worlds,
        n_steps=128,
        batch_size=256,
        n_epochs=4,
        learning_rate=1e-3,
        gamma=1.0,  # the outcome of a day must reach its first call undiminished
        ent_coef=0.01,
        policy_kwargs={"net_arch": [64, 64]},
        seed=seed,
    )


def act_of(model: MaskablePPO, best: bool = True) -> Act:
    """Return the likeliest action in each situation, or with ``best=False`` one drawn as in training."""
    return lambda env, seen: int(model.predict(seen, action_masks=env.action_masks(), deterministic=best)[0])


def evaluate(act: Act, scenario: str, days: Sequence[int]) -> np.ndarray:
    """Return the (days, 2) rewards and outcomes of the first days of held-out campaigns."""
    env = gym_env(scenario, mask_in="info")
    results = []
    for day in days:
        observation, _ = env.reset(options={"campaign_seed": day})
        reward = outcome = 0.0
        over = False
        while not over:
            observation, paid, terminated, truncated, info = env.step(act(env, observation))
            reward, outcome = reward + paid, outcome + info["r_out"]
            over = terminated or truncated
        results.append((reward, outcome))
    return np.array(results)


def main() -> None:
    """Train and print the means over held-out days."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", default="freight/first-steps-v0")
    parser.add_argument("--steps", type=int, default=25_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--days", type=int, default=100, help="held-out days of the evaluation")
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = build(options.scenario, options.seed)
    for moment in ("before", "after"):
        if moment == "after":
            model.learn(options.steps)
        reward, outcome = evaluate(act_of(model, best=False), options.scenario, range(options.days)).mean(axis=0)
        print(f"{moment}: reward {reward:.3f}, completed {outcome:.2f}")


if __name__ == "__main__":
    main()
