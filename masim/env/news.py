"""What an agent hears that no vendor says: how an order changed hands."""

from __future__ import annotations

from masim.sim.values import value


@value
class Handed:
    """The end of a hand-over, told to the giver and to the taker."""

    t_s: float
    order: str
    giver: str
    taker: str
    """Empty: nobody took the order, it stays with the giver."""
