"""Agent cards: who acts, with which settings and which memory, as a small YAML file under ``agents/``.

Keys: ``schema`` 1, ``name``, ``policy`` (one of :data:`POLICIES`), ``habits`` (workflow only), ``hidden`` (scorer
only), ``memory`` (fields of MemoryConfig), ``client`` (:mod:`masim.policy.client_card`). Unknown keys are refused with
file and line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from masim.assets import find_asset
from masim.errors import ConfigError, RunError, ScenarioError, did_you_mean
from masim.memory.config import MemoryConfig
from masim.policy.client_card import read_client
from masim.policy.habits import Habits
from masim.policy.nodes import mapping as _mapping
from masim.policy.nodes import value_node
from masim.tools.settings import PLAIN, ClientSettings, settings_from_mapping

POLICIES = ("random", "null", "loop", "claim", "workflow", "oracle", "scorer")
MAX_BYTES = 65_536
_KEYS = ("schema", "name", "policy", "habits", "hidden", "memory", "client")


@dataclass(frozen=True, slots=True)
class AgentCard:
    """A card as read. ``weights`` is the checkpoint folder of a trained scorer, None for an untrained one."""

    name: str
    policy: str
    habits: Habits = field(default_factory=Habits)
    hidden: int = 64
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    client: ClientSettings = PLAIN
    weights: Path | None = None


def load_card(name_or_path: str) -> AgentCard:
    """Return a card by id or path. Raises ScenarioError with file and line for anything it does not understand."""
    path = find_asset("agents", name_or_path)
    if path.stat().st_size > MAX_BYTES:
        raise ScenarioError("agent card is too large", str(path), f"{path.stat().st_size} bytes", f"<= {MAX_BYTES}")
    try:
        node = yaml.compose(path.read_text("utf-8"), Loader=yaml.SafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ScenarioError(f"not a YAML file: {str(error).splitlines()[0]}", str(path)) from error
    if not isinstance(node, yaml.MappingNode):
        raise ScenarioError("an agent card is a mapping", f"{path}:1", "", ", ".join(_KEYS))
    return _card(path, node)


def card_to_mapping(card: AgentCard) -> dict[str, Any]:
    """Return a card as plain values for ``run.json``; the weights are the run's own."""
    return {**asdict(card), "weights": None}


def card_from_mapping(stored: Mapping[str, Any], where: str) -> AgentCard:
    """Return the card that a run was made with. Raises RunError when the values are no card of this version."""
    try:
        client = settings_from_mapping(stored.get("client", {}))
        habits, memory = Habits(**stored["habits"]), MemoryConfig(**stored["memory"])
        parts = {"habits": habits, "memory": memory, "client": client, "weights": None}
        return AgentCard(**{**stored, **parts})
    except (KeyError, TypeError, ConfigError) as error:
        raise RunError("the stored agent card cannot be read", where, str(error)) from error


def _card(path: Path, node: yaml.MappingNode) -> AgentCard:
    values, lines = _mapping(path, node, _KEYS)
    if values.get("schema") != 1:
        raise ScenarioError("unknown card version", _at(path, lines, "schema"), repr(values.get("schema")), "schema: 1")
    policy = str(values.get("policy", ""))
    if policy not in POLICIES:
        hint = did_you_mean(policy, POLICIES)
        raise ScenarioError("unknown policy", _at(path, lines, "policy"), repr(policy), ", ".join(POLICIES), hint)
    for key, owner in (("habits", "workflow"), ("hidden", "scorer")):
        if key in values and policy != owner:
            raise ScenarioError(f"{key!r} belongs to the policy {owner!r}", _at(path, lines, key), policy, owner)
    hidden = values.get("hidden", 64)
    if not isinstance(hidden, int) or isinstance(hidden, bool) or not 1 <= hidden <= 4096:
        raise ScenarioError("hidden width", _at(path, lines, "hidden"), repr(hidden), "an integer from 1 to 4096")
    return AgentCard(
        name=str(values.get("name") or path.stem),
        policy=policy,
        habits=_part(path, lines, values, "habits", Habits),
        hidden=hidden,
        memory=_part(path, lines, values, "memory", MemoryConfig),
        client=read_client(path, value_node(node, "client")),
    )


def _at(path: Path, lines: Mapping[str, int], key: str) -> str:
    return f"{path}:{lines.get(key, 1)}"


def _part(path: Path, lines: Mapping[str, int], values: Mapping[str, Any], key: str, kind: type[Any]) -> Any:
    """Build a dataclass of settings from a sub-mapping; every field keeps its default's type."""
    given = values.get(key, {})
    where = _at(path, lines, key)
    known = {f.name: getattr(kind(), f.name) for f in fields(kind)}
    if not isinstance(given, dict):
        raise ScenarioError(f"{key!r} is a mapping of settings", where, repr(given), ", ".join(known))
    for name, value in given.items():
        if name not in known:
            raise ScenarioError(
                f"unknown setting {name!r}", where, "", ", ".join(known), did_you_mean(str(name), known)
            )
        wanted = type(known[name])
        number = wanted is float and isinstance(value, int) and not isinstance(value, bool)
        if not (type(value) is wanted or number):
            raise ScenarioError(f"{key}.{name} has the wrong type", where, repr(value), wanted.__name__)
    try:
        return kind(**given)
    except ConfigError as error:
        raise ScenarioError(error.problem, where, error.value, error.allowed, error.fix) from error
