"""How often Python looks for garbage in cycles: seldom, because simulations make very little of it.

A world makes a dozen small values per call and no reference cycles. With Python's own thresholds a seventh of its time
goes into looking through them again and again.
"""

from __future__ import annotations

import gc

THRESHOLDS = (200_000, 20, 50)
"""New objects per look, and looks per look at older objects; Python's own are (700, 10, 10)."""


def ease_collector() -> None:
    """Set the thresholds for this process. The program and its workers do so; ``import masim`` does not."""
    gc.set_threshold(*THRESHOLDS)
