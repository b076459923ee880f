"""Observations that are alike count as one state: the similarity mode of GiGPO (arXiv 2505.10978).

Within a comparison group, in the order of rollout, agent and turn, an observation joins the first earlier cluster
whose first member it resembles, or begins one. Resemblance is the cosine of feature vectors. The cost is one product
per decision and cluster, so it is for groups with few distinct states.
"""

from __future__ import annotations

import numpy as np

from masim.arrays import F32, U64
from masim.errors import ConfigError
from masim.rollout.types import StepTable

THRESHOLD = 0.95


def similar_keys(table: StepTable, vectors_NC: F32, threshold: float = THRESHOLD) -> U64:
    """Return (N,) cluster numbers, from 0 in each comparison group.

    Raises ConfigError for vectors that do not fit the table and a threshold outside (0, 1].
    """
    if len(vectors_NC) != len(table):
        raise ConfigError("vectors do not fit the table", "vectors", str(len(vectors_NC)), str(len(table)))
    if not 0 < threshold <= 1:
        raise ConfigError("out of range", "threshold", str(threshold), "0 < threshold <= 1")
    length = np.linalg.norm(vectors_NC, axis=1, keepdims=True)
    unit = (vectors_NC / np.maximum(length, 1e-12)).astype(np.float64)
    keys = np.zeros(len(table), np.uint64)
    order = np.lexsort((table.turn, table.agent, table.rollout_id, table.group_id))
    firsts: list[int] = []
    group = None
    for row in order.tolist():
        if table.group_id[row] != group:
            group, firsts = table.group_id[row], []
        alike = unit[firsts] @ unit[row] >= threshold if firsts else np.zeros(0, bool)
        if not alike.any():
            firsts.append(row)
            keys[row] = len(firsts) - 1
        else:
            keys[row] = int(np.argmax(alike))
    return keys
