"""Simulated time as decisions: the session core and its PettingZoo and Gymnasium adapters.

The constructors below are loaded on first use, so that ``import masim.env.core`` needs neither library.
"""

from __future__ import annotations

from importlib import import_module

__all__ = ["TextWrapper", "aec_env", "gym_env", "parallel_env", "ready_env"]

_HOMES = {
    "TextWrapper": "masim.env.text.wrapper",
    "aec_env": "masim.env.make",
    "gym_env": "masim.policy.company",
    "parallel_env": "masim.env.make",
    "ready_env": "masim.env.ready",
}


def __getattr__(name: str) -> object:
    """Load a constructor on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
