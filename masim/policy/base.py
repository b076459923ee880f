"""Who acts: the one protocol that scripted agents, torch scorers and language models share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from masim.arrays import F32
from masim.env.decision import Chosen, Decision
from masim.errors import ToolError
from masim.rng import Noise
from masim.sim.world import World

Seen: TypeAlias = tuple[F32, F32]
"""(n_legal, F) candidate rows, and (C,) context."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer: the action, its position among the legal candidates, and its log-probability (0 if certain)."""

    action: int
    row: int
    logp: float = 0.0
    more: tuple[int, ...] = ()
    """Further actions of the same decision, where the scenario's ``turn`` allows several."""
    seen: Seen | None = None
    """The rows and the context that the policy went by, where these are not the decision's own."""
    errors: tuple[ToolError, ...] = ()
    """Why words stand for no action; the action is then -1, which is illegal, and its row that of the wait."""
    tokens: int = 0
    """How many tokens a language model wrote for it."""

    @property
    def chosen(self) -> Chosen:
        """Return the whole decision, as a session takes it."""
        return (self.action, *self.more) if self.more else self.action


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to a policy. ``noise`` is the rollout's own source, so members of a group act differently."""

    decision: Decision
    noise: Noise
    world: World | None = None
    """The simulated world itself, shown to omniscient policies only (:func:`sees_world`)."""
    errors: tuple[ToolError, ...] = ()
    """Why words of the agent's last decision did nothing."""

    def uniform(self) -> float:
        """Return this decision's uniform."""
        return self.noise.uniform("choice", self.decision.agent, self.decision.turn)


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a policy thinks in simulated time; one that has a pace says so as ``pace``."""

    token_s: float = 0.0
    """Simulated seconds that one token takes."""
    at_once: int = 0
    """How many agents of one rollout are served at once, the others queue; 0: all."""


class Policy(Protocol):
    """Answers a batch of questions; it must not keep state between batches."""

    name: str

    def choose(self, asks: Sequence[Ask]) -> list[Choice]:
        """Return one choice per question, in order."""


def looks_under_way(policy: Policy) -> bool:
    """Return whether a policy minds ``Decision.under_way``: it says so by ``concurrent = True``."""
    return bool(getattr(policy, "concurrent", False))


def sees_world(policy: Policy) -> bool:
    """Return whether a policy is a yardstick that is shown the world: it says so by ``omniscient = True``."""
    return bool(getattr(policy, "omniscient", False))


def spent_by(policy: Policy) -> dict[str, float]:
    """Return what a served policy has asked of its server and what that cost; nothing for everybody else."""
    spent = getattr(policy, "spent", None)
    return dict(spent()) if spent is not None else {}
