"""The default: credit that came with outcomes protects, what nothing speaks for goes."""

from __future__ import annotations

import numpy as np

from masim.arrays import Bool
from masim.memory.forget.base import Snapshot, Verdict

CLAUSES = ("invalidated", "ttl", "uncorroborated", "score", "share")


def recommended(snapshot: Snapshot) -> list[Verdict]:
    """Apply the default rule.

    An edge goes when it is past its grace, unpinned, outside the success window, and: invalidated, or over its time
    to live, or uncorroborated (one episode, no success, idle for more than an episode), or weak (score < theta), or
    marginal at both of its ends. Edges with a time to live leave by it alone: an incident must last its days.
    """
    loose = _loose(snapshot)
    if not loose.any():
        return []
    columns, now_s, config = snapshot.columns, snapshot.now_s, snapshot.config
    idle = now_s - columns.last_s
    mortal = np.isfinite(columns.ttl_s)
    faults = [
        columns.invalid_at_s <= now_s,
        idle > columns.ttl_s,
        ~mortal & (columns.episodes <= 1) & (columns.successes <= 0.0) & (idle > config.episode_s),
        ~mortal & (columns.score(now_s) < config.theta),
    ]
    rest = loose & ~mortal & ~np.logical_or.reduce(faults)
    faults.append(_marginal(snapshot) if rest.any() else rest)
    clause = np.select(faults, range(len(CLAUSES)), -1)
    doomed = loose & (clause >= 0) & ~(mortal & (clause > 1))
    return [snapshot.verdict(snapshot.edges[i], CLAUSES[clause[i]]) for i in doomed.nonzero()[0].tolist()]


def _loose(snapshot: Snapshot) -> Bool:
    """Return the edges that the rule may touch: not pinned, in their grace, or a success in its window."""
    columns, now_s, config = snapshot.columns, snapshot.now_s, snapshot.config
    grown = now_s - columns.first_s > config.grace_s
    recent = (columns.successes > 0.0) & (now_s - columns.last_s <= config.success_window_s)
    return np.asarray(~columns.pin & grown & ~(recent & (columns.invalid_at_s > now_s)))


def _marginal(snapshot: Snapshot) -> Bool:
    """Return the edges dwarfed at both ends: a small share, yet not one of many equals with small shares all."""
    columns, share = snapshot.columns, snapshot.config.share
    w = columns.weight(snapshot.now_s)
    found = np.ones(len(w), dtype=np.bool_)
    for ends in (columns.src, columns.dst):
        found &= (w < share * columns.total_at(ends, w)) & (w < 0.5 * columns.most_at(ends, w))
    return found
