"""A Redis cache in front of a durable store: hot graphs are read from memory, and nothing depends on it.

Written is the durable store first, then the cache. Read is the cache only if its stamp is the durable store's, so a
cache that was away, went back in time or was filled by somebody else is a miss and never an old memory. When Redis does
not answer, the durable store alone goes on (:attr:`RedisCache.degraded` and the log say so), and Redis is tried again
every :data:`RETRY_S` seconds.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from masim.errors import StoreError
from masim.memory.graph import ARCHIVE_IN_MEMORY, Edge, EdgeKey, ForgetRecord, FrozenGraph, GraphDelta
from masim.memory.store.base import GraphStore, Head
from masim.memory.store.codec import read_edge, read_record, write_edge, write_record
from masim.memory.store.connect import address, driver, guarded, once, option, shown
from masim.memory.store.registry import open_store
from masim.memory.store.temporal import agent_id

RETRY_S = 1.0
"""Wall-clock seconds between two tries of a Redis that does not answer."""
TIMEOUT_S = 0.5
HEAD = "head"
_APPLY = """
if redis.call('HGET', KEYS[1], 'head') ~= ARGV[1] then return redis.call('DEL', KEYS[1], KEYS[2]) end
redis.call('HDEL', KEYS[1], 'head')
local at = 4
for i = 1, ARGV[3] do redis.call('HDEL', KEYS[1], ARGV[at]) at = at + 1 end
local edges = ARGV[at]
at = at + 1
for i = 1, edges do redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) at = at + 2 end
for i = at, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[i]) end
if at <= #ARGV then redis.call('LTRIM', KEYS[2], -%d, -1) end
redis.call('HSET', KEYS[1], 'head', ARGV[2])
return 1
"""
"""A batch on the version that it is for; on any other one the cached graph goes, and the next load fills it again."""

T = TypeVar("T")
_log = logging.getLogger(__name__)


class RedisCache:
    """A :class:`masim.memory.store.base.GraphStore`: a durable one, and Redis before it.

    The address is ``redis://:password@host:port/0?durable=ADDRESS&space=NAME``. Raises StoreError without a durable
    store, for a wrong password, and whatever the durable store raises; never because Redis is away.
    """

    def __init__(self, url: str, durable: GraphStore | None = None) -> None:
        redis = driver("redis", "redis")
        parts = address(url)
        self.where = shown(parts)
        self.degraded = ""
        """Why the cache is not used now; empty while it is."""
        self._retry_at_s = 0.0
        self._space = option(parts, "space", "memory")
        self._errors = redis.exceptions.RedisError
        self._db: Any = redis.Redis(
            host=parts.hostname, port=parts.port or 6379, username=parts.username, password=parts.password,
            db=int(parts.path.strip("/") or 0), socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S,
            decode_responses=True, retry=once(redis),
        )  # fmt: skip
        self._apply = self._db.register_script(_APPLY % ARCHIVE_IN_MEMORY)
        self._refuse_password(redis.exceptions.AuthenticationError)
        self._durable = durable or self._open_durable(option(parts, "durable"))

    def _refuse_password(self, refused: type[Exception]) -> None:
        with guarded(refused, self.where):
            self._try(lambda: self._db.ping(), passed=refused)

    def _open_durable(self, found: str) -> GraphStore:
        if not found or found.startswith("redis://"):
            fix = "add ?durable=ADDRESS, for example of a SQLite file"
            raise StoreError("a Redis store is a cache and needs a durable store behind it", self.where, "", "", fix)
        return open_store(found)

    def _try(self, ask: Callable[[], T], passed: tuple[type[Exception], ...] | type[Exception] = ()) -> T | None:
        """Ask Redis; None when it does not answer or was found away a moment ago."""
        if self.degraded and time.monotonic() < self._retry_at_s:
            return None
        try:
            found = ask()
        except passed:
            raise
        except self._errors as exc:
            self._retry_at_s = time.monotonic() + RETRY_S
            if not self.degraded:
                _log.warning("%s does not answer (%s); the durable store goes on without it", self.where, exc)
            self.degraded = f"{self.where} does not answer: {exc}"
            return None
        if self.degraded:
            _log.warning("%s answers again", self.where)
        self.degraded = ""
        return found

    def _keys(self, agent: str) -> list[str]:
        tag = "{masim:" + f"{self._space}:{agent_id(agent)}" + "}"
        return [f"{tag}:edges", f"{tag}:archive"]

    def claim(self, agent: str) -> Head:
        """Own an agent's graph in the durable store."""
        return self._durable.claim(agent)

    def apply(self, agent: str, batch: GraphDelta, version: int) -> None:
        """Store one agent's batch."""
        self.apply_all({agent: batch}, version)

    def apply_all(self, batches: Mapping[str, GraphDelta], version: int) -> None:
        """Store the batches durably, which acknowledges them; then bring the cache up to date if it can be reached."""
        before = {agent: self._durable.head(agent).stamp for agent in batches}
        self._durable.apply_all(batches, version)
        after = {agent: self._durable.head(agent).stamp for agent in batches}

        def update() -> None:
            if len(batches) == 1:
                self._send(self._db, next(iter(batches)), batches, before, after)
                return
            with self._db.pipeline(transaction=False) as pipe:
                for agent in batches:
                    self._send(pipe, agent, batches, before, after)
                pipe.execute()

        self._try(update)

    def _send(
        self, to: Any, agent: str, batches: Mapping[str, GraphDelta], old: Mapping[str, str], new: Mapping[str, str]
    ) -> None:
        batch = batches[agent]
        values: list[Any] = [old[agent], new[agent], len(batch.removed), *map(field, batch.removed), len(batch.edges)]
        for edge in batch.edges:
            values += (field(edge.key), write_edge(edge))
        values += map(write_record, batch.archived)
        self._apply(keys=self._keys(agent), args=values, client=to)

    def load(self, agent: str) -> FrozenGraph:
        """Return the newest version: from the cache if it has that one, otherwise from the durable store."""
        head = self._durable.head(agent)
        found = self._try(lambda: self._cached(agent, head)) if head.stamp else None
        if found is not None:
            return found
        graph, records = self._durable.load(agent), self._durable.archive(agent)[-ARCHIVE_IN_MEMORY:]
        if head.stamp and self._durable.head(agent).stamp == head.stamp:
            self._try(lambda: self._fill(agent, graph, records, head.stamp))
        return graph

    def _cached(self, agent: str, head: Head) -> FrozenGraph | None:
        edges, archive = self._keys(agent)
        with self._db.pipeline(transaction=True) as pipe:
            found, records = pipe.hgetall(edges).lrange(archive, 0, -1).execute()
        if found.pop(HEAD, None) != head.stamp:
            return None
        try:
            return FrozenGraph.of(map(read_edge, found.values()), map(read_record, records), head.version)
        except StoreError:  # Somebody else wrote into these keys: as good as nothing there.
            return None

    def _fill(self, agent: str, graph: FrozenGraph, records: list[ForgetRecord], stamp: str) -> None:
        edges, archive = self._keys(agent)
        values = {field(edge.key): write_edge(edge) for edge in graph.edges.values()}
        with self._db.pipeline(transaction=True) as pipe:
            pipe.delete(edges, archive)
            pipe.hset(edges, mapping={HEAD: stamp, **values})
            if records:
                pipe.rpush(archive, *map(write_record, records))
            pipe.execute()

    def head(self, agent: str) -> Head:
        """Return version, owner and stamp as the durable store has them."""
        return self._durable.head(agent)

    def version(self, agent: str) -> int:
        """Return the newest acknowledged version."""
        return self._durable.version(agent)

    def agents(self) -> list[str]:
        """Return the agents with a stored version, in order."""
        return self._durable.agents()

    def archive(self, agent: str) -> list[ForgetRecord]:
        """Return everything closed or forgotten, oldest first."""
        return self._durable.archive(agent)

    def top_k(self, agent: str, node_id: str, k: int) -> list[Edge]:
        """Return the edges that leave a node by stored weight, ties by key."""
        return self._durable.top_k(agent, node_id, k)

    def discard_after(self, agent: str, version: int) -> None:
        """Forget every later version; the stamp changes, and with it the cached graph is no longer read."""
        self._durable.discard_after(agent, version)

    def compact(self, agent: str, keep_from: int) -> None:
        """Drop what only versions before ``keep_from`` need."""
        self._durable.compact(agent, keep_from)

    def close(self) -> None:
        """Close the durable store and the connection; what is cached stays for the next one."""
        self._durable.close()
        self._db.close()


def field(key: EdgeKey) -> str:
    """Return the field of an edge; no edge is called ``head``."""
    return json.dumps(key, separators=(",", ":"))
