"""Snapshots of an episode: where it began and what was done since, to be played again.

A world of scheduled callbacks cannot be copied cheaply, but it is a pure function of its instance, the memories at
the reset, and the actions. A restored episode is checked by digest against the one that was left.
"""

from __future__ import annotations

from dataclasses import dataclass

from masim.env.core import Session
from masim.rng import digest64
from masim.sim.spec import Instance


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A moment between two decisions."""

    instance: Instance
    actions: tuple[tuple[str, int], ...]
    """(agent, action) of every decision so far, in order; -1 for one that was no index at all."""
    digest: int


def moment(session: Session) -> int:
    """Return a digest of where a session stands: the clock, every agent's knowledge and turns, money and calls."""
    agents = [(name, session.decisions(name), session.status(name), session.end_keys(name)) for name in session.agents]
    money = sorted(session.world.ledger.balances().items())
    return digest64(session.reset_digest(), session.now, agents, session.world.gateway.calls, money)
