"""Ranges of the games' options, checked where a game is made."""

from __future__ import annotations

from masim.errors import ConfigError

MOST_ROUNDS = 100
"""Longest episode of a game: exact values are computed by recursion over its rounds."""


def whole(where: str, value: int, low: int, high: int) -> None:
    """Raise ConfigError unless ``low <= value <= high``."""
    if not low <= value <= high:
        raise ConfigError("out of range", where, str(value), f"{low} to {high}")


def share(where: str, value: float) -> None:
    """Raise ConfigError unless ``0 <= value < 1``."""
    if not 0.0 <= value < 1.0:
        raise ConfigError("out of range", where, str(value), "at least 0 and below 1")
