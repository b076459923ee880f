"""What an outside trainer sees: the layout of the flat observation and the Gymnasium spaces.

An observation is one float32 vector: ``[context C | status S | rows K x F | memory | under way]``. A row is all zero
where its action is not legal. A busy agent keeps the context of its last decision and has only the row of its wait;
the status block says how long it has been busy and when its own deadline comes, never when the answer will. Memory is
there by option. Under way is there in scenarios whose agents do not wait for all their calls; it counts for each
action the calls that had no answer when the agent decided last.
"""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from masim.arrays import F32
from masim.env.actions import ActionTable
from masim.env.features import ROW_F, context_size
from masim.memory.features import FEATURES

BOUND = 64.0
"""Observations are clipped to this; no feature comes near it in a bundled scenario."""
STATUS = ("ready", "left", "busy_h", "deadline_h", "day")
"""Asked now; has no more turns; hours since the last action; hours to its own deadline; share of the booking day."""


def bounded(features: F32) -> F32:
    """Clip features to the bound in place and return them; two plain operations are faster than ``clip``."""
    np.maximum(features, -BOUND, out=features)
    return np.minimum(features, BOUND, out=features)


class Layout:
    """Where the parts of an observation lie."""

    def __init__(self, table: ActionTable, memory: bool) -> None:
        self.k = len(table)
        self.f = ROW_F
        at = context_size(table)
        self.context = slice(0, at)
        self.status = slice(at, at + len(STATUS))
        self.rows = slice(self.status.stop, self.status.stop + self.k * self.f)
        self.memory = slice(self.rows.stop, self.rows.stop + (FEATURES if memory else 0))
        unheard = 0 if table.spec.turn.mode == "blocking" else self.k
        self.under_way = slice(self.memory.stop, self.memory.stop + unheard)
        self.hears = unheard > 0
        """Whether calls may be under way while an agent is asked."""
        self.size = self.under_way.stop
        self.head_size = self.rows.start + self.f
        """Context, status and the row of action 0 lie together at the beginning."""

    def empty(self) -> F32:
        """Return an observation of zeros."""
        return np.zeros(self.size, dtype=np.float32)

    def blank(self, n: int) -> F32:
        """Return n observations of zeros, (n, size), that lie one after the other."""
        return np.zeros((n, self.size), dtype=np.float32)

    def head(self, context: F32, first_row: F32) -> F32:
        """Return the beginning of an observation within the bound, its status still zero."""
        head = np.zeros(self.head_size, dtype=np.float32)
        head[self.context] = context
        head[self.rows.start :] = first_row
        return bounded(head)

    def rows_of(self, observation: F32) -> F32:
        """Return the (K, F) view of an observation's candidate rows."""
        return observation[self.rows].reshape(self.k, self.f)

    def box(self, size: int) -> spaces.Box:
        """Return the box of ``size`` clipped features."""
        return spaces.Box(-BOUND, BOUND, (size,), np.float32)

    def observation_space(self, mask_in: str, mask_size: int) -> spaces.Space[object]:
        """Return the observation space: a Dict with the mask, or the Box alone when the mask is in the info."""
        box = self.box(self.size)
        if mask_in == "info":
            return box
        return spaces.Dict({"observation": box, "action_mask": spaces.MultiBinary(mask_size)})

    def state_space(self, n_agents: int) -> spaces.Box:
        """Return the space of the global state: every agent's context and status."""
        return self.box(n_agents * self.status.stop)
