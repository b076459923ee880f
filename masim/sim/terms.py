"""What a vendor's contract says beside prices and hours: how decisions arrive, keys, rules, fees, and its life.

All values are frozen; the defaults are a vendor that uses none of it, which costs a world nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Decisions(StrEnum):
    """How the decision about a request comes to the agent that asked."""

    SYNCHRONOUS = "synchronous"
    """In the answer itself."""
    CALLBACK = "callback"
    """Later, as a message."""
    POLL = "poll"
    """Never by itself: ``tender_status`` and ``appointment_details`` tell; this vendor sends no message at all."""


class KeyRule(StrEnum):
    """What a vendor does with an idempotency key."""

    IGNORED = "ignored"
    HONOURED = "honoured"
    """The same key gives the first answer again, for ever, whatever the request says."""
    EXPIRES = "expires"
    """As honoured, until the key is older than its time to live."""
    STRICT = "strict"
    """As honoured, but a key that comes with another request is refused with 409."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What every vendor's API has in common."""

    decisions: Decisions = Decisions.CALLBACK
    retry_after_s: float = 0.0
    """What a PENDING answer says about when to ask again; 0: nothing."""
    key_rule: KeyRule = KeyRule.IGNORED
    key_ttl_s: float | None = None
    """``None``: keys are known for ever."""


NO_TERMS = Terms()
