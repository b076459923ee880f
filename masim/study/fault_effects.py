"""What a fault does to a workflow: the same days played with and without it, compared pair by pair.

Both arms meet the same instances under the same seeds, so a difference is the fault's. Four measures are compared for
every fault, so their intervals are Bonferroni's: together they hold with 95%.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from masim.analysis.stats import Estimate, paired_difference
from masim.policy.card import AgentCard, load_card
from masim.rollout.evaluate import CampaignJob, CampaignRows, play_campaign
from masim.scenario.load import load_scenario
from masim.sim.spec import WorldSpec
from masim.units import DAY, HOUR

MEASURES: Mapping[str, str] = {
    "completion": "share of orders",
    "safe completion": "share of orders",
    "cost": "USD per order",
    "time": "hours per agent",
}
"""Name and unit; time is from the start of the day to an agent's last decision."""
LEVEL = 1.0 - 0.05 / len(MEASURES)
FAULT_ID = "studied"
_ACTIVE = ("decision", "answer")

Values = dict[str, dict[int, float]]
"""Measure to campaign seed to its value on that day."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to play all seeds."""

    values: Values
    strikes: float
    """Of the studied fault, per day."""

    def mean(self, measure: str) -> float:
        """Return a measure's mean over the days."""
        return sum(self.values[measure].values()) / len(self.values[measure])


@dataclass(frozen=True, slots=True)
class Example:
    """A fault to study: its description without ``id``, what else the scenario has, and what is set in it."""

    name: str
    fault: Mapping[str, Any]
    besides: Sequence[Mapping[str, Any]] = ()
    """Faults that are there in both arms, before the studied one."""
    overrides: Mapping[str, str] = field(default_factory=dict)
    agent: str = "naive"
    """Whose days: some faults are met by careful agents alone."""

    @classmethod
    def of(cls, name: str, doc: Mapping[str, Any], overrides: Mapping[str, str]) -> Example:
        """Return an example as a file describes it: a fault, and if need be ``besides``, ``set`` and ``agent``."""
        own = {key: value for key, value in doc.items() if key not in ("besides", "set", "agent")}
        besides, agent = tuple(doc.get("besides", ())), doc.get("agent", "naive")
        return cls(name, own, besides, {**overrides, **doc.get("set", {})}, agent)

    def spec(self, scenario: str, *, struck: bool) -> WorldSpec:
        """Return the world with or without the fault. Raises ScenarioError for a fault that does not fit."""
        faults = [*self.besides, *([{"id": FAULT_ID, **self.fault}] if struck else [])]
        return load_scenario(scenario, {**self.overrides, "faults": json.dumps(faults)}).spec


def play_arm(spec: WorldSpec, seeds: Sequence[int], card: AgentCard | None = None) -> Arm:
    """Play the first day of one campaign per seed; the agent is the naive workflow unless told otherwise."""
    card = card or load_card("naive")
    values: Values = {name: {} for name in MEASURES}
    strikes = 0
    for i, seed in enumerate(seeds):
        rows = play_campaign(CampaignJob(spec, card, card.name, seed, 1, i, trace=True))
        for name, value in _measured(spec, rows).items():
            values[name][seed] = value
        strikes += sum(f":{FAULT_ID}#" in row["cause_id"] for row in rows.trace if row["event"] == "fault")
    return Arm(values, strikes / len(seeds))


def _measured(spec: WorldSpec, rows: CampaignRows) -> dict[str, float]:
    orders = rows.outcomes
    last: dict[str, float] = {}
    for row in rows.trace:
        if row["event"] in _ACTIVE:
            last[row["agent"]] = row["t_s"] % DAY - spec.day_start_s
    return {
        "completion": sum(o["completed"] for o in orders) / len(orders),
        "safe completion": sum(o["safe"] for o in orders) / len(orders),
        "cost": sum(o["cost_cents"] for o in orders) / len(orders) / 100,
        "time": sum(last.values()) / len(last) / HOUR,
    }


def compare(without: Arm, with_fault: Arm) -> dict[str, Estimate]:
    """Return for every measure the mean difference, with the fault minus without it."""
    return {name: paired_difference(with_fault.values[name], without.values[name], LEVEL) for name in MEASURES}


def moved(effect: Mapping[str, Estimate]) -> list[str]:
    """Return the measures whose interval excludes 0."""
    return [name for name, difference in effect.items() if not difference.includes_zero]
