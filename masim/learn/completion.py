"""What becomes of a comparison group when the harness failed for some of its rollouts.

* ``minimum``: the rollouts that are left are compared, if there are at least ``min_group`` of them;
* ``retry``: the group is given up as a whole, and another is drawn in its place;
* ``fail_fast``: the update stops at once with an error; for runs in which no failure is acceptable.

A failed rollout is never scored as 0: it is out of the statistics and out of the loss whatever the policy.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from masim.arrays import Bool
from masim.errors import RunError
from masim.learn.credit.base import live_rows
from masim.learn.reduce import cell_any, cell_first, dense
from masim.rollout.types import StepTable

Completion = Literal["minimum", "retry", "fail_fast"]


def complete_rows(table: StepTable, completion: Completion, min_group: int) -> Bool:
    """Return (N,) which rows belong to a group that is scored. Raises RunError when a failure must stop the update."""
    live = live_rows(table)
    group, n = dense(table.group_id)
    failed = cell_any(table.masked, group, n)
    if completion == "fail_fast" and failed.any():
        value = ", ".join(map(str, np.unique(table.group_id[failed[group]])[:4]))
        fix = "look at the failure of the episode; completion: minimum goes on without it"
        raise RunError("the harness failed for a rollout", "group_id", value, "", fix)
    rollout, n_rollouts = dense(table.rollout_id)
    of_rollout = group[cell_first(rollout, rollout)]
    members = np.bincount(of_rollout, cell_any(live, rollout, n_rollouts), n)
    kept = members >= min_group
    if completion == "retry":
        kept &= ~failed
    return kept[group]
