"""Plays whole campaigns with one agent card and returns rows for the run's tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from masim.env.actions import ActionTable
from masim.memory.book import MemoryBook
from masim.policy.base import Policy, spent_by
from masim.policy.build import build_policy
from masim.policy.card import AgentCard
from masim.rng import digest64
from masim.rollout.executors import stop_asked
from masim.rollout.group import GroupTask, Rollout, close_day, play_group
from masim.rollout.record import build_table
from masim.rollout.stream import TraceStream
from masim.rollout.types import StepTable
from masim.sim.spec import Instance, WorldSpec
from masim.sim.trace import Trace


@dataclass(frozen=True, slots=True)
class CampaignJob:
    """One campaign to play: its days in order, memories carried over from day to day or emptied every morning."""

    spec: WorldSpec
    card: AgentCard
    arm: str
    campaign_seed: int
    days: int
    first_episode: int
    namespace: str = "eval"
    keep_memory: bool = True
    policy_seed: int = 0
    train_seed: int = -1
    trace: bool = False
    steps: bool = False
    parts: Path | None = None
    """Folder for the chunks of a trace that is too long for memory; None keeps all of it."""


@dataclass(slots=True)
class CampaignRows:
    """What a campaign leaves: rows per order, trace rows and steps, ready for parquet."""

    outcomes: list[dict[str, Any]] = field(default_factory=list)
    parts: list[Path] = field(default_factory=list)
    """Files with the first rows of a long trace; ``trace`` holds what comes after them."""
    trace: list[dict[str, Any]] = field(default_factory=list)
    steps: list[StepTable] = field(default_factory=list)
    decisions: int = 0
    spent: dict[str, float] = field(default_factory=dict)
    """What was asked of a model's server and what it cost; empty for everybody else."""
    failure: str = ""


def play_campaign(job: CampaignJob) -> CampaignRows:
    """Play one campaign; the unit of work of ``run``, ``eval`` and ``demo``."""
    table = ActionTable(job.spec)
    weights_seed = job.policy_seed if job.train_seed < 0 else job.train_seed
    return play_days(job, build_policy(job.card, table, weights_seed), table)


def play_days(job: CampaignJob, policy: Policy, table: ActionTable) -> CampaignRows:
    """Play the days of a campaign with a policy that exists already."""
    book = MemoryBook(job.spec.agents, job.card.memory)
    rows = CampaignRows()
    stream = TraceStream(job.parts, f"{digest64(job.arm):016x}-s{job.train_seed}-c{job.campaign_seed}")
    for day in range(job.days):
        if stop_asked():
            rows.failure = "stopped on request"
            break
        head = _head(job, day)
        trace = stream.trace(head) if job.trace else False
        rollout = _play_day(job, policy, table, book, day, trace)
        _collect(job, rows, rollout, head)
        if rollout.failure:
            rows.failure = rollout.failure
            break
        stream.add(head, rollout.trace)
        if job.keep_memory:
            for agent, value in rollout.outcomes.items():
                rollout.memories[agent].feedback(value, rollout.episode.sim_end_s)
            close_day(rollout)
            book.commit(rollout.memories)
    rows.parts, rows.trace = stream.parts, stream.rest()
    rows.spent = spent_by(policy)
    return rows


def _head(job: CampaignJob, day: int) -> dict[str, str | int]:
    return {
        "arm": job.arm,
        "train_seed": job.train_seed,
        "episode": job.first_episode + day,
        "campaign_seed": job.campaign_seed,
        "day": day,
    }


def _play_day(
    job: CampaignJob, policy: Policy, table: ActionTable, book: MemoryBook, day: int, trace: bool | Trace
) -> Rollout:
    instance = Instance(job.campaign_seed, day, job.namespace)
    card = job.card
    task = GroupTask(job.spec, instance, 1, 0, job.policy_seed, record=job.steps, trace=trace, client=card.client)
    return play_group(task, policy, book, table)[0]


def _collect(job: CampaignJob, rows: CampaignRows, rollout: Rollout, head: Mapping[str, str | int]) -> None:
    rows.decisions += sum(rollout.episode.decisions.values())
    if rollout.failure:
        return
    counts = _counts(rollout)
    for order in rollout.orders:
        rows.outcomes.append({**head, **asdict(order), **counts[order.agent]})
    if job.steps:
        common: dict[str, int | float | bool] = {
            "scenario_seed": job.campaign_seed,
            "day": rollout.instance.day,
            "reset_digest": rollout.reset_digest,
            "group_id": int(head["episode"]),
            "valid": True,
        }
        samples = list(rollout.samples.values())
        rows.steps.append(build_table(samples, [common] * len(samples)))


def _counts(rollout: Rollout) -> dict[str, dict[str, int]]:
    """Return decisions and calls of each agent that owned an order at the reset.

    What agents without an order of their own did is counted with the first owner's, so that sums over a day are whole.
    """
    made = {"decisions": rollout.episode.decisions, "calls": rollout.calls}
    owners = list(dict.fromkeys(order.agent for order in rollout.orders))
    counts = {agent: {name: of.get(agent, 0) for name, of in made.items()} for agent in owners}
    for name, of in made.items():
        counts[owners[0]][name] += sum(n for agent, n in of.items() if agent not in counts)
    return counts


def campaign_jobs(
    spec: WorldSpec, card: AgentCard, arm: str, episodes: int, seed: int, **options: Any
) -> Iterable[CampaignJob]:
    """Split ``episodes`` days into campaigns; campaign ``i`` of root seed ``s`` has the seed ``1000 s + i``."""
    done = 0
    index = 0
    while done < episodes:
        days = min(spec.campaign_days, episodes - done)
        yield CampaignJob(spec, card, arm, 1000 * seed + index, days, done, policy_seed=seed, **options)
        done += days
        index += 1
