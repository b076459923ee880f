"""The rollout buffer: whole comparison groups, collected until there are enough credit units."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from masim.arrays import I64
from masim.errors import RunError
from masim.learn.credit_units import RolloutUnit, UnitRule
from masim.learn.reduce import dense
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


def fill(collect: Collect, draw: int, policy_version: int, rule: UnitRule, want_units: int) -> Buffer:
    """Collect until at least ``want_units`` live units are there, and hand outcomes back to the agents' memories.

    ``collect`` is called with a running number (``draw``, ``draw + 1``, ...), so a collector that is a function of
    its arguments never repeats itself inside an update. Raises RunError when collections stay empty.
    """
    batches: list[RolloutBatch] = []
    units = empty = 0
    while units < want_units:
        batch = collect(draw + len(batches), policy_version)
        give_feedback(batch)
        found = len(rule(batch.table).live_units())
        batches.append(batch)
        units += found
        empty = 0 if found else empty + 1
        if empty == MAX_EMPTY:
            reasons = sorted({e.harness_failure for b in batches for e in b.episodes if e.harness_failure})
            raise RunError(f"{MAX_EMPTY} collections without a usable rollout", "collect", "; ".join(reasons))
    return join(batches)


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
    columns = {f.name: np.concatenate([getattr(t, f.name) for t in tables]) for f in fields(StepTable)}
    inputs = _join_inputs([batch.inputs for batch in batches])
    return Buffer(StepTable(**columns), inputs, names, sum(len(b.episodes) for b in batches), len(batches))


def _join_inputs(parts: list[PolicyInputs]) -> PolicyInputs:
    parts = [part for part in parts if len(part)]  # a group that failed before its first decision knows no F and C
    lengths: I64 = np.concatenate([np.diff(part.offsets) for part in parts])
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    rows = np.concatenate([part.rows_MF for part in parts])
    return PolicyInputs(rows, offsets, np.concatenate([part.context_NC for part in parts]))
