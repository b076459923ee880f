"""What an agent's memory hears of its day, and what it says to a decision.

Only structured facts go in: a truck's lateness is the carrier's, a booking that the agent forgot is not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from masim.arrays import F32
from masim.memory.memory import Memory, MemoryEvent
from masim.memory.vendor_features import VENDOR_COLUMNS, VENDOR_F
from masim.sim.carriers import REFUSED
from masim.sim.spec import Status, Verb
from masim.sim.trucks import TRUCK_LATE
from masim.sim.wire import Answer, Message, Result

BUCKET_S = 900.0
"""Decay within a quarter of an hour is below what a feature can show; views of a memory are cached that long."""
_CENTRED = ("success", "kept_word", "shipper_success")
CENTRE = np.array([0.5 * (name in _CENTRED) for name in VENDOR_COLUMNS], dtype=np.float32)
"""What each column says of a carrier that nothing is known of, apart from its age."""


def from_answer(answer: Answer, shipper: str) -> MemoryEvent | None:
    """Return what a call's end is worth remembering, if anything."""
    call, body = answer.call, answer.body
    if body.code >= 500 or body.result is Result.TIMEOUT:
        return MemoryEvent("error", answer.t_s, call.vendor, call.verb.value, call.order, shipper, ok=False)
    if call.verb is Verb.TENDER and body.status in (Status.CONFIRMED, Status.REJECTED):
        return _decided(body.status, answer.t_s, call.vendor, call.order, call.leg, body.problem, shipper)
    if body.result is Result.SUCCESS and call.verb in (Verb.DISPATCH, Verb.SCHEDULE):
        return MemoryEvent("used", answer.t_s, call.vendor, call.verb.value, call.order, shipper)
    return None


def from_message(message: Message, shipper: str) -> MemoryEvent | None:
    """Return what a callback is worth remembering: how a carrier decided a tender."""
    if message.kind != "tender":
        return None
    return _decided(message.status, message.t_s, message.vendor, message.order, message.leg, message.problem, shipper)


def _decided(status: Status, t_s: float, vendor: str, order: str, leg: int, problem: str, shipper: str) -> MemoryEvent:
    kind = "accepted" if status is Status.CONFIRMED else "refused" if problem == REFUSED else "rejected"
    return MemoryEvent(kind, t_s, vendor, Verb.TENDER.value, order, shipper, kind == "accepted", str(leg))


def from_road(kind: str, problem: str, carrier: str, order: str, shipper: str, t_s: float) -> MemoryEvent | None:
    """Return what the end of a leg is worth remembering: delivered, or a truck that came late."""
    if kind == "delivered":
        return MemoryEvent("delivered", t_s, carrier, Verb.DISPATCH.value, order, shipper)
    if problem == TRUCK_LATE:
        return MemoryEvent("missed", t_s, carrier, Verb.DISPATCH.value, order, shipper, ok=False)
    return None


class Recollection:
    """One agent's memory during a session; without one it hears nothing and knows nothing."""

    __slots__ = ("_bucket", "_known", "_unknown", "memory")

    def __init__(self, memory: Memory | None, n_carriers: int) -> None:
        self.memory = memory
        self._unknown = np.broadcast_to(CENTRE, (n_carriers, VENDOR_F))
        self._known: dict[str, F32] = {}
        self._bucket = -1.0

    @property
    def version(self) -> int:
        """Return the version of the memory that the session started from."""
        return self.memory.version if self.memory is not None else 0

    def hear(self, event: MemoryEvent | None) -> None:
        """Take in an event, if there is one."""
        if event is not None and self.memory is not None:
            self.memory.observe(event)
            self._known.clear()

    def carriers(self, names: Sequence[str], shipper: str, now_s: float) -> F32:
        """Return what is remembered of each carrier, shape (carriers, VENDOR_F)."""
        if self.memory is None:
            return self._unknown
        bucket = now_s // BUCKET_S
        if bucket != self._bucket:
            self._known.clear()
            self._bucket = bucket
        known = self._known.get(shipper)
        if known is None:
            known = self._known[shipper] = self.memory.vendor_features(names, shipper, bucket * BUCKET_S)
        return known

    def key(self, now_s: float) -> int:
        """Return the digest of the memory view, 0 without a memory."""
        return self.memory.key(now_s) if self.memory is not None else 0
