"""The base estimators by name. A new one is one class and one line here."""

from __future__ import annotations

from masim.learn.advantages.grpo import Grpo, Rloo
from masim.learn.advantages.reinforce import Reinforce

ESTIMATORS: dict[str, type[Grpo] | type[Rloo] | type[Reinforce]] = {
    "grpo": Grpo,
    "rloo": Rloo,
    "reinforce": Reinforce,
}
