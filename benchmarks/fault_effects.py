"""Prints what every kind of fault does to a workflow, as Markdown.

Usage: ``python benchmarks/fault_effects.py [--seeds 40] [--first-seed 0] [--family NAME ...] [--only NAME ...]``.
Examples of settings are in ``benchmarks/fault_examples/FAMILY.yaml``: by name a fault without its ``id``, and where it
needs them ``besides`` (faults of both arms), ``set`` (overrides of the scenario) and ``agent`` (a card other than the
naive one). A kind without an example strikes always.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import yaml

from masim.analysis.stats import Estimate
from masim.policy.card import load_card
from masim.sim.faults.registry import FAULTS
from masim.study.fault_effects import MEASURES, Arm, Example, compare, play_arm

SCENARIO = "freight/short-chain-v0"
CALM = {"profiles.apis": "apis-calm-v0"}
EXAMPLES = Path(__file__).parent / "fault_examples"


def examples(families: list[str]) -> Iterator[Example]:
    """Yield every example, family by family, and every kind that has none."""
    for family in dict.fromkeys(kind.family for kind in FAULTS.values()):
        if families and family not in families:
            continue
        path = EXAMPLES / f"{family}.yaml"
        named = yaml.safe_load(path.read_text("utf-8")) if path.exists() else {}
        yield from (Example.of(name, fault, CALM) for name, fault in named.items())
        shown = {fault["kind"] for fault in named.values()}
        own = [name for name, kind in FAULTS.items() if kind.family == family and name not in shown]
        yield from (Example.of(name, {"kind": name}, CALM) for name in own)


def cell(without: float, difference: Estimate) -> str:
    """Return ``0.69 **-0.39 [-0.53, -0.25]**``: without the fault, the difference, bold where it excludes 0."""
    if not difference.known:
        return f"{without:.2f} {difference.value:+.2f}"
    text = f"{difference.value:+.2f} [{difference.low:+.2f}, {difference.high:+.2f}]"
    return f"{without:.2f} {text}" if difference.includes_zero else f"{without:.2f} **{text}**"


def row(shown: Example, without: Arm, struck: Arm) -> str:
    """Return one row of the table."""
    kind = shown.fault["kind"]
    label = f"`{kind}`" + (f" {shown.name.removeprefix(kind).replace('_', ' ').strip()}" if shown.name != kind else "")
    label += f", {shown.agent} agent" if shown.agent != "naive" else ""
    effect = compare(without, struck)
    cells = " | ".join(cell(without.mean(name), effect[name]) for name in MEASURES)
    return f"| {label} | {FAULTS[kind].family} | {struck.strikes:.1f} | {cells} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--family", nargs="*", default=[])
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    seeds, arms = range(options.first_seed, options.first_seed + options.seeds), {}
    print(f"{SCENARIO}, calm APIs, naive workflow where no other is named, n = {options.seeds} days,")
    print(f"campaign seeds {seeds[0]} to {seeds[-1]}.\n")
    print("| fault | family | strikes a day | " + " | ".join(f"{m}, {unit}" for m, unit in MEASURES.items()) + " |")
    print("|---|---|---|" + "---|" * len(MEASURES))
    for shown in examples(options.family):
        if options.only and shown.name not in options.only:
            continue
        card = load_card(shown.agent)
        base = (shown.spec(SCENARIO, struck=False), card.name)
        if base not in arms:
            arms[base] = play_arm(base[0], seeds, card)
        print(row(shown, arms[base], play_arm(shown.spec(SCENARIO, struck=True), seeds, card)), flush=True)


if __name__ == "__main__":
    main()
