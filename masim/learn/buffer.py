"""The rollout buffer: whole comparison groups, collected until there are enough credit units."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from masim.arrays import I64
from masim.errors import RunError
from masim.learn.advantages.filters import kept_by_filters
from masim.learn.completion import complete_rows
from masim.learn.config import LearnerConfig
from masim.learn.credit.rollout import RolloutUnit
from masim.learn.reduce import cell_any, dense
from masim.learn.rewards.arrivals import Arrivals
from masim.rollout.types import Collect, PolicyInputs, RolloutBatch, StepTable

MAX_EMPTY = 3
"""Collections in a row without one live unit before the trainer gives up."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """What one update learns from."""

    table: StepTable
    inputs: PolicyInputs
    agent_names: tuple[str, ...]
    episodes: int
    draws: int
    """Calls of ``collect``."""
    stale: int = 0
    """Comparison groups left out because their policy was too old."""
    late: int = 0
    """Results that came after their group was closed, and were booked to nobody."""


def fill(collect: Collect, draw: int, policy_version: int, config: LearnerConfig) -> Buffer:
    """Collect until at least ``config.buffer_units`` units are there, and hand outcomes back to the agents' memories.

    ``collect`` is called with a running number (``draw``, ``draw + 1``, ...), so a collector that is a function of
    its arguments never repeats itself inside an update. Units of groups that are not scored do not count: what the
    harness broke is drawn again without end, what a filter leaves out at most ``config.resample`` times.
    Raises RunError when collections stay empty, and as :func:`~masim.learn.completion.complete_rows`.
    """
    arrivals = Arrivals(config)
    batches = arrivals.batches
    units = empty = spare = stale = 0
    while units < config.buffer_units:
        batch = collect(draw + len(batches), policy_version)
        give_feedback(batch)
        batch, old = fresh(batch, policy_version, config)
        stale += old
        found, told = _count(arrivals.take(batch).table, config)
        empty = 0 if found else empty + 1
        if found > told and spare < config.resample:
            spare += 1
            found = told
        units += found
        if empty == MAX_EMPTY:
            reasons = sorted({e.harness_failure for b in batches for e in b.episodes if e.harness_failure})
            reasons += [f"{stale} groups older than max_staleness {config.max_staleness}"] if stale else []
            raise RunError(f"{MAX_EMPTY} collections without a usable rollout", "collect", "; ".join(reasons))
    return replace(join(batches), stale=stale, late=arrivals.late)


def fresh(batch: RolloutBatch, policy_version: int, config: LearnerConfig) -> tuple[RolloutBatch, int]:
    """Return a batch without the groups whose policy is more than ``max_staleness`` updates old, and their number.

    A group is as old as its oldest decision. Raises RunError where such groups are to be refused.
    """
    table = batch.table
    if config.max_staleness is None or not len(table):
        return batch, 0
    group, n = dense(table.group_id)
    old = cell_any(policy_version - table.policy_version > config.max_staleness, group, n)
    if not old.any():
        return batch, 0
    if config.stale == "refuse":
        value = f"{int((policy_version - table.policy_version).max())} updates"
        fix = "let the collector wait for the new policy, or set stale: drop"
        raise RunError("a group was played by too old a policy", "collect", value, str(config.max_staleness), fix)
    rows = np.flatnonzero(~old[group])
    landed = batch.landings
    if landed is not None:
        landed = landed.take(~np.isin(landed.rollout_id, table.rollout_id[old[group]]))
    return replace(batch, table=table.take(rows), inputs=batch.inputs.take(rows), landings=landed), int(old.sum())


def _count(table: StepTable, config: LearnerConfig) -> tuple[int, int]:
    """Return how many live units of complete groups a batch has, and how many of them pass the filters."""
    units = config.unit(table)
    live = units.live_N & complete_rows(table, config.completion, config.min_group)
    found = int(cell_any(live, units.unit_N, units.n_units).sum())
    if not config.resample or not found:
        return found, found
    live &= kept_by_filters(table, config)
    return found, int(cell_any(live, units.unit_N, units.n_units).sum())


def give_feedback(batch: RolloutBatch) -> None:
    """Call ``batch.feedback`` once for every (rollout, agent) with its raw outcome return.

    Order: group, rollout, agent. Rollouts whose harness failed have no outcome and are skipped.
    """
    samples = RolloutUnit()(batch.table).samples
    for i in np.lexsort((samples.agent, samples.rollout, samples.group)):
        if samples.live[i]:
            batch.feedback(int(samples.rollout[i]), batch.agent_names[samples.agent[i]], float(samples.out[i]))


def join(batches: list[RolloutBatch]) -> Buffer:
    """Return the batches as one; group, rollout and event ids are renumbered so that none of them meet."""
    names = tuple(dict.fromkeys(name for batch in batches for name in batch.agent_names))
    tables: list[StepTable] = []
    groups = rollouts = events = 0
    for batch in batches:
        table = batch.table
        (group, n_groups), (rollout, n_rollouts), (event, n_events) = map(
            dense, (table.group_id, table.rollout_id, table.event_id)
        )
        agent = np.array([names.index(name) for name in batch.agent_names], np.int64)[table.agent]
        group, rollout, event = group + groups, rollout + rollouts, event + events
        tables.append(replace(table, group_id=group, rollout_id=rollout, event_id=event, agent=agent))
        groups, rollouts, events = groups + n_groups, rollouts + n_rollouts, events + n_events
    present = {name for table in tables for name in table.columns()}
    columns = {name: np.concatenate([table.columns()[name] for table in tables]) for name in present}
    inputs = _join_inputs([batch.inputs for batch in batches])
    return Buffer(StepTable(**columns), inputs, names, sum(len(b.episodes) for b in batches), len(batches))


def _join_inputs(parts: list[PolicyInputs]) -> PolicyInputs:
    parts = [part for part in parts if len(part)]  # a group that failed before its first decision knows no F and C
    lengths: I64 = np.concatenate([np.diff(part.offsets) for part in parts])
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    rows = np.concatenate([part.rows_MF for part in parts])
    return PolicyInputs(rows, offsets, np.concatenate([part.context_NC for part in parts]))
