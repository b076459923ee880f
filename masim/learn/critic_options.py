"""Options of the critic; apart from the critic itself, which needs torch."""

from __future__ import annotations

from dataclasses import dataclass

from masim.errors import ConfigError


@dataclass(frozen=True, slots=True)
class CriticOptions:
    """The value network of PPO: its size and how it is fitted. Raises ConfigError on values out of range."""

    hidden: int = 64
    lr: float = 1e-3
    epochs: int = 4
    """Passes over the buffer per update."""
    rows_per_step: int = 1024
    """Most decisions in one optimizer step."""
    grad_clip: float = 1.0

    def __post_init__(self) -> None:
        for name in ("hidden", "epochs", "rows_per_step"):
            if getattr(self, name) < 1:
                raise ConfigError("out of range", f"critic.{name}", str(getattr(self, name)), ">= 1")
        for name in ("lr", "grad_clip"):
            if getattr(self, name) <= 0:
                raise ConfigError("out of range", f"critic.{name}", str(getattr(self, name)), "> 0")
