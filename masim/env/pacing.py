"""When agents are asked: the values of ``sync``, and the session that each of them plays."""

from __future__ import annotations

import math

from masim.errors import ConfigError

SYNCS = ("event", "all", "tick")
"""``event``: the next instant at which anybody is ready; ``all``: until everybody is; ``tick``: a fixed time later."""


def check_tick(sync: str, tick_s: object) -> None:
    """Refuse a length without ticks, ticks without a length, and lengths that are none. Raises ConfigError."""
    if tick_s is None:
        if sync == "tick":
            raise ConfigError("sync='tick' without tick_s: how long is a tick?", "tick_s", "", "seconds above 0")
        return
    if sync != "tick":
        why = "only ticks have a length"
        raise ConfigError(
            f"tick_s and sync={sync!r} contradict each other: {why}", "tick_s", repr(tick_s), "", "use sync='tick'"
        )
    if isinstance(tick_s, bool) or not isinstance(tick_s, int | float) or not 0.0 < tick_s < math.inf:
        raise ConfigError("impossible environment option", "tick_s", repr(tick_s), "seconds above 0")
