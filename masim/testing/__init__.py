"""Conformance and determinism checks that users can run too; the names are loaded on first use."""

from __future__ import annotations

from importlib import import_module

__all__ = ["ConformanceError", "check_determinism", "check_env", "check_theory", "episode_digests", "paired_variance"]

_HOMES = {
    "ConformanceError": "masim.testing.problems",
    "check_determinism": "masim.testing.determinism",
    "check_env": "masim.testing.conformance",
    "check_theory": "masim.testing.theory.suite",
    "episode_digests": "masim.testing.determinism",
    "paired_variance": "masim.testing.crn",
}


def __getattr__(name: str) -> object:
    """Load a check on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
