"""What a claim brings: how one cell is played, and what is read off it. All else is shared.

A cell is one (arm, world, seed). It is a pure function of the protocol, so cells can be played anywhere and in any
order, and one that was finished is never played again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from masim.scenario.nodes import Node
from masim.study.claims.protocol import ProtocolDoc

CPU_S = "cpu_s"
"""Key under which a played cell may tell processor seconds of its parts; they are kept apart from what was found."""
Kind = Literal["value", "rate", "time"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Something that every cell is asked for."""

    name: str
    kind: Kind
    """``value``: a number per seed; ``rate``: 0 or 1 per seed; ``time``: when something happened, if it did."""
    says: str
    worlds: tuple[str, ...] = ()
    """Where it means anything; empty: everywhere."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One cell's answer. ``happened`` is false for a time that was cut off."""

    endpoint: str
    arm: str
    world: str
    seed: int
    value: float
    happened: bool = True


@dataclass(frozen=True, slots=True)
class Cell:
    """One (arm, world, seed) of a claim."""

    claim: str
    arm: str
    world: str
    seed: int
    settings: Mapping[str, Any]
    """The arm's."""
    scenario: str
    budget: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Return the stem of the cell's file."""
        word = "".join(c if c.isalnum() else "-" for c in self.arm).strip("-")
        return f"{word}.{self.world}.s{self.seed}"


class Claim(Protocol):
    """One claim's own part."""

    endpoints: tuple[Endpoint, ...]

    def check(self, doc: ProtocolDoc, node: Node) -> None:
        """Raise ScenarioError for a budget or an arm that is not possible."""

    def play(self, cell: Cell) -> dict[str, Any]:
        """Play one cell and return what came of it, as plain values."""

    def measures(self, cell: Cell, played: Mapping[str, Any]) -> Sequence[Measure]:
        """Return a cell's answers."""

    def extras(self, cells: Sequence[tuple[Cell, Mapping[str, Any]]]) -> dict[str, Any]:
        """Return what the claim shows besides estimates (curves), as plain values."""

    def draw(self, results: Mapping[str, Any], extras: Mapping[str, Any], folder: Path) -> list[Path]:
        """Draw the claim's figures from the results, and return their files."""
