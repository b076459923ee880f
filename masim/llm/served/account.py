"""What was asked of a server and what it cost."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from masim.errors import HarnessError
from masim.llm.served.settings import ServerSettings


@dataclass(slots=True)
class Account:
    """Counts of one process; safe to use from several threads."""

    settings: ServerSettings
    requests: int = 0
    attempts: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float = 0.0
    _next_s: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def admit(self) -> float:
        """Count an attempt and return how many seconds to wait before it, by the limit per minute.

        Raises HarnessError when nothing may be spent any more.
        """
        settings = self.settings
        with self._lock:
            if settings.most_usd and self.usd >= settings.most_usd:
                raise HarnessError(f"the model server has cost {self.usd:.4f} USD; server.most_usd allows no more")
            self.attempts += 1
            if not settings.per_minute:
                return 0.0
            now = time.monotonic()
            begin = max(now, self._next_s)
            self._next_s = begin + 60.0 / settings.per_minute
            return begin - now

    def book(self, tokens_in: int, tokens_out: int) -> None:
        """Count a request that was answered."""
        settings = self.settings
        with self._lock:
            self.requests += 1
            self.tokens_in += tokens_in
            self.tokens_out += tokens_out
            self.usd += (tokens_in * settings.usd_per_million_in + tokens_out * settings.usd_per_million_out) / 1e6
