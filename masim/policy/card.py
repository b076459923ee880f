"""Agent cards: who acts, with which settings and which memory, as a small YAML file under ``agents/``.

Keys: ``schema`` 1, ``name``, ``policy`` (one of :data:`POLICIES`), ``habits`` (workflow only), ``hidden`` and
``encoder`` (scorer only), ``model`` and ``server`` (language only, :mod:`masim.policy.model_card`), ``memory`` (fields
of MemoryConfig), ``client`` (:mod:`masim.policy.client_card`). Unknown keys are refused with file and line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from masim.assets import find_asset
from masim.errors import ConfigError, RunError, ScenarioError, did_you_mean
from masim.llm.served.settings import ServerSettings
from masim.llm.settings import ModelSettings
from masim.memory.config import MemoryConfig
from masim.memory.forget.registry import check_policy
from masim.memory.relevance import check_relevance
from masim.memory.views.registry import check_view
from masim.policy.client_card import read_client
from masim.policy.habits import Habits
from masim.policy.model_card import read_model, read_server
from masim.policy.nodes import entries, typed
from masim.scenario.nodes import Node, read_nodes
from masim.scenario.validate import shown
from masim.tools.settings import PLAIN, ClientSettings, settings_from_mapping

POLICIES = ("random", "null", "loop", "claim", "workflow", "oracle", "scorer", "language")
MAX_BYTES = 65_536
_KEYS = ("schema", "name", "policy", "habits", "hidden", "encoder", "model", "server", "memory", "client")
_OWNERS = {
    "habits": "workflow",
    "hidden": "scorer",
    "encoder": "scorer",
    "model": "language",
    "server": "language",
}
ENCODERS = ("features", "graph")
"""``features``: numbers per carrier; ``graph``: these, and a graph network over what is remembered around them."""
_NAME_RE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}")


@dataclass(frozen=True, slots=True)
class AgentCard:
    """A card as read. ``weights`` is the checkpoint folder of a trained scorer, None for an untrained one."""

    name: str
    policy: str
    habits: Habits = field(default_factory=Habits)
    hidden: int = 64
    encoder: str = "features"
    """How a scorer sees its memory, one of :data:`ENCODERS`."""
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    client: ClientSettings = PLAIN
    weights: Path | None = None
    model: ModelSettings | None = None
    """The language model that acts; None for every other policy."""
    server: ServerSettings | None = None
    """Where it is served; None for one that is loaded here."""


def load_card(name_or_path: str) -> AgentCard:
    """Return a card by id or path. Raises ScenarioError with file and line for anything it does not understand."""
    path = find_asset("agents", name_or_path)
    if path.stat().st_size > MAX_BYTES:
        raise ScenarioError("agent card is too large", str(path), f"{path.stat().st_size} bytes", f"<= {MAX_BYTES}")
    return _card(path, read_nodes(path))


def card_to_mapping(card: AgentCard) -> dict[str, Any]:
    """Return a card as plain values for ``run.json``; the weights are the run's own."""
    return {**asdict(card), "weights": None}


def card_from_mapping(stored: Mapping[str, Any], where: str) -> AgentCard:
    """Return the card that a run was made with. Raises RunError when the values are no card of this version."""
    try:
        client = settings_from_mapping(stored.get("client", {}))
        habits, memory = Habits(**stored["habits"]), MemoryConfig(**stored["memory"])
        model = ModelSettings(**stored["model"]) if stored.get("model") else None
        server = ServerSettings(**stored["server"]) if stored.get("server") else None
        parts = {"habits": habits, "memory": memory, "client": client, "weights": None}
        parts |= {"model": model, "server": server}
        return AgentCard(**{**stored, **parts})
    except (KeyError, TypeError, ConfigError) as error:
        raise RunError("the stored agent card cannot be read", where, str(error)) from error


def _card(path: Path, root: Node) -> AgentCard:
    keys = entries(root, _KEYS)
    version = root.find("schema")
    if type(version.value) is not int or version.value != 1:
        raise ScenarioError("unknown card version", version.where, shown(version), "schema: 1")
    named = root.find("policy")
    policy = str(named.value) if "policy" in keys else ""
    if policy not in POLICIES:
        hint = did_you_mean(policy, POLICIES)
        raise ScenarioError("unknown policy", named.where, shown(named), ", ".join(POLICIES), hint)
    for key, owner in _OWNERS.items():
        if key in keys and policy != owner:
            raise ScenarioError(f"{key!r} belongs to the policy {owner!r}", keys[key].where, policy, owner)
    model = read_model(root, path.parent) if policy == "language" else None
    return AgentCard(
        name=_name(keys["name"]) if "name" in keys else path.stem,
        policy=policy,
        habits=_part(root, "habits", Habits),
        hidden=_hidden(keys["hidden"]) if "hidden" in keys else 64,
        encoder=_encoder(keys["encoder"]) if "encoder" in keys else ENCODERS[0],
        memory=_part(root, "memory", MemoryConfig),
        client=read_client(root.child("client")),
        model=model,
        server=None if model is None else read_server(root, model),
    )


def _name(node: Node) -> str:
    """Return what the agent is called. Tables, columns and folders bear this name."""
    if not isinstance(node.value, str) or not _NAME_RE.fullmatch(node.value):
        raise ScenarioError("not a name", node.where, shown(node), "1 to 64 letters, digits, spaces, . _ -")
    return node.value


def _encoder(node: Node) -> str:
    if node.value not in ENCODERS:
        hint = did_you_mean(str(node.value), ENCODERS)
        raise ScenarioError("unknown encoder", node.where, shown(node), ", ".join(ENCODERS), hint)
    return str(node.value)


def _hidden(node: Node) -> int:
    if type(node.value) is not int or not 1 <= node.value <= 4096:
        raise ScenarioError("hidden width", node.where, shown(node), "an integer from 1 to 4096")
    return node.value


def _part(root: Node, key: str, kind: type[Any]) -> Any:
    """Build a dataclass of settings from a sub-mapping; every field keeps its default's type."""
    part = root.child(key)
    if part is None:
        return kind()
    types = {f.name: type(getattr(kind(), f.name)) for f in fields(kind)}
    given = entries(part, types, key, "setting")
    for name, child in given.items():
        typed(child, f"{key}.{name}", types[name])
    try:
        made = kind(**part.plain())
        if isinstance(made, MemoryConfig):
            check_policy(made.policy)
            check_relevance(made.relevance)
            check_view(made.view)
    except ConfigError as error:
        where = part.find(error.where.rpartition(".")[2]).where
        raise ScenarioError(f"{error.problem} {error.where}", where, error.value, error.allowed, error.fix) from error
    return made
