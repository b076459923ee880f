"""The flat trace of an episode: one tuple per event, the truth from which everything else is recomputed.

Most rows belong to calls. The gateway notes them as the values that it holds anyway (:data:`Note`), and they become
rows only when somebody reads them: noting costs a tenth of building a row. With a sink the rows leave in chunks while
the simulation runs, so that the trace of a long episode needs no memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from masim.sim.wire import Body, Call


class TraceRow(NamedTuple):
    """One event. Empty text, -1 and 0 mean "does not apply"; times are simulated seconds."""

    t_s: float
    event: str
    """call, effect, answer, message, state, fault, retry, short_circuit, decision, stale, declare, hand_over,
    join, leave or outcome."""
    agent: str = ""
    order: str = ""
    leg: int = -1
    stop: str = ""
    verb: str = ""
    vendor: str = ""
    slot: int = -1
    status: str = ""
    code: int = 0
    latency_s: float = 0.0
    request_id: int = -1
    cause_id: str = ""
    amount_cents: int = 0
    note: str = ""


Note = tuple[float, str, str, Call, int, Body | None, str, float]
"""An event of a call: time, event, agent, call, request id, body, cause id, latency."""
Cells = tuple[Any, ...]
"""The fields of a :class:`TraceRow` in their order, as a plain tuple."""
Sink = Callable[[list[Cells]], None]
"""Takes a chunk of rows over; it may keep the list."""
CHUNK = 16_384
"""Rows per chunk unless told otherwise: some 5 MB of Python objects."""
_statuses: dict[tuple[str, str], str] = {}


def _status(body: Body) -> str:
    key = (body.result, body.status)
    text = _statuses.get(key)
    if text is None:
        text = _statuses[key] = f"{body.result}/{body.status}"
    return text


def cells(entry: Note | TraceRow) -> Cells:
    """Return an entry's row as a plain tuple of plain values."""
    if entry.__class__ is TraceRow:
        return entry
    t_s, event, agent, call, request, body, cause, latency_s = entry  # type: ignore[misc]
    where = (t_s, event, agent, call.order, call.leg, _TEXT[call.stop], _TEXT[call.verb], call.vendor)
    if body is None:
        return (*where, call.slot, "", 0, latency_s, request, cause, 0, "")
    slot = call.slot if body.slot is None else body.slot.index
    note = body.problem or ("replayed" if body.replayed else "")
    said = (slot, _status(body), body.code, latency_s, request, cause, body.price_cents, note)
    return (*where, *said)


class _Texts(dict[str, str]):
    """Plain text of the members of enumerations, so that a row holds plain values."""

    def __missing__(self, member: str) -> str:
        text = self[member] = str.__str__(member)
        return text


_TEXT = _Texts()


class Trace:
    """Collects rows; switched off it costs one attribute test per event.

    ``note`` takes a note or a row, without a method's cost. With a ``sink`` the rows go
    there whenever ``chunk`` of them are together, at the next call at the latest, and :meth:`flush` sends the rest;
    ``rows`` then holds only what has not left yet.
    """

    __slots__ = ("_built", "_sink", "chunk", "enabled", "entries", "left", "note")

    def __init__(self, enabled: bool = True, sink: Sink | None = None, chunk: int = CHUNK) -> None:
        self.enabled = enabled
        self.chunk = chunk if sink is not None else sys.maxsize
        self.left = 0
        """Rows that went to the sink."""
        self._sink = sink
        self._built = 0
        self.entries: list[Any] = []
        """Rows and notes as they came; read :attr:`rows` instead."""
        self.note: Callable[[Note | TraceRow], None] = self.entries.append

    @property
    def rows(self) -> list[TraceRow]:
        """Return the rows in order; appending to the list adds to the trace."""
        entries = self.entries
        for i in range(self._built, len(entries)):
            if entries[i].__class__ is not TraceRow:
                entries[i] = TraceRow._make(cells(entries[i]))
        self._built = len(entries)
        return entries

    def __len__(self) -> int:
        return self.left + len(self.entries)

    def pass_on(self) -> None:
        """Send the full chunks to the sink."""
        while len(self.entries) >= self.chunk:
            self._send(self.chunk)

    def flush(self) -> None:
        """Send everything to the sink, if there is one."""
        self.pass_on()
        if self.entries and self._sink is not None:
            self._send(len(self.entries))

    def _send(self, count: int) -> None:
        if self._sink is not None:
            self._sink([cells(entry) for entry in self.entries[:count]])
            del self.entries[:count]
            self.left += count
            self._built = 0
