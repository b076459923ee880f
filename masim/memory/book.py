"""The memories of all agents of one campaign: versions, overlays, commits, resume.

Life cycle: every rollout of a comparison group takes private overlays of one version; afterwards one rollout's
overlays are committed as the next version. Evaluation takes overlays and commits nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from masim.errors import ConfigError
from masim.memory.config import MemoryConfig
from masim.memory.fleet import merged
from masim.memory.forget.base import Truth
from masim.memory.forget.registry import check_policy
from masim.memory.graph import EMPTY, ForgetRecord, FrozenGraph, GraphDelta
from masim.memory.memory import Memory
from masim.memory.store.base import GraphStore
from masim.rng import digest64


class MemoryBook:
    """Committed memories of a campaign's agents; claims and loads them from the store when there is one.

    When the process died between two agents of a store that cannot commit them together, the book goes back to the
    newest version that all agents have. ``shared`` is read by every agent beneath its own memory, and written by none
    (:mod:`masim.memory.fleet`). Raises ConfigError for bad settings and StoreError from the store.
    """

    def __init__(
        self,
        agents: Iterable[str],
        config: MemoryConfig,
        store: GraphStore | None = None,
        campaign: str = "",
        truth: Truth | None = None,
        shared: FrozenGraph = EMPTY,
    ) -> None:
        check_policy(config.policy, truth)
        self._truth = truth
        self.agents = tuple(agents)
        self.config = config
        self.campaign = campaign
        self._store = store
        self._shared = shared
        self._views: dict[str, FrozenGraph] = {}
        self._graphs: dict[str, FrozenGraph] = dict.fromkeys(self.agents, EMPTY)
        self._digest: int | None = None
        if store is not None and self.agents:
            known = [version for a in self.agents if (version := store.claim(self._stored(a)).version)]
            self.discard_after(min(known, default=0))

    @property
    def version(self) -> int:
        """Number of commits behind the current memories."""
        return next((graph.version for graph in self._graphs.values()), 0)

    def base(self, agent: str) -> FrozenGraph:
        """Return the committed graph of an agent. Raises ConfigError for an agent that is not of this campaign."""
        if agent not in self._graphs:
            raise ConfigError("no such agent in this campaign", "memory", agent, ", ".join(self.agents))
        return self._graphs[agent]

    def overlay(self, agent: str, now_s: float) -> Memory:
        """Return a private overlay of one agent's memory."""
        return Memory(agent, self._view(agent), self.config, now_s, self._truth)

    def _view(self, agent: str) -> FrozenGraph:
        """Return what the agent reads: its own graph, over the shared one where there is one."""
        own = self.base(agent)
        if not self._shared.edges:
            return own
        if agent not in self._views:
            self._views[agent] = merged(own, self._shared, agent)
        return self._views[agent]

    def overlays(self, now_s: float) -> dict[str, Memory]:
        """Return private overlays of all agents."""
        return {agent: self.overlay(agent, now_s) for agent in self.agents}

    def commit(self, overlays: Mapping[str, Memory]) -> int:
        """Make the overlays the next version and return it; agents without an overlay keep what they had.

        The store, when there is one, has acknowledged the version before this returns. Raises ConfigError when an
        overlay was taken from another version: it would overwrite what was learned in between.
        """
        for agent, memory in overlays.items():
            if memory.version != self.base(agent).version:
                raise ConfigError(
                    "overlay of another version", agent, str(memory.version), str(self.version), "commit in order"
                )
        return self.commit_deltas({agent: memory.delta() for agent, memory in overlays.items()})

    def commit_deltas(self, deltas: Mapping[str, GraphDelta]) -> int:
        """As :meth:`commit`, from the values that overlays of the current version handed out."""
        version = self.version + 1
        batches = {agent: deltas.get(agent, GraphDelta()) for agent in self.agents}
        if self._store is not None:
            self._store.apply_all({self._stored(a): batch for a, batch in batches.items()}, version)
        self._graphs = {a: self._graphs[a].apply(batch, version) for a, batch in batches.items()}
        self._views.clear()
        self._digest = None
        return version

    def digest(self) -> int:
        """Return a 64-bit digest of everything remembered at this version; equal content gives equal digests."""
        if self._digest is None:
            rows = [(agent, *edge) for agent in sorted(self._graphs) for edge in self._graphs[agent].edges.values()]
            self._digest = digest64(*rows)
        return self._digest

    def archive(self, agent: str) -> list[ForgetRecord]:
        """Return what was closed or forgotten, oldest first; without a store only the newest of it."""
        if self._store is not None:
            return self._store.archive(self._stored(agent))
        return list(self.base(agent).archived.values())

    def emptied(self) -> MemoryBook:
        """Return a book of the same agents and settings that remembers nothing and stores nothing."""
        return MemoryBook(self.agents, self.config, None, self.campaign, self._truth)

    def detached(self) -> MemoryBook:
        """Return a copy of this version without the store, for a process that only takes overlays."""
        book = MemoryBook(self.agents, self.config, None, self.campaign, self._truth, self._shared)
        book._graphs = dict(self._graphs)
        return book

    def discard_after(self, version: int) -> None:
        """Go back to a version. Raises ConfigError when it is ahead, or behind in a book without a store."""
        if self._store is None:
            if version != self.version:
                raise ConfigError("a memory without a store cannot go back", "memory", str(version), str(self.version))
            return
        stored = [self._store.version(self._stored(agent)) for agent in self.agents]
        if version > max(stored, default=0):
            raise ConfigError("no such version of memory", "memory", str(version), f"at most {max(stored, default=0)}")
        for agent in self.agents:
            self._store.discard_after(self._stored(agent), version)
            self._graphs[agent] = replace(self._store.load(self._stored(agent)), version=version)
        self._views.clear()
        self._digest = None

    def _stored(self, agent: str) -> str:
        return f"{self.campaign}/{agent}"
