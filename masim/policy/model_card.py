"""The ``model:`` section of an agent card: which language model, and how it acts."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from masim.errors import ConfigError, ScenarioError
from masim.llm.settings import SMOLLM2, TINY, ModelSettings
from masim.policy.nodes import entries, typed
from masim.scenario.nodes import Node


def read_model(root: Node, beside: Path) -> ModelSettings:
    """Return the settings; a model's folder is named from the card's own, ``beside``.

    Raises ScenarioError with file and line for anything that it does not understand.
    """
    node = root.child("model")
    if node is None:
        raise ScenarioError("the policy 'language' needs a model", root.find("policy").where, "", "", "add model:")
    known = {f.name: f for f in fields(ModelSettings)}
    given: dict[str, Any] = {
        key: typed(child, f"model.{key}", type(known[key].default))
        for key, child in entries(node, known, "model", "setting").items()
    }
    source = given.get("source", "")
    if source and source not in (SMOLLM2, TINY):
        given["source"] = str(beside / Path(source).expanduser())
    try:
        return ModelSettings(**given)
    except ConfigError as error:
        where = node.find(error.where.rpartition(".")[2]).where
        raise ScenarioError(f"{error.problem} {error.where}", where, error.value, error.allowed, error.fix) from error
