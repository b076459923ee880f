"""What common random numbers buy on a scenario: variance of A - B on independent seeds over that on the same seeds.

Usage: ``python benchmarks/crn.py freight/twelve-apis-v0 naive scripted --pairs 400 --workers 1``. Prints one Markdown
table; brackets are 95% bootstrap intervals over pairs. Fixed seeds: it prints the same each time.
"""

from __future__ import annotations

import argparse

from masim.policy.card import load_card
from masim.scenario.load import load_scenario
from masim.testing.crn import paired_variance


def main() -> None:
    """Play the pairs and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario")
    parser.add_argument("a")
    parser.add_argument("b")
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    scenario = load_scenario(options.scenario)
    cards = load_card(options.a), load_card(options.b)
    rows = paired_variance(scenario.spec, *cards, options.pairs, options.seed, options.workers)
    print(f"{scenario.id}, hash {scenario.hash[:12]}, {options.a} - {options.b}, {options.pairs} pairs\n")
    print("| metric | mean A - B | Var, independent seeds | Var, same seeds | ratio |\n|---|---|---|---|---|")
    for r in rows:
        ratio = f"{r.ratio:.2f} [{r.low:.2f}, {r.high:.2f}]"
        print(f"| {r.metric} | {r.difference:.3f} | {r.independent:.4g} | {r.same:.4g} | {ratio} |")


if __name__ == "__main__":
    main()
