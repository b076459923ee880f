"""What an agent is asked: its seat in the session, and the decision that it must make."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np

from masim.arrays import F32, I8, I64, Bool
from masim.env.actions import ActionTable
from masim.env.legality import Known
from masim.env.news import Handed
from masim.env.recollection import Recollection
from masim.env.sheet import Sheet
from masim.env.view import AgentView
from masim.memory.memory import Memory
from masim.rng import digest64, digest64_bytes
from masim.sim.wire import Answer, Message

Heard: TypeAlias = Answer | Message | Handed


class Reason(IntEnum):
    """Why an agent is asked."""

    START = 0
    CALL_RETURNED = 1
    TIMEOUT = 2
    MESSAGE = 3
    TIMER = 4
    CLAIM_RECORDED = 5
    HANDED_OVER = 6
    """A hand-over is on its way; the same instant as the decision before."""
    CALLS_SENT = 7
    """Calls that the agent does not wait for are on their way; the same instant as the decision before."""


Chosen: TypeAlias = int | tuple[int, ...]
"""One action, or several of one decision."""
Landing: TypeAlias = tuple[float, float, float]
"""(simulated time, outcome, penalty) of a reward."""


@dataclass(slots=True)
class Seat:
    """One agent's place in the session."""

    name: str
    index: int
    view: AgentView
    memory: Recollection
    decisions: int = 0
    busy: bool = False
    waiting: int = -1
    """Number of the wait in progress, -1 when not waiting."""
    waits: int = 0
    retired: bool = False
    away: bool = False
    """Has not joined yet."""
    reason: Reason = Reason.START
    last_s: float = 0.0
    legal: I64 | None = None
    """Legal actions in order, ``None`` until somebody asks after something was told."""
    allowed: Bool = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    """(K,): the same as flags, where ``legal`` is known."""
    known: Known | None = None
    """What the flags were made of."""
    sheet: Sheet | None = None
    """The agent's candidate rows, made when somebody looks."""
    reward_out: float = 0.0
    reward_pen: float = 0.0
    heard: list[Heard] = field(default_factory=list)
    """What reached the agent since its last decision."""
    landed: list[Landing] | None = None
    """When each part of the rewards landed; ``None`` where only the sums are wanted."""

    def pay(self, t_s: float, out: float = 0.0, pen: float = 0.0) -> None:
        """Let a reward land: ``out`` on the outcome channel, ``pen`` on the penalty channel."""
        self.reward_out += out
        self.reward_pen += pen
        if self.landed is not None:
            self.landed.append((t_s, out, pen))

    def collect(self) -> tuple[float, float]:
        """Return and clear the (outcome, penalty) rewards that landed since the last call, and their times."""
        landed = (self.reward_out, self.reward_pen)
        self.reward_out = self.reward_pen = 0.0
        if self.landed:
            self.landed.clear()
        return landed


class Asker(Protocol):
    """What a decision needs of the session that asks it."""

    table: ActionTable

    @property
    def now(self) -> float:
        """Return the present simulated time in seconds."""

    @property
    def end_s(self) -> float:
        """Return when nobody decides any more."""

    def arrays(self, seat: Seat, legal: I64) -> tuple[F32, F32]:
        """Return the candidate rows and the context of a seat now."""


class Decision:
    """One ready agent's question. Rows, context and keys are built when asked for."""

    def __init__(self, session: Asker, seat: Seat, legal: I64) -> None:
        self._session = session
        self._seat = seat
        self.agent = seat.name
        self.agent_index = seat.index
        self.turn = seat.decisions
        self.t_s = session.now
        self.dt_s = session.now - seat.last_s
        self.reason = seat.reason
        self.legal = legal
        self.under_way: tuple[int, ...] = ()
        """Actions whose calls were not answered yet, the oldest first; never any where agents wait for their calls."""
        self.view = seat.view

    @cached_property
    def _arrays(self) -> tuple[F32, F32]:
        return self._session.arrays(self._seat, self.legal)

    @property
    def rows(self) -> F32:
        """Return the (n_legal, F) candidate features."""
        return self._arrays[0]

    @property
    def context(self) -> F32:
        """Return the (C,) context features."""
        return self._arrays[1]

    @property
    def table(self) -> ActionTable:
        """Return the scenario's action table."""
        return self._session.table

    @property
    def end_s(self) -> float:
        """Return when nobody decides any more."""
        return self._session.end_s

    @property
    def heard(self) -> tuple[Heard, ...]:
        """Return what reached the agent since its last decision, oldest first; empty once this one is answered."""
        return tuple(self._seat.heard)

    @property
    def memory(self) -> Memory | None:
        """Return the agent's memory, to be read; None where it has none."""
        return self._seat.memory.memory

    def recall(self, shipper: str) -> F32:
        """Return what the agent's memory says of each carrier, shape (carriers, VENDOR_F)."""
        return self._seat.memory.carriers(self.view.carriers, shipper, self.t_s)

    def mask(self) -> I8:
        """Return the (K,) action mask."""
        mask = np.zeros(len(self._session.table), dtype=np.int8)
        mask[self.legal] = 1
        return mask

    def obs_key(self) -> int:
        """Return the canonical key: progress of the orders, without clocks, ids or counters."""
        return digest64("canonical", self.agent_index, self.view.key_fields())

    def obs_key_exact(self) -> int:
        """Return the key of everything the policy saw, clocks included."""
        head = f"exact {self.agent_index} {self.t_s!r}{self.under_way or ''}".encode()
        return digest64_bytes(head, self.rows.tobytes(), self.context.tobytes())

    def memory_key(self) -> int:
        """Return the digest of the memory view, 0 without a memory."""
        return self._seat.memory.key(self.t_s)
