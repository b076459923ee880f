"""``masim run``: episodes of a scenario with given agents, into a run folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from masim.errors import ConfigError, HarnessError, UserError
from masim.rollout.evaluate import CampaignJob, CampaignRows, campaign_jobs, play_campaign
from masim.rollout.executors import executor, run_jobs
from masim.rollout.io import RunFolder, columns_of, new_folder
from masim.rollout.stream import PARTS
from masim.rollout.types import StepTable
from masim.scenario.load import Scenario
from masim.study.cast import Player, cast, check_fit, described

MAX_SEED = 899
"""Campaign seeds of evaluation are ``1000 seed + i``; from 900 on they belong to learning curves."""
MAX_EPISODES = 1000

Progress = Callable[[str, int, int], None]
"""``progress(what, done, total)``."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run; ``folder`` is valid and holds what was finished."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.folder = folder


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
    executor: str = "processes"
    """Where campaigns are played: a name of :data:`masim.rollout.executors.EXECUTORS`, or ``ray:ADDRESS``."""

    def __post_init__(self) -> None:
        for name, low, high in (("episodes", 1, MAX_EPISODES), ("seed", 0, MAX_SEED)):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ConfigError(f"impossible --{name}", f"--{name}", str(value), f"{low} to {high}")
        executor(self.executor, self.workers)


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


@contextmanager
def opened(path: Path, head: dict[str, Any]) -> Iterator[RunFolder]:
    """Open a run folder and close it in every case.

    Ctrl-C comes out as :class:`Interrupted`. After an error of the user's a folder without any result is removed.
    """
    try:
        with RunFolder(path, head) as folder:
            yield folder
    except KeyboardInterrupt:
        raise Interrupted(path) from None
    except UserError:
        discard_empty(path)
        raise


def discard_empty(path: Path) -> None:
    """Remove a run folder that holds nothing but ``run.json``."""
    if [item.name for item in path.iterdir()] == ["run.json"]:
        (path / "run.json").unlink()
        path.rmdir()


def run_scenario(scenario: Scenario, agents: Sequence[str], options: RunOptions, progress: Progress = silent) -> Path:
    """Run every agent on the same instances and return the run folder.

    Agents are named as :func:`masim.study.cast.cast` says. Raises ScenarioError for an unknown agent, RunError for
    an unusable folder, HarnessError when our own machinery failed, :class:`Interrupted` at Ctrl-C.
    """
    players = cast(agents)
    check_fit(players, scenario.spec)
    config = {"agents": list(agents), "episodes": options.episodes, "players": described(players)}
    head = head_of(scenario, "run", options.seed, options.command, config)
    with opened(new_folder("run", scenario.id, options.out), head) as folder:
        jobs = jobs_of(scenario, players, options, folder.path / PARTS)
        play_into(folder, jobs, options.workers, progress, options.executor)
    return folder.path


def jobs_of(scenario: Scenario, players: Sequence[Player], options: RunOptions, parts: Path) -> list[CampaignJob]:
    """Return the campaigns of every player, traced and with their steps."""
    return [
        job
        for player in players
        for job in campaign_jobs(
            scenario.spec,
            player.card,
            player.arm,
            options.episodes,
            options.seed,
            train_seed=player.train_seed,
            trace=True,
            steps=True,
            parts=parts,
        )
    ]


def play_into(
    folder: RunFolder, jobs: Sequence[CampaignJob], workers: int, progress: Progress, where: str = "processes"
) -> int:
    """Play campaigns and append their rows to the folder's tables; returns the number of decisions.

    Raises HarnessError, after the finished campaigns were kept, when a campaign could not be played.
    """
    decisions = 0
    progress("campaigns", 0, len(jobs))
    for done, (job, rows) in enumerate(zip(jobs, run_jobs(play_campaign, jobs, workers, where), strict=True), 1):
        append_rows(folder, job, rows)
        decisions += rows.decisions
        if rows.failure:
            raise HarnessError(f"{job.arm}, campaign {job.campaign_seed}: {rows.failure}")
        progress("campaigns", done, len(jobs))
    return decisions


def append_rows(folder: RunFolder, job: CampaignJob, rows: CampaignRows) -> None:
    """Append one campaign's rows to outcomes, trace and steps, and what a served model cost."""
    if rows.outcomes:
        folder.append("outcomes", columns_of(rows.outcomes))
    for part in rows.parts:
        folder.append_file("trace", part)
    if rows.trace:
        folder.append("trace", columns_of(rows.trace))
    for table in rows.steps:
        folder.append("steps", _step_columns(table, job))
    if rows.spent:
        head = {"arm": job.arm, "train_seed": job.train_seed, "campaign_seed": job.campaign_seed}
        folder.append("served", columns_of([{**head, **rows.spent}]))


def _step_columns(table: StepTable, job: CampaignJob) -> dict[str, Any]:
    n = len(table)
    names = [job.spec.agents[agent] for agent in table.agent.tolist()]
    columns: dict[str, Any] = {"arm": [job.arm] * n, "train_seed": np.full(n, job.train_seed), "agent_name": names}
    return columns | table.columns()
