"""Replications: what is repeated, under which seed, and what is kept of one.

A replication is one campaign under a seed of its own: an episode where campaigns have one day, else all its days,
which share hidden facts and memories. Orders, agents and days inside one are correlated, so a replication is the unit
of every interval. Of each only its sums are kept, a row of integers.

Replication ``i`` of root seed ``s`` has the campaign seed ``1,000,000 s + i`` in the noise namespace ``stress``. So it
is the same day for every agent and with every number of replications, and no day of a training or an evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from masim.analysis.metrics import METRICS, sample_table
from masim.env.actions import ActionTable
from masim.policy.build import build_policy
from masim.policy.card import AgentCard
from masim.rollout.evaluate import CampaignJob, play_days
from masim.sim.spec import WorldSpec

BATCH = 50
"""Replications of one job. It never depends on the workers, so neither do the bytes."""
MAX_REPLICATIONS = 1_000_000
"""Seeds that belong to one root seed."""
NAMESPACE = "stress"
SUMS = tuple(dict.fromkeys(column for m in METRICS.values() for column in (m.top, m.bottom)))
"""The columns that every metric is a ratio of."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Replications ``first`` to ``first + count - 1`` of one agent."""

    spec: WorldSpec
    card: AgentCard
    arm: str
    train_seed: int
    seed: int
    first: int
    count: int

    def campaign(self, number: int) -> CampaignJob:
        """Return the campaign of one replication."""
        seed, days = MAX_REPLICATIONS * self.seed + number, self.spec.campaign_days
        return CampaignJob(
            self.spec, self.card, self.arm, seed, days, 0, NAMESPACE, policy_seed=self.seed, train_seed=self.train_seed
        )


@dataclass(frozen=True, slots=True)
class Played:
    """What a batch leaves: ``replication, campaign_seed`` and :data:`SUMS` per replication, or why it failed."""

    rows: pd.DataFrame
    failure: str = ""


def play_batch(batch: Batch) -> Played:
    """Play the replications of a batch, each with empty memories at its start and one policy for all."""
    table = ActionTable(batch.spec)
    policy = build_policy(batch.card, table, batch.seed if batch.train_seed < 0 else batch.train_seed)
    outcomes, failure = [], ""
    for number in range(batch.first, batch.first + batch.count):
        rows = play_days(batch.campaign(number), policy, table)
        if rows.failure:
            failure = f"replication {number}: {rows.failure}"
            break
        outcomes += rows.outcomes
    return Played(sums(pd.DataFrame(outcomes), batch) if outcomes else pd.DataFrame(), failure)


def sums(outcomes: pd.DataFrame, batch: Batch) -> pd.DataFrame:
    """Return one row per replication of what the outcomes of a batch add up to."""
    # Days of different campaigns have equal episode numbers; the campaign seed makes them different samples.
    first = MAX_REPLICATIONS * batch.seed
    episode = (outcomes["campaign_seed"] - first) * batch.spec.campaign_days + outcomes["day"]
    samples = sample_table(outcomes.assign(episode=episode))
    rows = samples.groupby("campaign_seed", sort=True)[list(SUMS)].sum().astype("int64").reset_index()
    rows.insert(0, "replication", rows["campaign_seed"] - first)
    return rows


def batches(
    spec: WorldSpec, card: AgentCard, arm: str, train_seed: int, seed: int, replications: int
) -> Iterator[Batch]:
    """Split replications into batches, in order."""
    for first in range(0, replications, BATCH):
        yield Batch(spec, card, arm, train_seed, seed, first, min(BATCH, replications - first))
