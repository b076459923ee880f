"""The section ``turn`` of a scenario: what one decision of an agent may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from masim.errors import ScenarioError
from masim.scenario.dist_models import Doc
from masim.scenario.nodes import Node
from masim.scenario.quantities import Count, PositiveDuration
from masim.scenario.validate import shown
from masim.sim.turn import WAITS_S, TurnSpec

MAX_WAITS = 4
"""Candidate features have a column for each wait."""
MAX_CALLS = 8


class TurnDoc(Doc):
    """What one decision of an agent may be."""

    waits: tuple[PositiveDuration, ...] = Field(
        default=WAITS_S,
        description="Durations of the waits, 1 to 4 of them. The first ends with the next message, at the latest then.",
    )
    calls: Count = Field(default=1, description="Most calls of one decision, up to 8.")
    mode: Literal["blocking", "first", "async"] = Field(
        default="blocking",
        description="The agent is asked again when all its calls were answered, when the first was, or at once.",
    )
    same_call: Literal["send", "drop"] = Field(
        default="send", description="A call that stands in one decision twice: both are sent, or the second is not."
    )

    def spec(self) -> TurnSpec:
        """Return what the simulator needs of it."""
        return TurnSpec(self.waits, self.calls, self.mode, self.same_call)


def check_turn(turn: TurnDoc, node: Node) -> Iterator[ScenarioError]:
    """Yield what is wrong with the section: counts, waits that are one, settings that change nothing."""
    waits = node.find("waits")
    if not 1 <= len(turn.waits) <= MAX_WAITS:
        value = f"{len(turn.waits)} waits"
        yield ScenarioError("turn: wrong number of waits", waits.where, value, f"1 to {MAX_WAITS}")
    for i, wait_s in enumerate(turn.waits):
        if wait_s in turn.waits[:i]:
            same = node.find("waits", i)
            yield ScenarioError("turn: two waits of one duration", same.where, shown(same), "each once", "remove it")
    if turn.calls > MAX_CALLS:
        calls = node.find("calls")
        yield ScenarioError("turn: too many calls in one decision", calls.where, shown(calls), f"1 to {MAX_CALLS}")
    for name, value in (("mode", "first"), ("same_call", "drop")):
        if turn.calls == 1 and getattr(turn, name) == value:
            problem = f"turn: {name}: {value} and calls: 1 contradict each other, one call has no other beside it"
            yield ScenarioError(problem, node.find(name).where, value, "", f"raise `calls`, or remove `{name}`")
