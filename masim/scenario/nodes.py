"""YAML as a tree of located values: safe, bounded, and every value knows its file, line and source.

The reader works on parser events, so it never constructs objects: tags, anchors, aliases, duplicate keys, several
documents, deep nesting, not-a-number and infinity are refused with their line. Plain scalars follow YAML 1.2's core
schema (``12:00`` and ``no`` stay text). A mapping's ``source:`` applies to everything below it until a nearer one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from masim.errors import ScenarioError

MAX_BYTES = 1_000_000
MAX_DEPTH = 16
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C parser, where PyYAML has it, is ten times faster
Scalar = str | int | float | bool | None

_INT_RE = re.compile(r"[-+]?[0-9]+")
_FLOAT_RE = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE_RE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


@dataclass(frozen=True, slots=True)
class Node:
    """One value of a YAML file: a scalar, a tuple of nodes, or a dict of nodes."""

    value: Scalar | tuple[Node, ...] | dict[str, Node]
    where: str
    """``file:line``, or ``override key.path``."""
    source: str = ""
    """Text of the nearest ``source:`` at or above this value."""

    def plain(self) -> Any:
        """Return the bare Python value: dict, tuple or scalar."""
        if isinstance(self.value, dict):
            return {key: child.plain() for key, child in self.value.items()}
        if isinstance(self.value, tuple):
            return tuple(child.plain() for child in self.value)
        return self.value

    def child(self, key: str | int) -> Node | None:
        """Return the child under a mapping key or list index, or None."""
        if isinstance(self.value, dict):
            return self.value.get(str(key))
        if isinstance(self.value, tuple) and isinstance(key, int) and key < len(self.value):
            return self.value[key]
        return None

    def find(self, *path: str | int) -> Node:
        """Return the node at the path; parts that lead nowhere are skipped, so the nearest ancestor answers."""
        node = self
        for part in path:
            node = node.child(part) or node
        return node

    def items(self) -> dict[str, Node]:
        """Return the children of a mapping; anything else has none."""
        return self.value if isinstance(self.value, dict) else {}

    def elements(self) -> tuple[Node, ...]:
        """Return the elements of a list; anything else has none."""
        return self.value if isinstance(self.value, tuple) else ()

    def leaves(self, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Node]]:
        """Yield every scalar below, with its path; list elements are named by their id or index."""
        for key, child in self.items().items():
            if key != "source":
                yield from child.leaves((*path, key))
        for index, child in enumerate(self.elements()):
            yield from child.leaves((*path, element_name(child, index)))
        if not isinstance(self.value, dict | tuple):
            yield path, self


def element_name(node: Node, index: int) -> str:
    """Return how people call a list element: by its id if it has one, otherwise by its index."""
    named = node.child("id")
    return named.value if named is not None and isinstance(named.value, str) else str(index)


def overlay(base: Node, over: Node | None) -> Node:
    """Lay the keys of one mapping on another. Values are replaced whole: half a distribution means nothing."""
    if over is None:
        return base
    keys = {key: child for key, child in over.items().items() if key != "source"}
    return Node({**base.items(), **keys}, over.where, over.source)


def read_nodes(path: Path) -> Node:
    """Read a YAML file. Raises ScenarioError for anything that is not one bounded, plain UTF-8 document."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            problem = "the file is too large to be a scenario"
            raise ScenarioError(problem, str(path), f"{size:,} bytes", f"at most {MAX_BYTES:,} bytes")
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        fix = "save the file as UTF-8"
        raise ScenarioError(
            "not UTF-8 text", f"{path}:{line}", f"byte 0x{error.object[error.start]:02x}", "", fix
        ) from error
    except OSError as error:
        raise ScenarioError(f"cannot read the file: {error.strerror}", str(path)) from error
    root = parse_nodes(text, str(path))
    if not isinstance(root.value, dict):
        kind = "a list" if isinstance(root.value, tuple) else "a single value" if root.value is not None else "nothing"
        raise ScenarioError("the file must hold one mapping of keys", root.where, kind, "", "start from `masim init`")
    return root


def parse_nodes(text: str, name: str, where: str = "") -> Node:
    """Parse YAML text. ``where`` overrides the location of every node (for values from a command line)."""
    try:
        return _Builder(name, where).build(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = where or (f"{name}:{mark.line + 1}" if mark else name)
        raise ScenarioError(f"not valid YAML: {error.problem or error.context}", place) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ScenarioError(f"not valid YAML: {error.reason}", where or f"{name}:{line}") from error


class _Builder:
    """Turns parser events into nodes, depth first; lives for one text."""

    def __init__(self, name: str, where: str) -> None:
        self._name = name
        self._where = where
        self._events: Iterator[Any] = iter(())

    def build(self, text: str) -> Node:
        self._events = yaml.parse(text, Loader=_LOADER)
        next(self._events)
        first = next(self._events)
        if isinstance(first, yaml.StreamEndEvent):
            raise ScenarioError(
                "the file is empty", self._where or f"{self._name}:1", "", "", "start from `masim init`"
            )
        root = self._value(next(self._events), 0, "")
        next(self._events)
        extra = next(self._events)
        if not isinstance(extra, yaml.StreamEndEvent):
            raise self._refuse(extra, "a second YAML document", "one document per file")
        return root

    def _place(self, event: Any) -> str:
        return self._where or f"{self._name}:{event.start_mark.line + 1}"

    def _refuse(self, event: Any, problem: str, allowed: str, value: str = "", fix: str = "") -> ScenarioError:
        return ScenarioError(problem, self._place(event), value, allowed, fix)

    def _value(self, event: Any, depth: int, source: str) -> Node:
        self._check(event, depth)
        if isinstance(event, yaml.ScalarEvent):
            return Node(self._scalar(event), self._place(event), source)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(event, depth, source)
        return self._mapping(event, depth, source)

    def _check(self, event: Any, depth: int) -> None:
        if isinstance(event, yaml.AliasEvent):
            raise self._refuse(
                event, "YAML aliases are refused", "plain values", f"*{event.anchor:.40}", "write the value out"
            )
        if event.anchor is not None:
            raise self._refuse(
                event, "YAML anchors are refused", "plain values", f"&{event.anchor:.40}", "remove the anchor"
            )
        if event.tag is not None:
            raise self._refuse(event, "YAML tags are refused", "plain values", f"{event.tag:.40}", "remove the tag")
        if depth > MAX_DEPTH:
            raise self._refuse(event, "nested too deeply", f"at most {MAX_DEPTH} levels")

    def _sequence(self, start: Any, depth: int, source: str) -> Node:
        children = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            children.append(self._value(event, depth + 1, source))
        return Node(tuple(children), self._place(start), source)

    def _mapping(self, start: Any, depth: int, source: str) -> Node:
        children: dict[str, Node] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event, children)
            children[key] = self._value(next(self._events), depth + 1, "")
        own = children.get("source")
        text = own.value if own is not None and isinstance(own.value, str) else source
        return _with_source(Node(children, self._place(start)), text)

    def _key(self, event: Any, seen: Mapping[str, Node]) -> str:
        self._check(event, 0)
        if not isinstance(event, yaml.ScalarEvent):
            raise self._refuse(event, "a key must be a word", "", "", "write `key: value`")
        if event.value in seen:
            fix = f"keep one; the first is at {seen[event.value].where}"
            raise self._refuse(event, f"duplicate key {event.value!r}", "", "", fix)
        return str(event.value)

    def _scalar(self, event: Any) -> Scalar:
        text: str = event.value
        if not event.implicit[0]:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _INT_RE.fullmatch(text):
            return self._integer(event, text)
        number = float(text) if _FLOAT_RE.fullmatch(text) else 0.0
        if _NOT_FINITE_RE.fullmatch(text) or not math.isfinite(number):
            raise self._refuse(event, "not a finite number", "finite numbers", text)
        return number if _FLOAT_RE.fullmatch(text) else text

    def _integer(self, event: Any, text: str) -> int:
        if len(text) > 18:
            raise self._refuse(event, "the number is too large", "at most 18 digits", text[:24] + "...")
        return int(text)


def _with_source(node: Node, source: str) -> Node:
    """Push a source text down to every value that has no nearer one."""
    if not source or node.source:
        return node
    if isinstance(node.value, dict):
        return Node({key: _with_source(child, source) for key, child in node.value.items()}, node.where, source)
    if isinstance(node.value, tuple):
        return Node(tuple(_with_source(child, source) for child in node.value), node.where, source)
    return replace(node, source=source)
