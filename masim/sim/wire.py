"""What travels between an agent and the vendors: calls, answers, messages."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from masim.sim.spec import Status, Verb
from masim.sim.values import value

GONE = "gone for good"
"""Start of the problem of a vendor that is no more; who replaces it follows, if anybody does."""
ASK = "; ask "
"""Comes between :data:`GONE` and the name of the successor."""
NOT_YET = "no such vendor"
"""Problem of a vendor that has not joined yet."""
REVERSED = "reversed"
"""Problem of a callback that takes an earlier confirmation back."""


class Stop(StrEnum):
    """The stop of a leg that a dock call is about; ``NONE`` for carrier calls."""

    NONE = ""
    PICKUP = "pickup"
    DELIVERY = "delivery"


class Result(StrEnum):
    """How a call ended for the caller."""

    SUCCESS = "SUCCESS"
    PENDING = "PENDING"
    FAILURE = "FAILURE"
    TIMEOUT = "TIMEOUT"
    """The client's own deadline passed: the effect may or may not have happened."""


@value
class Call:
    """One request. ``slot`` is the dock's slot index; ``not_before_s`` narrows an availability search."""

    verb: Verb
    vendor: str
    order: str
    leg: int = -1
    stop: Stop = Stop.NONE
    slot: int = -1
    not_before_s: float = 0.0
    idempotency_key: str = ""
    """The same for every attempt at one effect; empty: none. Vendors that know no keys ignore it."""


@value
class Slot:
    """A dock slot as an availability answer shows it."""

    index: int
    start_s: float


@value
class Body:
    """What a vendor says: the union of all answers, with empty fields where they do not apply."""

    result: Result
    code: int
    status: Status = Status.NOT_SCHEDULED
    price_cents: int = 0
    expires_s: float = 0.0
    slots: tuple[Slot, ...] = ()
    slot: Slot | None = None
    retry_after_s: float = 0.0
    problem: str = ""
    request: str = ""
    """The vendor's own number of a request that is under decision."""
    replayed: bool = False
    """The stored answer of an idempotency key: nothing happened this time."""


@value
class Answer:
    """The end of a blocking call as the agent sees it. The cause of a fault is not part of it."""

    request_id: int
    agent: str
    call: Call
    sent_s: float
    t_s: float
    body: Body


@value
class Message:
    """A callback: a decision or an event that a vendor reports later."""

    agent: str
    t_s: float
    kind: str
    """``tender``, ``appointment``, ``delivered`` or ``missed``."""
    vendor: str
    order: str
    leg: int
    stop: Stop
    status: Status
    slot: Slot | None = None
    problem: str = ""

    def to(self, agent: str) -> Message:
        """Return the same message for another agent."""
        return replace(self, agent=agent)

    def at(self, t_s: float) -> Message:
        """Return the same message, delivered at a moment."""
        return Message(
            self.agent,
            t_s,
            self.kind,
            self.vendor,
            self.order,
            self.leg,
            self.stop,
            self.status,
            self.slot,
            self.problem,
        )
