"""How a server is talked to: the ``server:`` section of an agent card, as values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from urllib.parse import urlsplit

from masim.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where the server is, and what may be asked of it. Raises ConfigError for a value that none of it can have."""

    base_url: str = ""
    """Begins with http:// or https://, ends before ``/chat/completions``."""
    model: str = ""
    """Name of the model at the server."""
    key_env: str = ""
    """Environment variable that holds the key; empty for a server that needs none."""
    timeout_s: float = 60.0
    """Real seconds until an attempt is given up, from its start to its last byte."""
    attempts: int = 4
    """Most attempts of one request, the first one included."""
    base_s: float = 0.5
    """Wait before the first retry is up to this, up to twice as long before each further one."""
    cap_s: float = 20.0
    """Longest wait before a retry; a server's Retry-After is kept up to this."""
    per_minute: float = 0.0
    """Most requests of one process in a minute, attempts counted; 0: no limit."""
    parallel: int = 4
    """Most requests under way at once in one process."""
    tools: bool = True
    """Send the tools as JSON schema; without it they stand in the words alone."""
    logprobs: bool = False
    """Ask for log-probabilities."""
    usd_per_million_in: float = 0.0
    """Price of a million tokens that are read."""
    usd_per_million_out: float = 0.0
    """Price of a million tokens that are written."""
    most_usd: float = 0.0
    """What one process may spend, by these prices; 0: no limit."""

    def __post_init__(self) -> None:
        self._check_url()
        self._require(bool(self.model), "model", "the name of a model at the server")
        self._require(1 <= self.attempts <= 100, "attempts", "an integer from 1 to 100")
        self._require(1 <= self.parallel <= 256, "parallel", "an integer from 1 to 256")
        self._require(0.0 < self.timeout_s < math.inf, "timeout_s", "seconds above 0")
        for name in ("base_s", "cap_s", "per_minute", "usd_per_million_in", "usd_per_million_out", "most_usd"):
            self._require(0.0 <= getattr(self, name) < math.inf, name, "a number from 0")

    def _check_url(self) -> None:
        try:
            url = urlsplit(self.base_url)
            good = url.scheme in ("http", "https") and bool(url.hostname) and (url.port or 1) > 0
        except ValueError:
            good = False
        self._require(good, "base_url", "http://host:port/v1, or https")
        if "@" in url.netloc or url.query:
            fix = "put the key into an environment variable, and its name into server.key_env"
            raise ConfigError("an address must not hold a secret", "server.base_url", "not shown", "", fix)

    def _require(self, good: bool, name: str, allowed: str) -> None:
        if not good:
            raise ConfigError("impossible server setting", f"server.{name}", repr(getattr(self, name)), allowed)
