"""Comparison keys: which scores are compared with each other.

A baseline is valid only over scores that answer the same question. The default, ``group_agent``, compares rollouts of
the same instance and the same agent: different agents own different orders, so their outcomes answer different
questions, and a pooled mean would punish the success of an agent whose task is hard (agent-wise normalisation, arXiv
2602.08847).

A key is a tuple of columns that are known before the choice. Some say *who* is compared and hold for whole samples;
the others say *where* a score begins, and read its first decision. Segments are split by their index unless the key
says where they begin. A key that depends on what was chosen would compare an action only with itself and remove the
signal; it is refused. A new named key is one line in :data:`KEYS`.
"""

from __future__ import annotations

import numpy as np

from masim.arrays import I64, Bool
from masim.errors import ConfigError, did_you_mean
from masim.learn.credit.base import Cells
from masim.learn.reduce import cell_first, dense
from masim.rollout.types import StepTable

KEYS: dict[str, tuple[str, ...]] = {
    "group_agent": ("group_id", "agent"),
    "group_role": ("group_id", "role"),
    "group": ("group_id",),
    "group_pooled_roles": ("group_id",),
    "group_role_kind": ("group_id", "role", "kind"),
    "turn_agent": ("group_id", "agent", "turn"),
    "anchor": ("group_id", "agent", "obs_key"),
    "anchor_exact": ("group_id", "agent", "obs_key_exact"),
    "memory_view": ("group_id", "agent", "obs_key", "memory_key"),
    "segment_mode": ("group_id", "agent", "segment", "mode"),
    "mode_anchor": ("group_id", "agent", "mode", "obs_key"),
}
"""``group`` pools the agents of an instance and is refused when they have several roles; ``group_pooled_roles`` is
the same key for those who want exactly that."""

WHO = {"group_id": "group", "agent": "agent", "role": "role"}
"""Columns that hold for a whole sample, and their name on a score."""
WHERE = ("obs_key", "obs_key_exact", "memory_key", "memory_version", "turn", "mode", "kind", "reason", "segment")
"""Columns of a score's first decision."""

ANCHORS: dict[str, tuple[str, ...]] = {
    "canonical": ("obs_key",),
    "exact": ("obs_key_exact",),
    "memory": ("obs_key", "memory_key"),
    "similar": ("obs_similar",),
}
"""What step-wise estimators call the same state. ``memory`` is for policies that act on a memory: the same observation
with another view of the memory is another state."""

ACTION_COLUMNS = frozenset({
    "action_id", "action_row", "logp", "order", "vendor", "endpoint", "subtask_end", "next_obs_key",
    "next_obs_key_exact", "r_out", "r_pen", "terminated", "truncated", "n_tokens", "span", "counterfactual",
})  # fmt: skip
_SAME_INSTANCE = ("scenario_seed", "day", "reset_digest")


def key_columns(key: str) -> tuple[str, ...]:
    """Return the columns of a key, given by name or as columns joined by commas (``"group_id,role"``).

    Raises ConfigError on unknown names, on a key that depends on the action, or that would compare different
    instances.
    """
    if key in KEYS:
        return KEYS[key]
    columns = tuple(part.strip() for part in key.split(","))
    for column in columns:
        _check_column(column)
    if "group_id" not in columns:
        fix = "add group_id: only rollouts of one instance can be compared"
        raise ConfigError("the comparison key mixes different instances", "compare", repr(key), "", fix)
    return columns


def _check_column(column: str) -> None:
    allowed = ", ".join([*KEYS, *WHO, *WHERE])
    if column in ACTION_COLUMNS:
        fix = "use columns that are known before the choice"
        raise ConfigError("the comparison key depends on the action", "compare", repr(column), allowed, fix)
    if column not in WHO and column not in WHERE:
        fix = did_you_mean(column, [*KEYS, *WHO, *WHERE])
        raise ConfigError("unknown comparison key", "compare", repr(column), allowed, fix)


def anchor_columns(anchor: str) -> tuple[str, ...]:
    """Return the columns of a state. Raises ConfigError on an unknown name."""
    if anchor not in ANCHORS:
        raise ConfigError("unknown anchor", "anchor", repr(anchor), ", ".join(ANCHORS), did_you_mean(anchor, ANCHORS))
    return ANCHORS[anchor]


def optional_columns(anchor: str) -> tuple[str, ...]:
    """Return those columns of a state that a table may lack."""
    return tuple(column for column in ANCHORS[anchor] if column == "obs_similar")


def sample_keys(samples: Cells, key: str) -> I64:
    """Return (I,) dense comparison ids of samples. Raises ConfigError as :func:`key_columns`, and on pooled roles."""
    columns = [column for column in key_columns(key) if column in WHO]
    if key != "group_pooled_roles" and not {"agent", "role"} & set(columns):
        _check_one_role(samples)
    ids, _ = dense(*(getattr(samples, WHO[column]) for column in columns), samples.part)
    return ids


def score_keys(table: StepTable, key: str, sample_key_I: I64, sample_S: I64, scores: Cells) -> I64:
    """Return (S,) dense comparison ids of scores: those of their samples, split by where the scores begin."""
    where = [column for column in key_columns(key) if column in WHERE] or ["segment"]
    begins = (scores.segment if column == "segment" else getattr(table, column)[scores.first] for column in where)
    ids, _ = dense(sample_key_I[sample_S], *begins)
    return ids


def _check_one_role(samples: Cells) -> None:
    group, n = dense(samples.group[samples.live])
    pairs, _ = dense(group, samples.role[samples.live])
    per_group = np.bincount(group[cell_first(pairs, group)], minlength=n) if n else np.zeros(0)
    if np.any(per_group > 1):
        fix = "use group_agent, or ask for group_pooled_roles by name"
        raise ConfigError("the comparison pools agents of different roles", "compare", "group", "", fix)


def check_same_instance(table: StepTable, live_N: Bool) -> None:
    """Raise ConfigError when live members of a comparison group do not share seed, day and reset digest."""
    rows = np.flatnonzero(live_N)
    group, _ = dense(table.group_id[rows])
    first = cell_first(group, group)
    for name in _SAME_INSTANCE:
        value = getattr(table, name)[rows]
        differs = value != value[first][group]
        if differs.any():
            bad = group[np.flatnonzero(differs)].min()
            where = f"group_id {int(table.group_id[rows][first[bad]])}"
            seen = ", ".join(map(str, np.unique(value[group == bad])[:4]))
            fix = "reset every rollout of a group to the same instance and the same memories"
            raise ConfigError(f"rollouts of one comparison group differ in {name}", where, seen, "one value", fix)
