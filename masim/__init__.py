"""masim: a flight simulator for agents that do long, multi-API logistics work."""

from __future__ import annotations

__version__ = "0.1.0"
