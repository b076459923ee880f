"""The parts of an order that are done one after another: each can be credited by itself."""

from __future__ import annotations

from collections.abc import Iterable

ACCEPTED, PICKUP_BOOKED, DELIVERY_BOOKED, DISPATCHED = 1 << 2, 1 << 5, 1 << 8, 1 << 11
"""Those milestones of :func:`masim.env.leg_view.milestones` that end a part of a leg."""
_PARTS = ACCEPTED | PICKUP_BOOKED | DELIVERY_BOOKED | DISPATCHED


def parts_in(reached: Iterable[int]) -> int:
    """Return how many parts are done, from the milestones that each leg has ever reached."""
    return sum((bits & _PARTS).bit_count() for bits in reached)
