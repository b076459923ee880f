"""Edges and forget records as JSON text, exactly: what is read is what was written, to the last bit.

Databases that print floats with 15 digits, that know no infinity, or that end a string at its first NUL keep values
of the memory in this form; what they need for searching lies beside it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from masim.errors import StoreError
from masim.memory.graph import NEVER, Edge, ForgetRecord

_TEXTS = 3
_NEVER_AT = Edge._fields.index("invalid_at_s")
_EPISODES = Edge._fields.index("episodes")
_PIN = Edge._fields.index("pin")


def edge_values(edge: Edge) -> list[Any]:
    """Return the fields of an edge as JSON values; what is valid for ever ends at null."""
    values = list(edge)
    if values[_NEVER_AT] == NEVER:
        values[_NEVER_AT] = None
    return values


def edge_of(values: Sequence[Any]) -> Edge:
    """Return the edge of :func:`edge_values`. Raises ValueError or TypeError for what is none."""
    if len(values) != len(Edge._fields):
        raise ValueError(f"an edge has {len(Edge._fields)} fields, not {len(values)}")
    for text in values[:_TEXTS]:
        if not isinstance(text, str):
            raise ValueError(f"ends and relation of an edge are texts, not {text!r}")
    for i, value in enumerate(values[_TEXTS:], _TEXTS):
        if not isinstance(value, (int, float)) and not (value is None and i == _NEVER_AT):
            raise ValueError(f"{Edge._fields[i]} of an edge is a number, not {value!r}")
    numbers = [NEVER if value is None else float(value) for value in values[_TEXTS:]]
    found: list[Any] = [*values[:_TEXTS], *numbers]
    found[_EPISODES], found[_PIN] = int(found[_EPISODES]), bool(found[_PIN])
    return Edge._make(found)


def write_edge(edge: Edge) -> str:
    """Return an edge as text. Raises StoreError for a number that is none."""
    return _dump(edge_values(edge))


def read_edge(text: str) -> Edge:
    """Return the edge of :func:`write_edge`. Raises StoreError for damaged text."""
    try:
        return edge_of(json.loads(text))
    except (ValueError, TypeError) as exc:
        raise damaged(text) from exc


def write_record(record: ForgetRecord) -> str:
    """Return a forget record as text. Raises StoreError for a number that is none."""
    return _dump([record.rule, record.score, record.at_s, *edge_values(record.edge)])


def read_record(text: str) -> ForgetRecord:
    """Return the record of :func:`write_record`. Raises StoreError for damaged text."""
    try:
        rule, score, at_s, *edge = json.loads(text)
        return ForgetRecord(edge_of(edge), str(rule), float(score), float(at_s))
    except (ValueError, TypeError) as exc:
        raise damaged(text) from exc


def plain(text: str) -> str:
    """Return a text without control characters, from which :func:`unplain` makes the same text again."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def unplain(text: str) -> str:
    """Return the text of :func:`plain`."""
    return str(json.loads(f'"{text}"'))


def damaged(text: str) -> StoreError:
    """Return the error for a stored value that cannot be read."""
    return StoreError("a value in the memory store is damaged", "", repr(text[:60]), "", "restore a copy of the store")


def _dump(values: list[Any]) -> str:
    try:
        return json.dumps(values, allow_nan=False, separators=(",", ":"))
    except ValueError as exc:
        raise StoreError("a number in the memory is none", "", repr(values)[:120], "finite numbers", "") from exc
