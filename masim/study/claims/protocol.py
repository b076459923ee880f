"""What a claim says, and by which rule it stands or falls: one YAML file in ``configs/claims``, written beforehand.

The part that all claims share is here: worlds, seeds, arms, hypotheses, contrasts. What an arm is and what the budget
means is the claim's own (:class:`masim.study.claims.base.Claim`), and checked by it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from masim.assets import find_asset, list_assets
from masim.errors import ConfigError, ScenarioError, did_you_mean
from masim.rng import digest64
from masim.scenario.dist_models import Doc
from masim.scenario.nodes import Node, read_nodes
from masim.scenario.quantities import Count, CountOrZero, Text
from masim.scenario.validate import shown, validate

FOLDER = "claims"


class SeedsDoc(Doc):
    """The seeds that every arm meets."""

    first: CountOrZero = 0
    count: Count


class ArmDoc(Doc):
    """One arm; ``settings`` are the claim's own."""

    family: Literal["main", "reference", "exploratory"] = "main"
    says: Text
    settings: dict[str, Any] = Field(default_factory=dict)


class RuleDoc(Doc):
    """A whole interval on one side of a bound: ``{above: 0.1}`` or ``{below: 0}``."""

    above: float | None = None
    below: float | None = None

    def holds(self, low: float, high: float) -> bool:
        """Return whether an interval lies on that side."""
        return low > self.above if self.above is not None else self.below is not None and high < self.below

    def words(self) -> str:
        """Return the rule in words."""
        return f"above {self.above:g}" if self.above is not None else f"below {self.below:g}"


class HypothesisDoc(Doc):
    """One sentence that the data may contradict."""

    id: Text
    says: Text
    endpoint: Text
    world: Text
    arm: Text
    minus: Text | None = Field(default=None, description="Arm to take the paired difference from.")
    supported: RuleDoc
    contradicted: RuleDoc
    falsifier: Text = Field(description="The same in plain words.")


class ContrastsDoc(Doc):
    """One arm against each other one, with p values corrected for their number (Holm)."""

    endpoint: Text
    arm: Text


class ProtocolDoc(Doc):
    """A claim's file."""

    schema_version: Literal[1] = Field(alias="schema")
    claim: Text
    title: Text
    says: Text = Field(description="The claim as it was made.")
    decided: Text = Field(description="What was looked at before the protocol was written, and with which seeds.")
    worlds: dict[str, Text]
    seeds: SeedsDoc
    budget: dict[str, Any]
    quick: dict[str, Any] = Field(default={}, description="What --quick changes in the budget.")
    arms: dict[str, ArmDoc]
    hypotheses: tuple[HypothesisDoc, ...]
    contrasts: tuple[ContrastsDoc, ...] = ()

    def digest(self) -> str:
        """Return a content hash, by which a resumed run knows that nothing has changed."""
        return f"{digest64(self.model_dump_json()):016x}"


def claim_names() -> list[str]:
    """Return the claims that there are protocols of."""
    names = list_assets("configs")
    return sorted(name.removeprefix(f"{FOLDER}/") for name in names if name.startswith(f"{FOLDER}/"))


def load_protocol(name: str) -> tuple[ProtocolDoc, Node]:
    """Return a claim's protocol and its nodes, for errors with lines. Raises ConfigError or ScenarioError."""
    known = claim_names()
    if name not in known:
        raise ConfigError("unknown claim", "NAME", repr(name), ", ".join(known), did_you_mean(name, known))
    return read_protocol(find_asset("configs", f"{FOLDER}/{name}"))


def read_protocol(file: Path) -> tuple[ProtocolDoc, Node]:
    """As :func:`load_protocol`, from a file."""
    node = read_nodes(file)
    doc = validate(ProtocolDoc, node)
    for i, hypothesis in enumerate(doc.hypotheses):
        here = node.find("hypotheses", i)
        _known(hypothesis.world, doc.worlds, here.find("world"), "world")
        for key, arm in (("arm", hypothesis.arm), ("minus", hypothesis.minus)):
            if arm is not None:
                _known(arm, doc.arms, here.find(key), "arm")
        for key, rule in (("supported", hypothesis.supported), ("contradicted", hypothesis.contradicted)):
            if (rule.above is None) == (rule.below is None):
                raise ScenarioError("a rule has one bound", here.find(key).where, "", "{above: X} or {below: X}")
    for i, contrast in enumerate(doc.contrasts):
        _known(contrast.arm, doc.arms, node.find("contrasts", i, "arm"), "arm")
    return doc, node


def _known(name: str, known: dict[str, Any], node: Node, what: str) -> None:
    if name not in known:
        raise ScenarioError(f"unknown {what}", node.where, shown(node), ", ".join(known), did_you_mean(name, known))
