"""What the protocol of forgetting may say: the budget, and what an arm is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from masim.errors import ConfigError, ScenarioError
from masim.memory.config import MemoryConfig
from masim.memory.forget.registry import policy
from masim.memory.views.registry import check_view
from masim.policy.nodes import entries, typed
from masim.scenario.nodes import Node
from masim.scenario.validate import shown

ACTORS = ("workflow", "knowing")
SETTINGS = ("memory", "actor", "keep")


@dataclass(frozen=True, slots=True)
class Budget:
    """How much is played, and what counts as what. Raises ConfigError on impossible values."""

    episodes: int = 400
    """Days of a campaign."""
    explore: float = 0.1
    """Share of the orders for which the carrier is drawn; none while an evaluation is on."""
    change_every: int = 0
    """Days from one change to the next in the world that drifts; 0: as its scenario says."""
    first_check: int = 40
    check_every: int = 80
    """Evaluations of the memory as it is in the morning of these days."""
    check_episodes: int = 200
    """One-order days that an evaluation plays; nothing of them is remembered."""
    judged_from: int = 80
    """Completion counts from this day on, in both worlds: that of the first change in the one that drifts."""
    probe_every: int = 10
    """Days between two probes of what is recalled of yesterday."""
    threshold: float = 0.75
    """Completion that counts as having learned, or recovered."""
    window: int = 20
    """Episodes that it is averaged over."""
    recovery_window: int = 10
    drop: float = 0.2
    """An evaluation so much below the best one before is a collapse."""

    def __post_init__(self) -> None:
        for name in ("episodes", "check_every", "check_episodes", "probe_every", "window", "recovery_window"):
            self._require(getattr(self, name) >= 1, name, "an integer from 1")
        self._require(self.change_every >= 0, "change_every", "an integer from 0")
        for name in ("explore", "threshold", "drop"):
            self._require(0.0 <= getattr(self, name) <= 1.0, name, "a number from 0 to 1")
        self._require(1 <= self.first_check < self.episodes, "first_check", f"1 to {self.episodes - 1}")
        self._require(0 <= self.judged_from < self.episodes, "judged_from", f"0 to {self.episodes - 1}")
        self._require(self.window <= self.episodes, "window", f"at most episodes ({self.episodes})")

    def _require(self, good: bool, name: str, allowed: str) -> None:
        if not good:
            raise ConfigError("impossible budget", name, repr(getattr(self, name)), allowed)

    @property
    def checks(self) -> list[int]:
        """Return the days of the evaluations."""
        return list(range(self.first_check, self.episodes, self.check_every))


@dataclass(frozen=True, slots=True)
class Arm:
    """Who acts, and how it remembers."""

    memory: MemoryConfig = field(default_factory=MemoryConfig)
    actor: str = "workflow"
    keep: bool = True
    """False: the memory is emptied every morning."""

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Arm:
        """Return the arm of checked settings."""
        return cls(**{**settings, "memory": MemoryConfig(**settings.get("memory", {}))})


def check_budget(node: Node, over: Node | None = None) -> Budget:
    """Return a budget with the settings of a second node laid over it. Raises ScenarioError with the line."""
    known = asdict(Budget())
    values: dict[str, Any] = {}
    lines: dict[str, Node] = {}
    for part in (node, over):
        if part is not None:
            for name, child in entries(part, known, "budget", "setting").items():
                values[name], lines[name] = typed(child, f"budget.{name}", type(known[name])), child
    try:
        return Budget(**values)
    except ConfigError as error:
        where = lines.get(error.where, node).where
        raise ScenarioError(f"{error.problem}: {error.where}", where, error.value, error.allowed) from error


def check_arm(node: Node) -> Arm:
    """Return the arm of a ``settings:`` mapping. Raises ScenarioError with the line."""
    given = entries(node, SETTINGS, "settings", "setting")
    if "actor" in given and given["actor"].value not in ACTORS:
        raise ScenarioError("unknown actor", given["actor"].where, shown(given["actor"]), ", ".join(ACTORS))
    if "keep" in given:
        typed(given["keep"], "keep", bool)
    if "memory" in given:
        _memory(given["memory"])
    return Arm.of(node.plain())


def _memory(node: Node) -> MemoryConfig:
    types = {f.name: type(getattr(MemoryConfig(), f.name)) for f in fields(MemoryConfig)}
    for name, child in entries(node, types, "memory", "setting").items():
        typed(child, f"memory.{name}", types[name])
    try:
        made = MemoryConfig(**node.plain())
        policy(made.policy)
        check_view(made.view)
    except ConfigError as error:
        where = node.find(error.where.rpartition(".")[2]).where
        raise ScenarioError(f"{error.problem} {error.where}", where, error.value, error.allowed, error.fix) from error
    return made
