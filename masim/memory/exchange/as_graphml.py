"""Memories as GraphML, which Gephi, yEd and networkx open: one graph per agent, parsed as a stream when read.

XML cannot hold control characters. They, and the backslash, stand as ``\\u001f`` and ``\\\\``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError, XMLParser
from xml.sax.saxutils import escape, quoteattr

from masim.errors import DataError
from masim.memory.exchange.base import FORMAT, Counter, StoredGraph, checked, distinct
from masim.memory.graph import NEVER, Edge, ForgetRecord, kind_of, name_of

_CHUNK = 1 << 16
_TYPES = {"rel": "string", "episodes": "int", "pin": "boolean"}
_EDGE = Edge._fields[1:2] + Edge._fields[3:]
_MORE = ("rule", "score", "at_s")
_UNSAFE = re.compile("[\\\\\x00-\x1f\x7f-\x9f\ufffe\uffff]")
_SAFE = re.compile(r"\\(\\|u[0-9a-f]{4})")


def write(graphs: Iterable[StoredGraph]) -> Iterator[str]:
    """Yield the document in pieces. What is valid for ever has no ``invalid_at_s``; archived edges have a ``rule``."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    yield f'<key id="format" for="graph" attr.name="{FORMAT}" attr.type="int"/>\n'
    for name, kind in (("agent", "string"), ("version", "int")):
        yield f'<key id="g_{name}" for="graph" attr.name="{name}" attr.type="{kind}"/>\n'
    for name in ("kind", "name"):
        yield f'<key id="n_{name}" for="node" attr.name="{name}" attr.type="string"/>\n'
    for name in (*_EDGE, *_MORE):
        kind = _TYPES.get(name, "string" if name == "rule" else "double")
        yield f'<key id="{name}" for="edge" attr.name="{name}" attr.type="{kind}"/>\n'
    for i, graph in enumerate(graphs):
        yield from _graph(graph, i)
    yield "</graphml>\n"


def _graph(graph: StoredGraph, i: int) -> Iterator[str]:
    yield f'<graph id="g{i}" edgedefault="directed">\n<data key="format">1</data>'
    yield f'<data key="g_agent">{_text(graph.agent)}</data><data key="g_version">{graph.version}</data>\n'
    rows = [(edge, None) for edge in graph.edges] + [(record.edge, record) for record in graph.archive]
    for end in sorted({end for edge, _ in rows for end in (edge.src, edge.dst)}):
        kind, name = _text(kind_of(end)), _text(name_of(end))
        yield f'<node id={_attribute(end)}><data key="n_kind">{kind}</data><data key="n_name">{name}</data></node>\n'
    for n, (edge, record) in enumerate(rows):
        yield f'<edge id="e{n}" source={_attribute(edge.src)} target={_attribute(edge.dst)}>'
        values = {name: value for name, value in edge._asdict().items() if name in _EDGE and value != NEVER}
        values |= {} if record is None else {"rule": record.rule, "score": record.score, "at_s": record.at_s}
        yield "".join(f'<data key="{name}">{_text(_shown(value))}</data>' for name, value in values.items())
        yield "</edge>\n"
    yield "</graph>\n"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def _text(text: str) -> str:
    return escape(_UNSAFE.sub(lambda m: "\\\\" if m[0] == "\\" else f"\\u{ord(m[0]):04x}", text))


def _attribute(text: str) -> str:
    return quoteattr(_UNSAFE.sub(lambda m: "\\\\" if m[0] == "\\" else f"\\u{ord(m[0]):04x}", text))


def _plain(text: str) -> str:
    return _SAFE.sub(lambda m: "\\" if m[1] == "\\" else chr(int(m[1][1:], 16)), text)


def read(path: Path, limit: int) -> list[StoredGraph]:
    """Return the graphs of a file. Raises DataError for what is no GraphML of a memory or has too many rows."""
    reader = _Reader(path, limit)
    parser = XMLParser(target=reader)
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                parser.feed(chunk)
        parser.close()
    except (ParseError, ValueError, TypeError, KeyError, OverflowError) as exc:
        what = f"{type(exc).__name__}: {exc}"[:160]
        raise DataError("this is not GraphML of a memory", str(path), what, "", "export it again") from exc
    if not reader.graphs:
        raise DataError("there is no graph in this file", str(path), "", "GraphML with one graph per agent", "")
    return distinct(reader.graphs, path)


class _Reader:
    """Takes the events of the parser; keeps edges, and of the tree nothing."""

    def __init__(self, path: Path, limit: int) -> None:
        self.graphs: list[StoredGraph] = []
        self._path = path
        self._counter = Counter(path, limit)
        self._names: dict[str, str] = {}
        self._graph: dict[str, str] = {}
        self._values: dict[str, str] = {}
        self._edges: list[Edge] = []
        self._archive: list[ForgetRecord] = []
        self._key = ""
        self._said: list[str] = []

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        """Refuse entities: a memory needs none."""
        raise ValueError("a document type is not taken")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        kind = tag.rpartition("}")[2]
        if kind == "key":
            self._names[attributes["id"]] = attributes.get("attr.name", attributes["id"])
        elif kind == "graph":
            self._graph, self._edges, self._archive = {}, [], []
            self._values = self._graph
        elif kind in ("node", "edge"):
            self._counter.count()
            self._values = {"src": attributes["source"], "dst": attributes["target"]} if kind == "edge" else {}
        elif kind == "data":
            self._key = self._names.get(attributes["key"], attributes["key"])
            self._said = []

    def data(self, text: str) -> None:
        """Take some text."""
        if self._key:
            self._said.append(text)

    def end(self, tag: str) -> None:
        """End an element."""
        kind = tag.rpartition("}")[2]
        if kind == "data":
            self._values[self._key] = "".join(self._said)
            self._key = ""
        elif kind == "edge":
            self._take()
        elif kind == "graph":
            agent, version = _plain(self._graph["agent"]), int(self._graph["version"])
            self.graphs.append(StoredGraph(agent, version, tuple(self._edges), tuple(self._archive)))
        if kind in ("edge", "node"):
            self._values = self._graph

    def close(self) -> None:
        """End the document."""

    def _take(self) -> None:
        found = self._values
        values: dict[str, Any] = {name: _plain(found[name]) for name in ("src", "rel", "dst")}
        for name in Edge._fields[3:]:
            if name in found:
                values[name] = _read(name, found[name])
        edge = checked(Edge(**values), self._path)
        if "rule" in found:
            record = ForgetRecord(edge, _plain(found["rule"]), float(found["score"]), float(found["at_s"]))
            self._archive.append(record)
        else:
            self._edges.append(edge)


def _read(name: str, text: str) -> float | int | bool:
    if name == "pin":
        return {"true": True, "false": False, "1": True, "0": False}[text.strip().lower()]
    return int(text) if name == "episodes" else float(text)
