"""The base estimators by name. A new one is one class and one line here."""

from __future__ import annotations

from masim.learn.advantages.agents import Counterfactual, TurnAgent
from masim.learn.advantages.base import Estimator
from masim.learn.advantages.gae import Gagpo, PpoGae
from masim.learn.advantages.gigpo import Gigpo
from masim.learn.advantages.graphgpo import Graphgpo
from masim.learn.advantages.grpo import Grpo, Rloo
from masim.learn.advantages.hgpo import Hgpo
from masim.learn.advantages.reinforce import Reinforce

ESTIMATORS: dict[str, type[Estimator]] = {
    "grpo": Grpo,
    "rloo": Rloo,
    "reinforce": Reinforce,
    "ppo_gae": PpoGae,
    "gigpo": Gigpo,
    "hgpo": Hgpo,
    "gagpo": Gagpo,
    "graphgpo": Graphgpo,
    "turn_agent": TurnAgent,
    "counterfactual": Counterfactual,
}
