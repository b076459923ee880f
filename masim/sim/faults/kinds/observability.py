"""Family 13, observability: what says whether a vendor is up is wrong itself.

Both strike reads of ``health``, the status page of a carrier, which a scenario has when it lists that endpoint.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from masim.sim.faults.base import CallChange, CallFault, Memo
from masim.sim.faults.event import Event
from masim.sim.faults.kinds.staged import Staged, stage_of
from masim.sim.spec import Status, Verb


@dataclass(frozen=True, slots=True)
class FalseGreen(CallFault, Staged):
    """The status page says that all is well while the vendor is down."""

    kind: ClassVar[str] = "false_green"
    family: ClassVar[str] = "observability"

    def verbs(self) -> frozenset[str]:
        """Return where it strikes."""
        return frozenset({Verb.HEALTH.value})

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Call a vendor that is down up."""
        if not stage_of(memo).world.down(event.vendor):
            return False
        change.patch.append(lambda body: replace(body, status=Status.CONFIRMED, problem=""))
        return True


@dataclass(frozen=True, slots=True)
class FalseDown(CallFault, Staged):
    """The probe behind the status page fails, and a vendor that works is called down."""

    kind: ClassVar[str] = "false_down"
    family: ClassVar[str] = "observability"

    def verbs(self) -> frozenset[str]:
        """Return where it strikes."""
        return frozenset({Verb.HEALTH.value})

    def on_call(self, event: Event, change: CallChange, memo: Memo) -> bool:
        """Call a vendor that is up down."""
        if stage_of(memo).world.down(event.vendor):
            return False
        change.patch.append(lambda body: replace(body, status=Status.REJECTED, problem="down"))
        return True
