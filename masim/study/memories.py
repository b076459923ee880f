"""Stored memories as people look at them: which store, whose graph, and what a sweep would make of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from masim.errors import RunError, StoreError, did_you_mean
from masim.memory.config import MemoryConfig
from masim.memory.forget.registry import check_policy
from masim.memory.forget.sweep import sweep
from masim.memory.graph import Edge, EdgeKey, FrozenGraph, ProfileGraph
from masim.memory.store.base import GraphStore
from masim.memory.store.registry import open_store
from masim.memory.update import effective_weight
from masim.study.training import STORE_FILE
from masim.units import DAY


@dataclass(frozen=True, slots=True)
class Look:
    """One graph as it is stored, and after a sweep some days later."""

    agent: str
    version: int
    seen_s: float
    """The last event that the graph knows: when it is looked at before the sweep."""
    swept_s: float
    before: tuple[Edge, ...]
    after: tuple[Edge, ...]
    forgotten: dict[EdgeKey, str]
    """Which rule would remove the edge."""
    config: MemoryConfig

    def weight(self, edge: Edge, swept: bool = False) -> float:
        """Return the decayed weight of an edge, as stored or at the time of the sweep."""
        return effective_weight(edge, self.swept_s if swept else self.seen_s, self.config)

    def rows(self) -> list[dict[str, Any]]:
        """Return the edges, heaviest first, with age in days and what the sweep does."""
        found: list[dict[str, Any]] = [
            {
                "source": edge.src, "relation": edge.rel, "target": edge.dst,
                "weight": self.weight(edge), "weight_after": self.weight(edge, swept=True),
                "age_days": max(0.0, self.seen_s - edge.last_s) / DAY,
                "successes": edge.successes, "failures": edge.failures, "episodes": edge.episodes,
                "forgotten_by": self.forgotten.get(edge.key, ""),
            }
            for edge in self.before
        ]  # fmt: skip
        ordered = sorted(found, key=lambda row: (row["source"], row["relation"], row["target"]))
        return sorted(ordered, key=lambda row: -float(row["weight"]))


def look(store: GraphStore, agent: str, days: float, policy: str) -> Look:
    """Read a graph and sweep a copy of it ``days`` after its last event. Raises ConfigError, StoreError."""
    check_policy(policy)
    config = replace(MemoryConfig(), policy=policy)
    base: FrozenGraph = store.load(agent)
    seen_s = max((edge.last_s for edge in base.edges.values()), default=0.0)
    swept_s = seen_s + days * DAY
    copy = ProfileGraph(base)
    report = sweep(copy, swept_s, config)
    forgotten = {record.edge.key: record.rule for record in report.forgotten}
    edges = tuple(base.edges.values())
    return Look(agent, base.version, seen_s, swept_s, edges, tuple(sorted(copy)), forgotten, config)


def stores_of(folder: Path) -> dict[str, Path]:
    """Return the stores of a run by job (``ARM-sSEED``). Raises RunError when it stored no memory."""
    found = {file.parent.name: file for file in sorted(folder.glob(f"checkpoints/*/{STORE_FILE}"))}
    if not found:
        fix = "`masim train` and `masim demo` store memories; evaluations keep theirs to themselves"
        raise RunError("this run stored no memory", str(folder), "", "", fix)
    return found


def store_of(folder: Path, arm: str) -> Path:
    """Return the store of one job of a run, the first one's by default. Raises RunError with the nearest name."""
    found = stores_of(folder)
    if arm and arm not in found:
        matching = [job for job in found if job.startswith(f"{arm}-s")]
        if not matching:
            raise RunError("no such arm in this run", "--arm", arm, ", ".join(found), did_you_mean(arm, found))
        arm = matching[0]
    return found[arm or next(iter(found))]


def open_existing(address: str) -> GraphStore:
    """Open a store to read it; never makes a file. Raises StoreError when there is none."""
    if "://" not in address and not Path(address).is_file():
        raise StoreError(
            "there is no such memory store", address, "", "", "name a file, or an address like redis://..."
        )
    return open_store(address)


def pick_agent(store: GraphStore, name: str) -> str:
    """Return a stored agent by its full id or the part after its campaign; of several, the most experienced.

    Of equally experienced ones it is the last by name. Without a name it is the most experienced of all. Raises
    StoreError with the nearest name.
    """
    known = store.agents()
    if name in known:
        return name
    matching = [agent for agent in known if not name or agent.rpartition("/")[2] == name]
    if not matching:
        short = sorted({agent.rpartition("/")[2] for agent in known})
        shown = ", ".join(short[:12]) or "none: the store is empty"
        raise StoreError("no such agent in this store", "--agent", name, shown, did_you_mean(name, [*short, *known]))
    return max(matching, key=lambda agent: (store.version(agent), agent))
