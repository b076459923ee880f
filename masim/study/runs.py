"""``masim run``: episodes of a scenario with given agents, into a run folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from masim.errors import ConfigError, HarnessError
from masim.policy.card import AgentCard, load_card
from masim.rollout.evaluate import CampaignJob, CampaignRows, campaign_jobs, play_campaign
from masim.rollout.executor import run_jobs
from masim.rollout.io import RunFolder, columns_of, new_folder
from masim.rollout.types import StepTable
from masim.scenario.load import Scenario

MAX_SEED = 999
"""Campaign seeds of evaluation are ``1000 seed + i`` and must stay below those of training."""
MAX_EPISODES = 1000

Progress = Callable[[str, int, int], None]
"""``progress(what, done, total)``."""


def silent(what: str, done: int, total: int) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How much to run. Raises ConfigError on impossible values."""

    episodes: int = 8
    seed: int = 0
    workers: int = 1
    out: Path | None = None
    command: str = ""

    def __post_init__(self) -> None:
        for name, high in (("episodes", MAX_EPISODES), ("seed", MAX_SEED)):
            value, low = getattr(self, name), 1 if name == "episodes" else 0
            if not low <= value <= high:
                raise ConfigError(f"impossible --{name}", "", str(value), f"{low} to {high}")


def head_of(scenario: Scenario, kind: str, seed: int, command: str, config: dict[str, Any]) -> dict[str, Any]:
    """Return the part of ``run.json`` that is known before a run starts."""
    return {
        "kind": kind,
        "scenario": scenario.id,
        "scenario_hash": scenario.hash,
        "title": scenario.title,
        "seed": seed,
        "command": command,
        "config": config,
        "sources": [list(source) for source in scenario.sources],
    }


def run_scenario(
    scenario: Scenario, agents: Sequence[str], options: RunOptions, progress: Progress = silent
) -> Path:
    """Run every agent on the same instances and return the run folder.

    Raises ScenarioError for an unknown agent, RunError for an unusable folder, HarnessError when our own machinery
    failed. Ctrl-C closes a valid folder with status ``interrupted`` and is raised again.
    """
    cards = {name: load_card(name) for name in dict.fromkeys(agents)}
    jobs = [job for name, card in cards.items() for job in _jobs(scenario, name, card, options)]
    config = {"agents": list(cards), "episodes": options.episodes}
    head = head_of(scenario, "run", options.seed, options.command, config)
    with RunFolder(new_folder("run", scenario.id, options.out), head) as folder:
        play_into(folder, jobs, options.workers, progress)
    return folder.path


def _jobs(scenario: Scenario, name: str, card: AgentCard, options: RunOptions) -> Iterable[CampaignJob]:
    arm = card.name if card.name else name
    return campaign_jobs(scenario.spec, card, arm, options.episodes, options.seed, trace=True, steps=True)


def play_into(folder: RunFolder, jobs: Sequence[CampaignJob], workers: int, progress: Progress) -> int:
    """Play campaigns and append their rows to the folder's tables; returns the number of decisions.

    Raises HarnessError, after the finished campaigns were kept, when a campaign could not be played.
    """
    decisions = 0
    progress("campaigns", 0, len(jobs))
    for done, (job, rows) in enumerate(zip(jobs, run_jobs(play_campaign, jobs, workers), strict=True), 1):
        append_rows(folder, job, rows)
        decisions += rows.decisions
        if rows.failure:
            raise HarnessError(f"{job.arm}, campaign {job.campaign_seed}: {rows.failure}")
        progress("campaigns", done, len(jobs))
    return decisions


def append_rows(folder: RunFolder, job: CampaignJob, rows: CampaignRows) -> None:
    """Append one campaign's rows to outcomes, trace and steps."""
    if rows.outcomes:
        folder.append("outcomes", columns_of(rows.outcomes))
    if rows.trace:
        folder.append("trace", columns_of(rows.trace))
    for table in rows.steps:
        folder.append("steps", _step_columns(table, job))


def _step_columns(table: StepTable, job: CampaignJob) -> dict[str, Any]:
    n = len(table)
    columns: dict[str, Any] = {"arm": [job.arm] * n, "train_seed": np.full(n, job.train_seed)}
    return columns | {f.name: getattr(table, f.name) for f in fields(StepTable)}
