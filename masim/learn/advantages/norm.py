"""Deviations from a group's mean, scaled or not."""

from __future__ import annotations

from typing import Literal

from masim.arrays import F64
from masim.errors import ConfigError
from masim.learn.reduce import GroupStats

Norm = Literal["std", "none"]


def check_norm(norm: str, ddof: int, eps: float) -> None:
    """Raise ConfigError on an unknown normaliser or ddof, and on an eps that is not positive."""
    if norm not in ("std", "none"):
        raise ConfigError("unknown normaliser", "norm", repr(norm), "std, none")
    if ddof not in (0, 1):
        raise ConfigError("unknown ddof", "ddof", str(ddof), "0 (population), 1 (sample)")
    if eps <= 0:
        raise ConfigError("eps must be positive", "eps", str(eps), "> 0")


def normalised(stats: GroupStats, norm: Norm, ddof: int, eps: float) -> F64:
    """Return the deviations, divided by ``std + eps`` unless ``norm`` is none; 0 for members that are alone."""
    return stats.deviation / (stats.std(ddof) + eps) if norm == "std" else stats.deviation
