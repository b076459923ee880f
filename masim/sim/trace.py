"""The flat trace of an episode: one tuple per event, the truth from which everything else is recomputed."""

from __future__ import annotations

from typing import NamedTuple


class TraceRow(NamedTuple):
    """One event. Empty text, -1 and 0 mean "does not apply"; times are simulated seconds."""

    t_s: float
    event: str
    """call, effect, answer, message, state, fault, wait, decision, declare or outcome."""
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


class Trace:
    """Collects rows; switched off it costs one attribute test per event."""

    __slots__ = ("enabled", "rows")

    def __init__(self, enabled: bool = True) -> None:
        self.enabled = enabled
        self.rows: list[TraceRow] = []
