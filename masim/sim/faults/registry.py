"""Every kind of fault by its name in scenarios."""

from __future__ import annotations

from masim.sim.faults.base import Fault
from masim.sim.faults.kinds import transport

_KINDS: tuple[type[Fault], ...] = (
    transport.Latency,
    transport.SlowBody,
    transport.Hang,
    transport.Reset,
    transport.Truncation,
)
FAULTS: dict[str, type[Fault]] = {kind.kind: kind for kind in _KINDS}
