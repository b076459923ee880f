"""The reward designs by name. A new one is one class and one line here."""

from __future__ import annotations

from masim.learn.rewards.base import RewardDesign
from masim.learn.rewards.outcome import Outcome, UnitEvent
from masim.learn.rewards.preference import Preference
from masim.learn.rewards.steps import Shaped, StepPenalty, SuccessfulCalls

REWARDS: dict[str, type[RewardDesign]] = {
    "outcome": Outcome,
    "unit_event": UnitEvent,
    "step_penalty": StepPenalty,
    "shaped": Shaped,
    "successful_calls": SuccessfulCalls,
    "preference": Preference,
}
