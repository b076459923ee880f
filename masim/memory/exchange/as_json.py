"""Memories as one JSON document: edges by the names of their fields, ``null`` for what is valid for ever."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from masim.errors import DataError
from masim.memory.exchange.base import (
    FORMAT,
    FORMAT_VERSION,
    Counter,
    StoredGraph,
    checked,
    distinct,
    too_large,
)  # fmt: skip
from masim.memory.graph import Edge, ForgetRecord
from masim.memory.store.codec import edge_of, edge_values

BYTES_PER_ROW = 1024
"""A file that is larger than this for each row of the limit is not even read."""
_RECORD = ("rule", "score", "at_s")
_NEEDED = frozenset(Edge._fields)


def write(graphs: Iterable[StoredGraph]) -> Iterator[str]:
    """Yield the document in pieces, one edge per line. Raises ValueError for a number that JSON has not."""
    yield f'{{"format": "{FORMAT}", "version": {FORMAT_VERSION}, "graphs": ['
    for i, graph in enumerate(graphs):
        yield f'{"," if i else ""}\n{{"agent": {json.dumps(graph.agent)}, "version": {graph.version},\n "edges": ['
        yield ",".join(f"\n  {_row(edge)}" for edge in graph.edges)
        yield '],\n "archive": ['
        yield ",".join(f"\n  {_row(r.edge, rule=r.rule, score=r.score, at_s=r.at_s)}" for r in graph.archive)
        yield "]}"
    yield "]}\n"


def _row(edge: Edge, **more: Any) -> str:
    return json.dumps({**dict(zip(Edge._fields, edge_values(edge), strict=True)), **more}, allow_nan=False)


def read(path: Path, limit: int) -> list[StoredGraph]:
    """Return the graphs of a file. Raises DataError for what is no such document or has more rows than ``limit``."""
    size = path.stat().st_size
    if size > limit * BYTES_PER_ROW + BYTES_PER_ROW**2:
        raise too_large(path, f"{size / 2**20:,.0f} MiB", limit)
    counter = Counter(path, limit)

    def taken(found: dict[str, Any]) -> Any:
        if "src" not in found:
            return found
        counter.count()
        return _edge(found, path)

    try:
        document = json.loads(path.read_text("utf-8"), object_hook=taken, parse_constant=_no_number)
        return distinct([_graph(found) for found in _graphs(document, path)], path)
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError, AttributeError) as exc:
        what = f"{type(exc).__name__}: {exc}"[:160]
        raise DataError("this is not an exported memory", str(path), what, "", "export it again") from exc


def _graphs(document: Any, path: Path) -> list[Any]:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DataError("this is not an exported memory", str(path), "", f'a document with "format": "{FORMAT}"', "")
    if document.get("version") != FORMAT_VERSION:
        found, fix = repr(document.get("version")), "use the release of masim that wrote it"
        raise DataError("exported memory of another format version", str(path), found, str(FORMAT_VERSION), fix)
    return list(document["graphs"])


def _graph(found: Mapping[str, Any]) -> StoredGraph:
    agent, version = found["agent"], found["version"]
    if not isinstance(agent, str) or not isinstance(version, int) or version < 0:
        raise ValueError(f"agent {agent!r}, version {version!r}")
    edges, archive = tuple(found["edges"]), tuple(found["archive"])
    if not all(type(edge) is Edge for edge in edges) or not all(type(row) is ForgetRecord for row in archive):
        raise ValueError(f"edges and archive of {agent!r} hold something else")
    return StoredGraph(agent, version, edges, archive)


def _edge(found: Mapping[str, Any], path: Path) -> Edge | ForgetRecord:
    unknown = sorted(found.keys() - _NEEDED - set(_RECORD))
    if unknown:
        raise ValueError(f"unknown fields {', '.join(unknown)}")
    edge = checked(edge_of([found[name] for name in Edge._fields]), path)
    if "rule" not in found:
        return edge
    return ForgetRecord(edge, str(found["rule"]), float(found["score"]), float(found["at_s"]))


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")
