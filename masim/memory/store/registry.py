"""The stores by the scheme of their address. One file and one line here each."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from masim.errors import StoreError, did_you_mean
from masim.memory.store.base import GraphStore

STORES = {
    "sqlite": "masim.memory.store.sqlite:open_sqlite",
    "redis": "masim.memory.store.redis:RedisCache",
    "falkordb": "masim.memory.store.falkordb:FalkorStore",
    "neo4j": "masim.memory.store.neo4j:Neo4jStore",
    "neo4j+s": "masim.memory.store.neo4j:Neo4jStore",
    "bolt": "masim.memory.store.neo4j:Neo4jStore",
    "arango": "masim.memory.store.arango:ArangoStore",
}
"""Scheme -> what opens a store from its address. A path without a scheme is a file of SQLite."""


def open_store(address: str) -> GraphStore:
    """Open a store. Raises StoreError for an unknown scheme, MissingExtraError when its driver is not installed."""
    scheme, found, _ = address.partition("://")
    if not found:
        scheme, address = "sqlite", f"sqlite://{address}"
    if scheme not in STORES:
        near = did_you_mean(scheme, STORES)
        raise StoreError("no such kind of memory store", "", repr(scheme), ", ".join(STORES), near)
    module, _, name = STORES[scheme].partition(":")
    make: Callable[[str], GraphStore] = getattr(import_module(module), name)
    return make(address)
