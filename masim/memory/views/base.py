"""The protocol of a view: what it hears, and what it shows under the one budget that all views share.

Every view fills the same columns per vendor (:data:`masim.memory.vendor_features.VENDOR_COLUMNS`) and at most the same
number of tokens of text (:data:`masim.memory.render.TOKENS`), so that views can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from masim.arrays import F32
from masim.memory.config import MemoryConfig
from masim.memory.graph import ProfileGraph
from masim.memory.vendor_features import VendorKeys

if TYPE_CHECKING:
    from masim.memory.memory import MemoryEvent


class View(Protocol):
    """One agent's memory as one way of looking sees it, during one rollout."""

    flat: bool
    """Whether it keeps its own record instead of the profile graph's; no rule sweeps that."""

    def hear(self, event: MemoryEvent) -> None:
        """Take in one event."""

    def rows(self, keys: Sequence[VendorKeys], now_s: float) -> F32:
        """Return (V, VENDOR_F) float32, one row per vendor in the order of ``keys``."""

    def card(self, entities: Sequence[str], now_s: float) -> str:
        """Return the text for the node ids in play."""

    def recalled(self, entities: Sequence[str], k: int, now_s: float) -> list[str]:
        """Return the vendor nodes that the ``k`` best items at some nodes speak well of, best first."""

    def refresh(self) -> None:
        """Take note that the graph was changed by somebody else."""

    def digest_parts(self) -> tuple[object, ...]:
        """Return what tells one state of the view from another, beside the graph's own long-run edges."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a view is made of, for one agent in one rollout."""

    graph: ProfileGraph
    agent_id: str
    config: MemoryConfig
    episode: int
    """Number of the episode in its campaign."""


MakeView = Callable[[Setting, int], View]
"""``make(setting, size)``; ``size`` is the number in brackets of a name like ``history(64)``, 0 without one."""
