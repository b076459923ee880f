"""GraphGPO (arXiv 2605.26684): how near a decision brought its rollout to success, on the map its group drew.

All transitions of a comparison group make one graph of states. The distance of a state is the length of the shortest
way from it to ``success``, the place where the last decision of every successful sample leads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from masim.arrays import F64, I64, U64
from masim.errors import ConfigError
from masim.learn.advantages.base import Frame
from masim.learn.advantages.gigpo import Anchor
from masim.learn.advantages.grpo import Grpo
from masim.learn.advantages.norm import Norm, check_norm, normalised
from masim.learn.discount import check_discount
from masim.learn.reduce import dense, group_stats, last_rows

STATE_AFTER = {"canonical": ("obs_key", "next_obs_key"), "exact": ("obs_key_exact", "next_obs_key_exact")}
"""Columns of the state before and after a decision; what the memory shows after one is not in the table."""


@dataclass(frozen=True, slots=True)
class Graphgpo:
    """``A = A_E + w * A_S``; the return of a decision is ``peak * gamma ** d``, d the distance of what followed it.

    From where no way leads to success it is 0, so a group in which all failed says nothing. ``A_S`` compares these
    returns within the same state, as GiGPO does. Raises ConfigError on values out of range.
    """

    w: float = 1.0
    gamma: float = 0.95
    peak: float = 10.0
    anchor: Anchor = "canonical"
    norm: Norm = "std"
    ddof: int = 1
    eps: float = 1e-6
    compares: ClassVar[bool] = True
    per_step: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_discount(self.gamma, None)
        check_norm(self.norm, self.ddof, self.eps)
        for name in ("w", "peak"):
            if getattr(self, name) < 0:
                raise ConfigError("out of range", name, str(getattr(self, name)), ">= 0")
        if self.anchor not in STATE_AFTER:
            raise ConfigError("no graph on these states", "anchor", repr(self.anchor), ", ".join(STATE_AFTER))

    def __call__(self, frame: Frame) -> F64:
        """Return (N,) advantages."""
        start, distance = self.distances(frame)
        gain = np.where(np.isfinite(distance), self.peak * self.gamma ** np.minimum(distance, 1e9), 0.0)
        step = normalised(group_stats(gain, start), self.norm, self.ddof, self.eps)
        return Grpo(self.norm, self.ddof, self.eps)(frame) + self.w * frame.scatter(step)

    def distances(self, frame: Frame) -> tuple[I64, F64]:
        """Return the state of each live decision and the distance of what followed it (inf: no way)."""
        before, after = (getattr(frame.table, name)[frame.rows] for name in STATE_AFTER[self.anchor])
        start, end, n = _nodes(frame, before, after)
        last = last_rows(frame.sample, frame.table.turn[frame.rows])
        reached = last[frame.units.samples.out[frame.sample[last]] > 0]
        to_goal = np.full(len(start), np.inf)
        to_goal[reached] = 0.0
        distance = _from_goal(start, end, start[reached], n)
        return start, np.minimum(to_goal, distance[end])


def _nodes(frame: Frame, before: U64, after: U64) -> tuple[I64, I64, int]:
    key = frame.key_I[frame.sample]
    node, n = dense(np.concatenate((key, key)), np.concatenate((before, after)))
    return node[: len(key)], node[len(key) :], n


def _from_goal(start: I64, end: I64, nearest: I64, n: int) -> F64:
    """Return (n,) steps from each node to success; ``nearest`` are the nodes one step away from it.

    Breadth first, against the direction of the edges, in all groups at once.
    """
    order = np.argsort(end, kind="stable")
    sources, offsets = start[order], np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(end, minlength=n))))
    distance = np.full(n, np.inf)
    frontier, steps = np.unique(nearest), 1.0
    while len(frontier):
        distance[frontier] = steps
        counts = offsets[frontier + 1] - offsets[frontier]
        begin = np.repeat(offsets[frontier] - np.cumsum(counts) + counts, counts)
        found = sources[begin + np.arange(len(begin))]
        frontier, steps = np.unique(found[np.isinf(distance[found])]), steps + 1.0
    return distance
