"""Everything that crosses the seam between acting and learning: frozen values, no machinery.

Axes: N steps (decisions), M candidate rows of all steps together, F features per candidate row, C context features
per step, E episodes. One *sample* is (rollout, agent). Rows are ordered by (group_id, rollout_id, agent, turn).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from masim.arrays import F32, F64, I64, U64, Bool
from masim.outcome import OrderOutcome

Column = npt.NDArray[Any]
COLLECT, ACT = 1, 2
"""Values of the column ``mode``: whether a decision was asked for information or for an act; 0: not marked."""


@dataclass(frozen=True, slots=True)
class StepTable:
    """One row per decision, the only thing estimators see. Every column has shape (N,)."""

    scenario_seed: I64
    """Campaign seed of the instance."""
    day: I64
    reset_digest: U64
    """Digest of the instance at reset, memory versions included; members of a comparison group share it."""
    group_id: I64
    """Comparison group: all rollouts of one scenario instance."""
    rollout_id: I64
    """Unique over the table (not only inside its group)."""
    agent: I64
    """Index into ``agent_names`` of the batch."""
    role: I64
    turn: I64
    """0, 1, ... within the sample (rollout, agent)."""
    event_id: I64
    """Decisions of one rollout at the same simulated instant share it; unique over the table."""
    event_time_s: F64
    reason: I64
    mode: I64
    """:data:`COLLECT`, :data:`ACT` or 0; known before the choice."""
    kind: I64
    """Decision kind, known before the choice: which kinds of calls are legal, one bit per verb."""
    order: I64
    vendor: I64
    endpoint: I64
    action_id: I64
    """Index into the scenario's fixed action table."""
    action_row: I64
    """Position of the chosen call among the legal candidates of its step (what log-probabilities index)."""
    logp: F64
    """Log-probability under the policy that acted."""
    subtask_end: Bool
    obs_key_exact: U64
    obs_key: U64
    next_obs_key_exact: U64
    next_obs_key: U64
    memory_key: U64
    memory_version: I64
    policy_version: I64
    r_out: F64
    """Outcome channel, booked where ``credit_at`` says."""
    r_pen: F64
    """Penalty channel."""
    terminated: Bool
    truncated: Bool
    valid: Bool
    """False for rows that are no decisions of a live agent; they never count."""
    masked: Bool
    """True for rows of a rollout whose harness failed; they leave statistics and loss."""

    # Optional columns: None until somebody fills them; what needs one says so.
    n_tokens: I64 | None = None
    """Tokens of the decision, where a language model wrote it."""
    span: I64 | None = None
    """Kind of the token span that this row is (reasoning, tool call), where a row is a span and no whole decision."""
    value: F64 | None = None
    """What a critic expected at this decision."""
    counterfactual: F64 | None = None
    """Return of the team with this agent replaced by the reference policy under the same noise; one value a sample."""
    calls_ok: I64 | None = None
    """API calls of the agent that were answered with success (code 2xx) between this decision and its next one."""
    outcome: F64 | None = None
    """The outcome channel as it came, where a reward design has put something else into ``r_out``."""
    obs_similar: U64 | None = None
    """Key shared by observations that are alike (:mod:`masim.learn.similar`)."""
    preference: F64 | None = None
    """What a reward model of people's judgements pays, at the last decision of each unit; 0 elsewhere."""

    def __len__(self) -> int:
        return len(self.turn)

    def columns(self) -> dict[str, Column]:
        """Return the columns that are there, by name."""
        present = ((f.name, getattr(self, f.name)) for f in fields(self))
        return {name: column for name, column in present if column is not None}

    def take(self, rows: I64 | Bool) -> StepTable:
        """Return the table of the chosen rows, in their order."""
        return StepTable(**{name: column[rows] for name, column in self.columns().items()})


@dataclass(frozen=True, slots=True)
class PolicyInputs:
    """What the policy saw, ragged over candidates: enough to recompute log-probabilities."""

    rows_MF: F32
    offsets: I64
    """(N+1,): the candidates of step n are ``rows_MF[offsets[n]:offsets[n+1]]``."""
    context_NC: F32

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: I64 | Bool) -> PolicyInputs:
        """Return the inputs of the chosen steps, in their order."""
        begins, lengths = self.offsets[:-1][rows], np.diff(self.offsets)[rows]
        offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        candidates = np.repeat(begins - offsets[:-1], lengths) + np.arange(offsets[-1])
        return PolicyInputs(self.rows_MF[candidates], offsets, self.context_NC[rows])


@dataclass(frozen=True, slots=True)
class Episode:
    """Summary of one rollout."""

    scenario: str
    campaign_seed: int
    day: int
    rollout_id: int
    orders: tuple[OrderOutcome, ...]
    decisions: Mapping[str, int]
    calls: int
    sim_end_s: float
    harness_failure: str = ""


@dataclass(frozen=True, slots=True)
class Landings:
    """Rewards that land later than what earned them. Axis: L landings, in any order.

    Rollouts give one for each order that an agent owned at the reset, 1 iff it met the scenario's demand; one for the
    outcome of all together where an agent owned none.
    """

    rollout_id: I64
    agent: I64
    request_turn: I64
    """Turn of the decision whose call it answers."""
    landing_turn: I64
    """Turn of the last decision before it landed."""
    amount: F64

    def __len__(self) -> int:
        return len(self.amount)

    def take(self, which: I64 | Bool) -> Landings:
        """Return the chosen landings, in their order."""
        return Landings(*(getattr(self, f.name)[which] for f in fields(self)))


Feedback = Callable[[int, str, float], None]
"""``feedback(rollout_id, agent, unit_return)``: raw outcome of a unit, on its way to that agent's memory."""


@dataclass(frozen=True, slots=True)
class RolloutBatch:
    """Whole comparison groups, ready to learn from."""

    table: StepTable
    inputs: PolicyInputs
    episodes: tuple[Episode, ...]
    agent_names: tuple[str, ...]
    feedback: Feedback
    landings: Landings | None = None
    """What landed since the last batch, late results of rollouts in earlier ones included; None: nobody keeps them."""


Collect = Callable[[int, int], RolloutBatch]
"""``collect(draw, policy_version)``: the trainer's only view of the world. ``draw`` counts the calls over
the whole training; what a draw plays is a function of that number and the policy, so that a run can be resumed."""
