"""Family 2, status: the answer's code says something else than what happened. Names follow Envoy and WireMock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from masim.errors import ConfigError
from masim.sim.faults.base import CallChange, CallFault, Memo
from masim.sim.faults.event import Event
from masim.sim.wire import Body, Result


def check_error_code(code: int) -> None:
    """Raise ConfigError unless a code is one of an HTTP error."""
    if not 400 <= code <= 599:
        raise ConfigError("not the status of an HTTP error", "http_status", str(code), "400 to 599")


@dataclass(frozen=True, slots=True)
class Abort(CallFault):
    """The call is refused with a status. Raises ConfigError for a code that is no error."""

    http_status: int = 503
    retry_after_s: float = 0.0
    kind: ClassVar[str] = "abort"
    family: ClassVar[str] = "status"

    def __post_init__(self) -> None:
        check_error_code(self.http_status)

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Refuse."""
        told = self.retry_after_s
        return change.refuse(Body(Result.FAILURE, self.http_status, retry_after_s=told, problem="request failed"))

    def refuses_all(self) -> bool:
        """Return true."""
        return True


@dataclass(frozen=True, slots=True)
class WrongCode(CallFault):
    """A drawn call throttles its agent at this vendor for a while, but the refusals say that it is not allowed at all.

    Whoever believes the code gives up what waiting would have solved. Raises ConfigError for a code that is no error.
    """

    http_status: int = 403
    lasts_s: float = 60.0
    problem: str = "forbidden"
    kind: ClassVar[str] = "wrong_code"
    family: ClassVar[str] = "status"
    always: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_error_code(self.http_status)

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Refuse while the throttle lasts."""
        where = event.where
        key, now = (where.vendor, where.agent), where.t_s
        until_s = memo.get(key, 0.0)
        if event.drawn and now >= until_s:
            until_s = memo[key] = now + self.lasts_s
        if now >= until_s:
            return False
        return change.refuse(Body(Result.FAILURE, self.http_status, problem=self.problem))


@dataclass(frozen=True, slots=True)
class OkWithError(CallFault):
    """200, and the error is in the text: nothing was done."""

    problem: str = "internal error"
    kind: ClassVar[str] = "ok_with_error"
    family: ClassVar[str] = "status"

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Do nothing and say 200."""
        return change.refuse(Body(Result.SUCCESS, 200, problem=self.problem))

    def refuses_all(self) -> bool:
        """Return true."""
        return True


@dataclass(frozen=True, slots=True)
class EmptySuccess(CallFault):
    """201 with nothing in it: it was done, but the answer does not say what. Raises ConfigError for a code below 200
    or above 299."""

    http_status: int = 201
    kind: ClassVar[str] = "empty_success"
    family: ClassVar[str] = "status"

    def __post_init__(self) -> None:
        if not 200 <= self.http_status <= 299:
            raise ConfigError("not the status of a success", "http_status", str(self.http_status), "200 to 299")

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Empty the answer."""
        change.replace = Body(Result.SUCCESS, self.http_status)
        return True
