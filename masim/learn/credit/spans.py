"""Token spans: a language model's decision is several spans (reasoning, a tool call), and each is a unit of its own.

A table of spans has one row per span (:func:`by_span`). All spans of a rollout share its score; what they do not share
is the ratio: with ``ratio: sequence`` each span is clipped by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from masim.arrays import F64, I64
from masim.errors import ConfigError
from masim.learn.credit.base import Units, live_rows, samples_of
from masim.learn.reduce import cell_first, dense
from masim.rollout.types import StepTable


@dataclass(frozen=True, slots=True)
class Spans:
    """The spans of all decisions of a table, ragged. Axes: N decisions, P spans."""

    offsets: I64
    """(N+1,): the spans of decision n are ``offsets[n]:offsets[n+1]``."""
    kind_P: I64
    n_tokens_P: I64
    logp_P: F64
    """Sum over the span's tokens under the policy that acted."""


@dataclass(frozen=True, slots=True)
class TokenSpanUnit:
    """One token span of one decision. Needs a table of spans."""

    team: ClassVar[bool] = False
    per_sample: ClassVar[bool] = False
    starts: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("span", "n_tokens")

    def __call__(self, table: StepTable) -> Units:
        """Return one unit per row, scored by (rollout, agent). Raises ConfigError for a table without spans."""
        if table.span is None or table.n_tokens is None:
            fix = "make a table of spans first: masim.learn.credit.spans.by_span"
            raise ConfigError("a table without token spans", "span, n_tokens", "", "", fix)
        live = live_rows(table)
        samples = samples_of(table, live)
        unit, n = dense(samples.of_N, table.turn)
        return Units(live, unit, n, samples, samples, np.arange(len(samples)))


def by_span(table: StepTable, spans: Spans) -> StepTable:
    """Return the table with one row per span, in order; ``turn`` counts the spans of a sample.

    Rewards, the end of a subtask and the end of the sample belong to the last span of their decision; what the first
    spans lead to is the decision's own observation. Raises ConfigError when the spans do not fit the table.
    """
    lengths = np.diff(spans.offsets)
    if len(lengths) != len(table) or spans.offsets[-1] != len(spans.kind_P) or np.any(lengths < 1):
        value = f"{len(lengths)} decisions, {len(spans.kind_P)} spans"
        raise ConfigError("spans do not fit the table", "spans", value, f"{len(table)} decisions, each with a span")
    rows = np.repeat(np.arange(len(table)), lengths)
    last = np.zeros(len(rows), bool)
    last[spans.offsets[1:] - 1] = True
    whole = table.take(rows)
    sample = dense(whole.rollout_id, whole.agent)[0]
    order = np.lexsort((np.arange(len(rows)), whole.turn, sample))
    starts = cell_first(sample[order], np.arange(len(rows)))
    turn = np.empty(len(rows), np.int64)
    turn[order] = np.arange(len(rows)) - starts[sample[order]]
    return replace(
        whole, turn=turn, span=spans.kind_P, n_tokens=spans.n_tokens_P, logp=spans.logp_P,
        r_out=np.where(last, whole.r_out, 0.0), r_pen=np.where(last, whole.r_pen, 0.0),
        subtask_end=whole.subtask_end & last, terminated=whole.terminated & last, truncated=whole.truncated & last,
        next_obs_key=np.where(last, whole.next_obs_key, whole.obs_key),
        next_obs_key_exact=np.where(last, whole.next_obs_key_exact, whole.obs_key_exact),
    )  # fmt: skip
