"""How an agent's client treats its calls: one frozen value; the default is a client that adds nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from masim.errors import ConfigError
from masim.tools.breaker import BreakerSettings
from masim.tools.retry import RetrySettings

KEY_SCOPES = ("effect", "order", "request")


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """What stands between an agent and the wire. Raises ConfigError on impossible values."""

    deadline_s: float | None = None
    """How long one attempt may take; ``None``: what the scenario says."""
    retry: RetrySettings = field(default_factory=RetrySettings)
    breaker: BreakerSettings | None = None
    idempotency: bool = False
    """Send a key with every write, the same for all attempts at one effect."""
    key_per: str = "effect"
    """``order``: one key for all writes of an order at a vendor's endpoint, as integrations do that key by their own
    order number. ``request``: made of what is asked alone, so that a task that runs again, or another agent with the
    same task, sends the same."""

    def __post_init__(self) -> None:
        if self.deadline_s is not None and not 0.0 < self.deadline_s < math.inf:
            raise ConfigError("impossible client setting", "client.deadline_s", repr(self.deadline_s), "above 0")
        if self.key_per not in KEY_SCOPES:
            raise ConfigError("impossible client setting", "client.key_per", repr(self.key_per), ", ".join(KEY_SCOPES))
        if self.key_per != "effect" and not self.idempotency:
            raise ConfigError("keys that are not sent:", "client.key_per", self.key_per, "with idempotency: true")

    @property
    def plain(self) -> bool:
        """Whether the client adds nothing."""
        return self == PLAIN


PLAIN = ClientSettings()


def settings_from_mapping(stored: Mapping[str, Any]) -> ClientSettings:
    """Return settings from their stored fields. Raises TypeError or ConfigError for anything else."""
    parts: dict[str, Any] = dict(stored)
    if "retry" in parts:
        parts["retry"] = RetrySettings(**parts["retry"])
    if parts.get("breaker") is not None:
        parts["breaker"] = BreakerSettings(**parts["breaker"])
    return ClientSettings(**parts)
