"""Idempotency keys: a vendor that knows them does the same thing once and gives its first answer again.

Only answers that stand for an effect are kept: a refused attempt changed nothing and may be made again under its key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from masim.sim.clock import Clock
from masim.sim.spec import WRITE_VERBS
from masim.sim.terms import KeyRule, Terms
from masim.sim.wire import Body, Call, Result

KEY_REUSED = "idempotency key was used with another request"
_Fingerprint = tuple[str, str, int, str, int]


def _fingerprint(call: Call) -> _Fingerprint:
    return call.verb, call.order, call.leg, call.stop, call.slot


class Keys:
    """The keys that all vendors of one world have seen."""

    __slots__ = ("_clock", "_seen", "_terms")

    def __init__(self, terms: Mapping[str, Terms], clock: Clock) -> None:
        self._terms = {vendor: t for vendor, t in terms.items() if t.key_rule is not KeyRule.IGNORED}
        self._clock = clock
        self._seen: dict[tuple[str, str], tuple[_Fingerprint, Body, float]] = {}

    def answer(self, call: Call, act: Callable[[], Body]) -> Body:
        """Return the stored answer of a call's key, or let the call act and store what it says."""
        terms = self._terms.get(call.vendor)
        if terms is None or call.verb not in WRITE_VERBS:
            return act()
        key = (call.vendor, call.idempotency_key)
        seen = self._seen.get(key)
        now = self._clock.now
        if seen is not None and (terms.key_ttl_s is None or now - seen[2] < terms.key_ttl_s):
            if terms.key_rule is KeyRule.STRICT and seen[0] != _fingerprint(call):
                return Body(Result.FAILURE, 409, problem=KEY_REUSED)
            return seen[1]
        body = act()
        if body.result in (Result.SUCCESS, Result.PENDING):
            self._seen[key] = (_fingerprint(call), replace(body, replayed=True), now)
        return body
