"""The forgetting rules by name. One function and one line here each."""

from __future__ import annotations

from masim.errors import ConfigError, did_you_mean
from masim.memory.forget.base import Policy, Truth
from masim.memory.forget.rules.bare import exponential, lfu, lru, none, threshold, ttl
from masim.memory.forget.rules.controls import oracle, random
from masim.memory.forget.rules.recommended import recommended

POLICIES: dict[str, Policy] = {
    "recommended": recommended,
    "none": none,
    "ttl": ttl,
    "lru": lru,
    "lfu": lfu,
    "exponential": exponential,
    "threshold": threshold,
    "random": random,
    "oracle": oracle,
}


def policy(name: str) -> Policy:
    """Return a forgetting policy by name. Raises ConfigError with the nearest name."""
    if name not in POLICIES:
        near = did_you_mean(name, POLICIES)
        raise ConfigError("unknown forgetting policy", "memory.policy", name, ", ".join(POLICIES), near)
    return POLICIES[name]


def check_policy(name: str, truth: Truth | None = None) -> None:
    """Raise ConfigError for a rule that does not exist, or that needs a truth where there is none."""
    if policy(name) is oracle and truth is None:
        raise ConfigError(
            "the rule `oracle` asks the simulator what still holds, and nobody supplied it",
            "memory.policy",
            name,
            ", ".join(rule for rule in POLICIES if rule != name),
            "use it in a study that passes a truth, or choose another rule",
        )
