"""The ``model:`` and ``server:`` sections of an agent card: which language model, how it acts, where it is served."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from masim.errors import ConfigError, ScenarioError
from masim.llm.served.settings import ServerSettings
from masim.llm.settings import SERVED, SMOLLM2, TINY, ModelSettings
from masim.policy.nodes import entries, typed
from masim.scenario.nodes import Node


def read_model(root: Node, beside: Path) -> ModelSettings:
    """Return the settings; a model's folder is named from the card's own, ``beside``.

    Raises ScenarioError with file and line for anything that it does not understand.
    """
    node = root.child("model")
    if node is None:
        raise ScenarioError("the policy 'language' needs a model", root.find("policy").where, "", "", "add model:")
    given = _given(node, "model", ModelSettings)
    source = given.get("source", "")
    if source and source not in (SMOLLM2, TINY, SERVED):
        given["source"] = str(beside / Path(source).expanduser())
    settings: ModelSettings = _made(ModelSettings, given, node)
    return settings


def read_server(root: Node, model: ModelSettings) -> ServerSettings | None:
    """Return how the server of a served model is talked to, None for every other model.

    Raises ScenarioError with file and line for anything that it does not understand.
    """
    node = root.child("server")
    if model.source != SERVED:
        if node is not None:
            raise ScenarioError(f"'server' belongs to the source {SERVED!r}", node.where, model.source, SERVED)
        return None
    if node is None:
        raise ScenarioError("a served model needs a server", root.find("model").where, "", "", "add server:")
    settings: ServerSettings = _made(ServerSettings, _given(node, "server", ServerSettings), node)
    return settings


def _given(node: Node, name: str, kind: type[Any]) -> dict[str, Any]:
    known = {f.name: f for f in fields(kind)}
    return {
        key: typed(child, f"{name}.{key}", type(known[key].default))
        for key, child in entries(node, known, name, "setting").items()
    }


def _made(kind: type[Any], given: dict[str, Any], node: Node) -> Any:
    try:
        return kind(**given)
    except ConfigError as error:
        where = node.find(error.where.rpartition(".")[2]).where
        raise ScenarioError(f"{error.problem} {error.where}", where, error.value, error.allowed, error.fix) from error
