"""masim: a flight simulator for agents that do long, multi-API logistics work.

The names below are loaded on first use, so that ``import masim`` stays fast and needs no optional library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from masim.env.register import register_when_imported

if TYPE_CHECKING:
    from masim.env.core import Session
    from masim.scenario.load import Scenario, load_scenario

__version__ = "0.1.0"
__all__ = ["Scenario", "Session", "__version__", "load_scenario"]

_HOMES = {
    "Scenario": "masim.scenario.load",
    "Session": "masim.env.core",
    "load_scenario": "masim.scenario.load",
}
"""Public name to the module that defines it."""


def __getattr__(name: str) -> object:
    """Load a public name on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *_HOMES})


register_when_imported()
