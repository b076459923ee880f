"""Does MaskablePPO learn a scenario? Several training seeds, one set of held-out days, intervals over both.

Usage: ``python examples/sb3/does_it_learn.py --steps 30720 --seeds 5 --days 200``. Prints a Markdown table of reward
and completion of untrained and trained agents and of two references, all on the same days. Brackets are 95% intervals
(Student's t, variance over training seeds plus variance over days); a reference has no seeds, so only days vary.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field

import numpy as np
import torch
from maskable_ppo import act_of, build, evaluate
from stable_baselines3.common.utils import set_random_seed

from masim.analysis.stats import crossed_interval, t_interval
from masim.env.single import BookingEnv
from masim.policy.company import scripted
from masim.rng import Noise


@dataclass
class Results:
    """Per row of the table, the (seeds, days, 2) rewards and outcomes."""

    scenario: str
    days: range
    rows: dict[str, list[np.ndarray]] = field(default_factory=dict)

    def play(self, row: str, act: object, seed: int) -> None:
        """Evaluate on the held-out days; whatever is drawn there is drawn from the seed."""
        set_random_seed(seed)
        self.rows.setdefault(row, []).append(evaluate(act, self.scenario, self.days))


def random_act(env: BookingEnv, _: np.ndarray) -> int:
    """Return any legal action."""
    return int(np.random.choice(np.flatnonzero(env.action_masks())))


def scripted_act(env: BookingEnv, _: np.ndarray) -> int:
    """Return what the workflow does that also plays the other agents."""
    return scripted()(env.stage.open_decisions(), Noise(0, "reference"))[0]


def measure(scenario: str, steps: int, seeds: int, days: int) -> Results:
    """Train an agent per seed and evaluate all."""
    results = Results(scenario, range(days))
    results.play("reference: random", random_act, 0)
    results.play("reference: scripted workflow", scripted_act, 0)
    for seed in range(1, seeds + 1):
        model = build(scenario, seed)
        results.play("untrained, sampled", act_of(model, best=False), seed)
        model.learn(steps)
        results.play("trained, sampled", act_of(model, best=False), seed)
        results.play("trained, likeliest action", act_of(model), seed)
    before, after = results.rows["untrained, sampled"], results.rows["trained, sampled"]
    results.rows["**trained - untrained, sampled**"] = [b - a for a, b in zip(before, after, strict=True)]
    return results


def cell(values_SE: np.ndarray) -> str:
    """Return the mean with its interval over seeds and days; over days where there are no seeds."""
    found = crossed_interval(values_SE) if len(values_SE) > 1 else t_interval(values_SE[0], unit="days")
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]" if found.known else f"{found.value:.2f} always"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", default="freight/first-steps-v0")
    parser.add_argument("--steps", type=int, default=30_720)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--days", type=int, default=200)
    options = parser.parse_args()
    torch.set_num_threads(1)
    results = measure(options.scenario, options.steps, options.seeds, options.days)
    print("| agent | reward per day | completed | completed by seed |\n|---|---|---|---|")
    for row, values in results.rows.items():
        each = np.array(values)
        by_seed = ", ".join(f"{mean:.2f}" for mean in each[..., 1].mean(1))
        print(f"| {row} | {cell(each[..., 0])} | {cell(each[..., 1])} | {by_seed} |")


if __name__ == "__main__":
    main()
