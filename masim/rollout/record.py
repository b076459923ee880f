"""Turns what happened in a group's rollouts into the step table and the policy's inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

import numpy as np

from masim.arrays import F32
from masim.env.actions import ActionTable
from masim.env.asked import asks_for_act
from masim.env.decision import Decision, Heard
from masim.env.features import ROW_F, context_size
from masim.policy.base import Choice
from masim.rollout.types import ACT, COLLECT, PolicyInputs, StepTable
from masim.sim.spec import Verb
from masim.sim.wire import Answer

_VERBS = tuple(Verb)
_DTYPES = {
    "F64": np.float64,
    "I64": np.int64,
    "U64": np.uint64,
    "Bool": np.bool_,
}
COLUMN_TYPES = {f.name: np.dtype(_DTYPES[str(f.type)]) for f in fields(StepTable) if f.default is MISSING}
_FILLED = {**COLUMN_TYPES, "calls_ok": np.dtype(np.int64)}
"""Columns that rollouts fill: those that every table has, and one that is optional for others."""


@dataclass(slots=True)
class StepRecord:
    """One decision as it was taken; keys of what followed are filled in when it is known."""

    values: dict[str, int | float | bool]
    rows: F32
    context: F32
    t_s: float


@dataclass(slots=True)
class SampleRecord:
    """All decisions of one sample (rollout, agent), in order."""

    rollout_id: int
    agent: int
    name: str = ""
    role: int = 0
    """Index into the scenario's roles; 0 where all agents are alike."""
    steps: list[StepRecord] = field(default_factory=list)
    parts_done: int = 0
    """Parts of the agent's orders that were done before its last decision."""

    def add(self, decision: Decision, choice: Choice, event_id: int) -> None:
        """Append a decision and close the one before it with the key that it led to."""
        key, exact = decision.obs_key(), decision.obs_key_exact()
        self.close(key, exact, decision.view.subtasks_done(), decision.heard)
        taken = max(choice.action, 0)  # an illegal one counts as the wait for a message
        action = decision.table.actions[taken]
        values: dict[str, int | float | bool] = {
            "turn": decision.turn,
            "event_id": event_id,
            "event_time_s": decision.t_s,
            "reason": int(decision.reason),
            "mode": ACT if asks_for_act(decision.view, decision.table, decision.legal, decision.t_s) else COLLECT,
            "kind": int(np.bitwise_or.reduce(decision.table.verb_bits[decision.legal])),
            "order": action.order,
            "vendor": action.vendor,
            "endpoint": _VERBS.index(decision.table.verb[taken]),
            "action_id": taken,
            "action_row": choice.row,
            "logp": choice.logp,
            "obs_key": key,
            "obs_key_exact": exact,
            "memory_key": decision.memory_key(),
        }
        rows, context = choice.seen or (decision.rows, decision.context)
        self.steps.append(StepRecord(values, rows, context, decision.t_s))

    @property
    def asked(self) -> bool:
        """Whether the agent made any decision."""
        return any(step.values.get("valid", True) for step in self.steps)

    def close(self, key: int, exact: int, parts_done: int, heard: Sequence[Heard]) -> None:
        """Write onto the last step, if it is open yet, what followed: key, parts done, and calls that went well."""
        if self.steps:
            values = self.steps[-1].values
            values.setdefault("next_obs_key", key)
            values.setdefault("next_obs_key_exact", exact)
            values.setdefault("subtask_end", parts_done > self.parts_done)
            values.setdefault("calls_ok", sum(isinstance(h, Answer) and _ok(h, self.name) for h in heard))
        self.parts_done = parts_done

    def reward(self, outcome: float, penalties: Sequence[float], at_request: bool) -> None:
        """Book the outcome at the last decision (landing) or at the last dispatch (request), and the penalties."""
        for step, penalty in zip(self.steps, penalties, strict=True):
            step.values["r_pen"] = penalty
        at = len(self.steps) - 1
        if at_request:
            dispatch = _VERBS.index(Verb.DISPATCH)
            sent = [i for i, step in enumerate(self.steps) if step.values["endpoint"] == dispatch]
            at = sent[-1] if sent else at
        self.steps[at].values["r_out"] = outcome
        self.steps[-1].values["terminated"] = True


def _ok(answer: Answer, agent: str) -> bool:
    """Return whether a call of this agent's was answered with success."""
    return answer.agent == agent and 200 <= answer.body.code < 300


def unasked(table: ActionTable, outcome: float, penalty: float) -> StepRecord:
    """Return a row that is no decision, for what landed for an agent that was never asked.

    It is not valid, so it stays out of statistics and losses; its one candidate is a wait that says nothing.
    """
    rows = np.zeros((1, ROW_F), np.float32)
    values: dict[str, int | float | bool] = {
        "event_id": 0,
        "order": -1,
        "vendor": -1,
        "endpoint": _VERBS.index(Verb.WAIT),
        "r_out": outcome,
        "r_pen": penalty,
        "valid": False,
        "terminated": True,
    }
    return StepRecord(values, rows, np.zeros(context_size(table), np.float32), 0.0)


def build_table(samples: Sequence[SampleRecord], common: Sequence[dict[str, int | float | bool]]) -> StepTable:
    """Return the table of all samples; ``common[i]`` holds the columns that are constant over sample ``i``."""
    n = sum(len(sample.steps) for sample in samples)
    columns: dict[str, Any] = {name: np.zeros(n, dtype=dtype) for name, dtype in _FILLED.items()}
    at = 0
    for sample, constant in zip(samples, common, strict=True):
        size = len(sample.steps)
        span = slice(at, at + size)
        columns["rollout_id"][span] = sample.rollout_id
        columns["agent"][span] = sample.agent
        columns["role"][span] = sample.role
        for name, value in constant.items():
            columns[name][span] = value
        for i, step in enumerate(sample.steps):
            for name, value in step.values.items():
                columns[name][at + i] = value
        at += size
    return StepTable(**columns)


def build_inputs(samples: Sequence[SampleRecord]) -> PolicyInputs:
    """Return the ragged policy inputs in the table's row order."""
    steps = [step for sample in samples for step in sample.steps]
    if not steps:
        return PolicyInputs(np.zeros((0, 0), np.float32), np.zeros(1, np.int64), np.zeros((0, 0), np.float32))
    counts = np.array([len(step.rows) for step in steps], dtype=np.int64)
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    rows, contexts = _as_wide([s.rows for s in steps]), _as_wide([s.context for s in steps])
    return PolicyInputs(np.concatenate(rows), offsets, np.stack(contexts))


def _as_wide(arrays: list[F32]) -> list[F32]:
    """Return arrays of one last axis: rows that are no decision do not know what else their policy sees."""
    wide = max(array.shape[-1] for array in arrays)
    return [
        array if array.shape[-1] == wide else np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, wide - array.shape[-1])])
        for array in arrays
    ]
