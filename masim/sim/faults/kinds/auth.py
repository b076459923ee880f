"""Family 4, auth: calls are refused with 401 because of the caller's token.

Tokens are the business of the client under the agent: at its first call it logs in (long since done), and when a
token is refused it logs in anew by itself. That takes ``login``; meanwhile calls are still answered 401, so an agent
recovers by waiting and loses by hammering. A token is the one of all agents (``per: key``) or of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from masim.errors import ConfigError
from masim.sim.faults.base import CallChange, CallFault, Memo
from masim.sim.faults.event import Event
from masim.sim.wire import Body, Result
from masim.units import HOUR


def refused(change: CallChange, problem: str) -> bool:
    """Refuse a call for its token."""
    return change.refuse(Body(Result.FAILURE, 401, problem=problem))


@dataclass(frozen=True, slots=True)
class TokenFault(CallFault):
    """What the kinds share: tokens that live for ``life``, and a login that takes ``login``."""

    life_s: float = 8 * HOUR
    login_s: float = 30.0
    per: Literal["key", "agent"] = "key"
    family: ClassVar[str] = "auth"

    def __post_init__(self) -> None:
        if self.life_s <= 0.0:
            raise ConfigError("a token that never lives", "life_s", f"{self.life_s:g} s", "more than 0 s")

    def _key(self, event: Event) -> tuple[str, str]:
        return event.vendor, event.agent if self.per == "agent" else ""


@dataclass(frozen=True, slots=True)
class TokenExpiry(TokenFault):
    """The token expires. ``refresh``: the client renews it once it was ``refused``, or ``ahead`` (the call waits)."""

    refresh: Literal["refused", "ahead"] = "refused"
    kind: ClassVar[str] = "token_expiry"

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Refuse, or hold back, until the login is over."""
        key, now = self._key(event), event.t_s
        ready_s = memo.setdefault(key, now)
        if now >= ready_s + self.life_s:
            ready_s = memo[key] = now + self.login_s
        if now >= ready_s:
            return False
        if self.refresh == "refused":
            return refused(change, "token expired")
        change.add_s += ready_s - now
        return True


@dataclass(frozen=True, slots=True)
class EarlyDeath(TokenFault):
    """The token dies at a ``share`` of the life it was promised; the client doubts the promise after some refusals.

    Raises ConfigError for a share outside (0, 1] or no refusals at all.
    """

    share: float = 1 / 3
    doubts_after: int = 3
    kind: ClassVar[str] = "early_death"

    def __post_init__(self) -> None:
        TokenFault.__post_init__(self)
        if not 0.0 < self.share <= 1.0:
            raise ConfigError("no part of a life", "share", f"{self.share:g}", "more than 0, at most 1")
        if self.doubts_after < 1:
            raise ConfigError("a client doubts after a refusal", "doubts_after", str(self.doubts_after), ">= 1")

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Refuse from the early death until the client has doubted and logged in."""
        key, now = self._key(event), event.t_s
        ready_s, refusals = memo.setdefault(key, (now, 0))
        if ready_s <= now < ready_s + self.share * self.life_s:
            return False
        if now >= ready_s:
            refusals += 1
            doubts = refusals >= self.doubts_after or now >= ready_s + self.life_s
            memo[key] = (now + self.login_s, 0) if doubts else (ready_s, refusals)
        return refused(change, "invalid token")


@dataclass(frozen=True, slots=True)
class ClockSkew(TokenFault):
    """The client's clock is ahead: a fresh token is refused until the vendor's clock has come to its time of issue."""

    skew_s: float = 60.0
    kind: ClassVar[str] = "clock_skew"

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Refuse while the token lies in the future."""
        key, now = self._key(event), event.t_s
        issued_s = memo.setdefault(key, now)
        if now >= issued_s + self.life_s:
            issued_s = memo[key] = now + self.login_s
        return refused(change, "token not valid yet") if now < issued_s + self.skew_s else False


@dataclass(frozen=True, slots=True)
class Revocation(TokenFault):
    """A drawn call finds the key revoked; it works again once somebody has asked for a new one (``login``)."""

    kind: ClassVar[str] = "revocation"
    always: ClassVar[bool] = True

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Refuse until there is a new key."""
        key, now = self._key(event), event.t_s
        if event.drawn and now >= memo.get(key, 0.0):
            memo[key] = now + self.login_s
        return refused(change, "key revoked") if now < memo.get(key, 0.0) else False


@dataclass(frozen=True, slots=True)
class RefreshRace(TokenFault):
    """Agents that share a token renew it at the same time, and each renewal voids the one under way.

    Whoever calls while another's login runs starts it over; it ends only when the others keep still for that long.
    """

    kind: ClassVar[str] = "refresh_race"

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Refuse until a login has run undisturbed."""
        key, now = self._key(event), event.t_s
        ready_s, renewer = memo.setdefault(key, (now, event.agent))
        if now >= ready_s + self.life_s or (now < ready_s and renewer != event.agent):
            ready_s = now + self.login_s
            memo[key] = (ready_s, event.agent)
        return refused(change, "refresh token already used") if now < ready_s else False
