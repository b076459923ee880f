"""Conformance and determinism checks that users can run too; the names are loaded on first use."""

from __future__ import annotations

from importlib import import_module

_HOMES = {
    "CHECKS": "masim.testing.conformance",
    "ConformanceError": "masim.testing.problems",
    "Problem": "masim.testing.problems",
    "check_aec": "masim.testing.conformance",
    "check_determinism": "masim.testing.determinism",
    "check_determinism_of": "masim.testing.determinism",
    "check_env": "masim.testing.conformance",
    "check_gymnasium": "masim.testing.conformance",
    "check_parallel": "masim.testing.conformance",
    "check_ready": "masim.testing.conformance",
    "check_theory": "masim.testing.theory.suite",
    "episode_digests": "masim.testing.determinism",
    "paired_variance": "masim.testing.crn",
}
__all__ = [
    "CHECKS",
    "ConformanceError",
    "Problem",
    "check_aec",
    "check_determinism",
    "check_determinism_of",
    "check_env",
    "check_gymnasium",
    "check_parallel",
    "check_ready",
    "check_theory",
    "episode_digests",
    "paired_variance",
]


def __getattr__(name: str) -> object:
    """Load a check on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
