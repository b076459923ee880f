"""The credit units by name. A new one is one class and one line here."""

from __future__ import annotations

from masim.learn.credit.base import UnitRule
from masim.learn.credit.cuts import EventUnit, LowProbUnit, SubtaskUnit
from masim.learn.credit.modes import ModeUnit
from masim.learn.credit.rollout import RolloutUnit
from masim.learn.credit.segments import RandomPhaseUnit, SegmentUnit
from masim.learn.credit.sets import AgentSetUnit, RoleSetUnit, VendorSetUnit, WindowSetUnit
from masim.learn.credit.spans import TokenSpanUnit

UNIT_RULES: dict[str, type[UnitRule]] = {
    "rollout": RolloutUnit,
    "segment": SegmentUnit,
    "segment_random_phase": RandomPhaseUnit,
    "segment_subtask": SubtaskUnit,
    "segment_event": EventUnit,
    "segment_low_prob": LowProbUnit,
    "segment_mode": ModeUnit,
    "agent_set": AgentSetUnit,
    "role_set": RoleSetUnit,
    "vendor_set": VendorSetUnit,
    "window_set": WindowSetUnit,
    "token_span": TokenSpanUnit,
}
