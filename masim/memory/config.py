"""Settings of an agent's memory: one frozen value, checked once, shared by every overlay."""

from __future__ import annotations

from dataclasses import dataclass

from masim.errors import ConfigError
from masim.units import DAY


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """How a memory decays and what it forgets. Times are simulated seconds. Raises ConfigError on contradictions."""

    half_life_s: float = DAY
    """Half-life ``H`` of an edge without successes; an edge with ``s`` successes has ``H * (1 + ln(1 + s))``."""
    policy: str = "recommended"
    """Forgetting rule, a name in :data:`masim.memory.forget.registry.POLICIES`."""
    relevance: str = "near"
    """How the text view chooses edges for what is in play, a name in :data:`masim.memory.relevance.RELEVANCES`."""
    view: str = "profile"
    """What the policy is shown, a name in :mod:`masim.memory.views.registry`: ``profile``, ``evidence`` or
    ``history(K)``."""
    node_cap: int = 200
    node_floor: int = 190
    """Above ``node_cap`` nodes the weakest are evicted down to ``node_floor`` (hysteresis)."""
    sweep_every: int = 32
    """Observed events between two sweeps; an episode's end always sweeps."""
    theta: float = 0.15
    """An edge that scores less may be forgotten."""
    share: float = 0.05
    """An edge with a smaller share of the weight at both of its ends may be forgotten."""
    episode_s: float = DAY
    grace_s: float = 2 * DAY
    """No edge younger than this is forgotten."""
    success_window_s: float = 2 * DAY
    """An edge with a success is kept at least this long after its last use."""
    missed_ttl_s: float = 3 * DAY
    trouble_ttl_s: float = DAY
    """Life of an error or a rejection."""
    refusal_ttl_s: float = 7 * DAY
    failure_episodes: int = 3
    """Distinct episodes with incidents before they count on the vendor's long-run edge."""
    touch: float = 0.25
    credit: float = 0.75
    idle_s: float = 2 * DAY
    """``ttl`` forgets what was not used for this long."""
    edge_cap: int = 400
    """``lru`` and ``lfu`` keep this many edges."""
    seed: int = 0
    """Of ``random``."""
    dry_run: bool = False
    """Report what a sweep would forget and forget nothing."""

    def __post_init__(self) -> None:
        for name in ("half_life_s", "episode_s", "missed_ttl_s", "trouble_ttl_s", "refusal_ttl_s", "sweep_every"):
            self._require(getattr(self, name) > 0, name, "a number above 0")
        for name in ("grace_s", "success_window_s", "theta", "share", "touch", "credit", "failure_episodes"):
            self._require(getattr(self, name) >= 0, name, "a number from 0")
        self._require(self.idle_s > 0, "idle_s", "a number above 0")
        self._require(self.edge_cap >= 1, "edge_cap", "an integer from 1")
        self._require(self.node_floor >= 1, "node_floor", "an integer from 1")
        self._require(self.node_cap >= self.node_floor, "node_cap", f"node_floor or more ({self.node_floor})")

    def _require(self, good: bool, name: str, allowed: str) -> None:
        if not good:
            raise ConfigError("impossible memory setting", f"memory.{name}", repr(getattr(self, name)), allowed)
