"""Calibration of a scenario: what reference agents reach on it, and the bound that nobody can beat.

Usage: ``python benchmarks/calibrate.py freight/twelve-apis-v0 --episodes 200 --workers 2``. Prints one Markdown table;
rates with 95% intervals that treat a campaign as one observation.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from masim.analysis.stats import cluster_rate
from masim.env.actions import ActionTable
from masim.env.core import Session
from masim.env.session_options import SessionOptions
from masim.policy.base import Ask
from masim.policy.card import load_card
from masim.policy.scripted import RandomPolicy
from masim.rng import Noise
from masim.rollout.evaluate import campaign_jobs, play_campaign
from masim.rollout.executors import run_jobs
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance
from masim.study.bound import completion_bound

AGENTS = ("null", "random", "scorer", "naive", "scripted")


def legal_counts(spec, instances: int) -> list[int]:
    """Return the numbers of legal candidates that a random agent meets."""
    table, policy, counts = ActionTable(spec), RandomPolicy(), []
    for seed in range(instances):
        session = Session(spec, Instance(seed, 0), options=SessionOptions(trace=False), table=table)
        noise = Noise(seed, "calibration")
        while batch := session.advance():
            counts += [len(decision.legal) for decision in batch]
            for decision, choice in zip(batch, policy.choose([Ask(d, noise) for d in batch]), strict=True):
                session.submit(decision.agent, choice.action)
    return counts


def main() -> None:
    """Run the calibration and print it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario")
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    scenario = load_scenario(options.scenario)
    spec = scenario.spec
    print(f"{scenario.id}, hash {scenario.hash[:12]}, {options.episodes} episodes per agent, seed {options.seed}\n")
    print("| agent | completion | safe completion | decisions per agent |\n|---|---|---|---|")
    for name in AGENTS:
        jobs = list(campaign_jobs(spec, load_card(name), name, options.episodes, options.seed))
        rows = [row for part in run_jobs(play_campaign, jobs, options.workers) for row in part.outcomes]
        frame = pd.DataFrame(rows)
        cells = [_rate(frame, column) for column in ("completed", "safe")]
        print(f"| {name} | {cells[0]} | {cells[1]} | {frame['decisions'].mean():.1f} |", flush=True)
        if name == "scorer":
            rate = frame["completed"].mean()
            print(f"| (all-failed share of 8 untrained rollouts, (1-p)^8) | {(1 - rate) ** 8:.2f} | | |")
    campaigns = -(-options.episodes // spec.campaign_days)
    instances = [Instance(1000 * options.seed + c, d) for c in range(campaigns) for d in range(spec.campaign_days)]
    print(f"| upper bound | {completion_bound(spec, instances):.3f} | | |")
    counts = legal_counts(spec, 4)
    print(f"\nlegal candidates per decision: median {np.median(counts):.0f}, least {min(counts)}, most {max(counts)}")


def _rate(frame: pd.DataFrame, column: str) -> str:
    campaigns = frame.groupby("campaign_seed")[column]
    estimate = cluster_rate(campaigns.sum().to_numpy(float), campaigns.count().to_numpy(float), unit="campaigns")
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


if __name__ == "__main__":
    main()
