"""The claims by name. One package and one line here each; each has its protocol in ``configs/claims``."""

from __future__ import annotations

from importlib import import_module

from masim.errors import ConfigError, did_you_mean
from masim.study.claims.base import Claim

CLAIMS = {
    "batching": "masim.study.claims.learning.batching:BATCHING",
    "completion": "masim.study.claims.learning.completion:COMPLETION",
    "forgetting": "masim.study.claims.forgetting.claim:FORGETTING",
    "proxy-reward": "masim.study.claims.proxy.claim:PROXY",
    "segments": "masim.study.claims.learning.segments:SEGMENTS",
}


def find_claim(name: str) -> Claim:
    """Return a claim's own part. Raises ConfigError with the nearest name."""
    if name not in CLAIMS:
        raise ConfigError("unknown claim", "NAME", repr(name), ", ".join(CLAIMS), did_you_mean(name, CLAIMS))
    module, _, member = CLAIMS[name].partition(":")
    found: Claim = getattr(import_module(module), member)
    return found
