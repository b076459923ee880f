"""Rewards that land later than what earned them: booked where they land, or at the request that they answer.

A landing knows the request that the agent saw, never the hidden cause. Whichever of the two it is booked at, a sample's
total is the same; what changes is which decisions are paid by methods that pay single decisions. What lands after its
agent's last decision is booked at that last one. What lands for a rollout that is not in the table came after its
group was closed: the group was learned from without it, so it is handed back and never booked to anybody else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from masim.arrays import I64
from masim.errors import ConfigError
from masim.learn.reduce import dense, in_order
from masim.rollout.types import Landings, StepTable

At = Literal["landing", "request"]
PLACES = ("landing", "request")
__all__ = ["PLACES", "At", "Booked", "Landings", "book"]


@dataclass(frozen=True, slots=True)
class Booked:
    """A table with its landings in ``r_out``, and which landings came too late for it."""

    table: StepTable
    late: I64


def book(table: StepTable, landings: Landings, at: At = "landing") -> Booked:
    """Return the table with every landing added to the outcome channel of one decision.

    Raises ConfigError on an unknown place, amounts that are not finite, and landings before their request.
    """
    if at not in PLACES:
        raise ConfigError("unknown place of booking", "at", repr(at), ", ".join(PLACES))
    _check(landings)
    if not len(table):
        return Booked(table, np.arange(len(landings)))
    n = len(table)
    sample, _ = dense(
        np.concatenate((table.rollout_id, landings.rollout_id)), np.concatenate((table.agent, landings.agent))
    )
    order = in_order(sample[:n], table.turn)
    turn = landings.landing_turn if at == "landing" else landings.request_turn
    row = order[_last_before(sample[:n][order], table.turn[order], sample[n:], turn)]
    there = (table.rollout_id[row] == landings.rollout_id) & (table.agent[row] == landings.agent)
    r_out = table.r_out.copy()
    np.add.at(r_out, row[there], landings.amount[there])
    return Booked(replace(table, r_out=r_out), np.flatnonzero(~there))


def _last_before(sample: I64, turn: I64, wanted: I64, wanted_turn: I64) -> I64:
    """Return the position of the last entry up to (wanted, wanted_turn) in sorted (sample, turn)."""
    span = int(max(turn.max(), wanted_turn.max(initial=0))) + 1
    place = np.searchsorted(sample * span + turn, wanted * span + wanted_turn, side="right")
    return np.maximum(place - 1, 0)


def _check(landings: Landings) -> None:
    broken = ~np.isfinite(landings.amount)
    if broken.any():
        raise ConfigError("not a finite number", "amount", str(landings.amount[broken][0]), "finite numbers")
    early = (landings.landing_turn < landings.request_turn) | (landings.request_turn < 0)
    if early.any():
        i = int(np.flatnonzero(early)[0])
        value = f"requested at turn {landings.request_turn[i]}, landed at {landings.landing_turn[i]}"
        raise ConfigError("a reward landed before its request", "landing_turn", value)
