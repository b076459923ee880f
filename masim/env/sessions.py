"""The session that belongs to a value of ``sync``."""

from __future__ import annotations

from masim.env.barrier import BarrierSession
from masim.env.core import Session
from masim.env.tick import TickSession

SESSIONS: dict[str, type[Session]] = {kind.sync: kind for kind in (Session, BarrierSession, TickSession)}
