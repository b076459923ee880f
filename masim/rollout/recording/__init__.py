"""Recordings of environments: one row per decision, as Parquet, and from there to Minari."""

from __future__ import annotations

from importlib import import_module

_HOMES = {
    "Recording": "masim.rollout.recording.read",
    "export_minari": "masim.rollout.recording.minari",
    "read_recording": "masim.rollout.recording.read",
    "record": "masim.rollout.recording.wrap",
}
__all__ = ["Recording", "export_minari", "read_recording", "record"]


def __getattr__(name: str) -> object:
    """Load a name on first use (PEP 562): reading needs no environment library."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
