"""Mappings of an agent card: known keys alone, and values of the right type, each with its line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from masim.errors import ScenarioError, did_you_mean
from masim.scenario.nodes import Node
from masim.scenario.validate import shown


def entries(node: Node, known: Iterable[str], name: str = "", word: str = "key") -> Mapping[str, Node]:
    """Return the entries of a mapping. Raises ScenarioError for anything else, and for a key that is not known."""
    names = list(known)
    if not isinstance(node.value, dict):
        raise ScenarioError(f"{name!r} is a mapping of settings", node.where, shown(node), ", ".join(names))
    for key, child in node.items().items():
        if key not in names:
            raise ScenarioError(f"unknown {word} {key!r}", child.where, "", ", ".join(names), did_you_mean(key, names))
    return node.items()


def typed(node: Node, name: str, wanted: type[Any]) -> Any:
    """Return a plain value of a type; whole numbers serve as floats. Raises ScenarioError for another type."""
    value = node.value
    if wanted is float and type(value) is int:
        return float(value)
    if type(value) is not wanted:
        raise ScenarioError(f"{name} has the wrong type", node.where, shown(node), wanted.__name__)
    return value
