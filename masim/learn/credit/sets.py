"""Sets of agents: those who decide together share one advantage, the outcome of what they were to do together.

A set succeeds iff every one of its agents does: its return is the smallest return of its agents. Its units inherit
that, so statistics count each set once per rollout, however many events it had (shared credit, arXiv 2508.04652).
Which agents make up a set is the same in all rollouts of an instance, or there would be nothing to compare.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from masim.arrays import I64
from masim.errors import ConfigError
from masim.learn.credit.base import Units, cells_of, live_rows, samples_of
from masim.learn.reduce import cell_first, cell_min, dense
from masim.rollout.types import StepTable


def set_units(table: StepTable, part_N: I64, moment_N: I64) -> Units:
    """Return one unit per (rollout, set, moment), scored by (rollout, set).

    ``part_N`` names the set of each decision's agent, ``moment_N`` what was decided together.
    """
    live = live_rows(table)
    by_agent = samples_of(table, live)
    cell, n = dense(table.rollout_id, part_N)
    unit, n_units = dense(cell, moment_N)
    owner = cell[by_agent.first]
    out = cell_min(by_agent.out[by_agent.live], owner[by_agent.live], n)
    team = cells_of(table, live, cell, n, out, part=part_N[cell_first(cell, table.turn)])
    return Units(live, unit, n_units, team, team, np.arange(n))


@dataclass(frozen=True, slots=True)
class AgentSetUnit:
    """All agents that decide in one event. Raises ConfigError for members other than "all"."""

    members: Literal["all"] = "all"
    team: ClassVar[bool] = True
    per_sample: ClassVar[bool] = False
    starts: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.members != "all":
            fix = "other sets have names of their own: role_set, vendor_set, window_set"
            raise ConfigError("unknown agent set", "members", repr(self.members), "all", fix)

    def __call__(self, table: StepTable) -> Units:
        """Return one unit per (rollout, event)."""
        return set_units(table, np.zeros(len(table), np.int64), table.event_id)


@dataclass(frozen=True, slots=True)
class RoleSetUnit:
    """The agents of one role that decide in one event; each role is compared with itself."""

    team: ClassVar[bool] = True
    per_sample: ClassVar[bool] = False
    starts: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def __call__(self, table: StepTable) -> Units:
        """Return one unit per (rollout, role, event)."""
        return set_units(table, table.role, table.event_id)


@dataclass(frozen=True, slots=True)
class VendorSetUnit:
    """Agents that share vendors, and therefore their capacity and their limits, deciding in one event.

    Two agents are in one set when they called the same vendor in any live rollout of their comparison group, or when
    a chain of such pairs joins them. An agent that called nobody is a set by itself.
    """

    team: ClassVar[bool] = True
    per_sample: ClassVar[bool] = False
    starts: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def __call__(self, table: StepTable) -> Units:
        """Return one unit per (rollout, component, event)."""
        return set_units(table, components(table), table.event_id)


@dataclass(frozen=True, slots=True)
class WindowSetUnit:
    """All agents that decide in one window of ``window_s`` simulated seconds. Raises ConfigError unless it is > 0."""

    window_s: float = 60.0
    team: ClassVar[bool] = True
    per_sample: ClassVar[bool] = False
    starts: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.window_s <= 0:
            raise ConfigError("out of range", "window_s", str(self.window_s), "> 0 simulated seconds")

    def __call__(self, table: StepTable) -> Units:
        """Return one unit per (rollout, window)."""
        window = np.floor(table.event_time_s / self.window_s).astype(np.int64)
        return set_units(table, np.zeros(len(table), np.int64), window)


def components(table: StepTable) -> I64:
    """Return (N,) the smallest agent of each decision's component, per comparison group."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    agent, n_agents = dense(table.group_id, table.agent)
    calls = live_rows(table) & (table.vendor >= 0)
    vendor, n_vendors = dense(table.group_id[calls], table.vendor[calls])
    size = n_agents + n_vendors
    links = coo_array((np.ones(len(vendor), np.int8), (agent[calls], n_agents + vendor)), shape=(size, size))
    label = connected_components(links, directed=False)[1][:n_agents]
    smallest = np.full(size, np.iinfo(np.int64).max)
    np.minimum.at(smallest, label[agent], table.agent)
    return smallest[label[agent]]
