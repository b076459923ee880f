"""The key ``hidden.drift``: how carriers change during a campaign."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import BeforeValidator, Field

from masim.errors import ScenarioError
from masim.scenario.dist_models import Doc
from masim.scenario.nodes import Node
from masim.scenario.quantities import Count, CountOrZero, choice
from masim.scenario.validate import shown
from masim.sim.drift import CHANGES, SWAP, DriftSpec

Change = Annotated[str, BeforeValidator(choice(CHANGES, "change"))]


class DriftDoc(Doc):
    """When and how the carriers' shares on time change."""

    every_days: Count = Field(description="Days from one change to the next.")
    over_days: CountOrZero = Field(default=0, description="Days from the old to the new value; 0: at once.")
    change: Change = Field(default=SWAP, description="swap: the best trades places with another one; deal: all anew.")

    def spec(self) -> DriftSpec:
        """Return what the world goes by."""
        return DriftSpec(self.every_days, self.over_days, self.change)


def check_drift(drift: DriftDoc | None, on_time_p: tuple[float, ...], node: Node) -> Iterator[ScenarioError]:
    """Yield what contradicts itself: changes that overlap, and changes that change nothing."""
    if drift is None:
        return
    if drift.over_days >= drift.every_days:
        over = node.find("over_days")
        fix = "a change must be over before the next one begins"
        yield ScenarioError(
            "hidden.drift: changes overlap", over.where, shown(over), f"0 to {drift.every_days - 1}", fix
        )
    if len(set(on_time_p)) < 2:
        allowed = "two carriers or more with different probabilities"
        yield ScenarioError("hidden.drift: all carriers are alike, so nothing can change", node.where, "", allowed)
