"""What became of an order: the one value that the simulator, the analysis and the learner all read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OrderOutcome:
    """What became of one order, judged by the world's state alone."""

    order: str
    agent: str
    completed: bool
    safe: bool
    cost_cents: int
    duplicates: int
    orphans: int
    unsupported_claims: int
    legs_delivered: int
    legs: int
    landed_s: float
    failure: str
    """Why it was not completed (``""`` when it was): truck_late, not_dispatched, ..."""
