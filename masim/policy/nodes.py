"""Mappings of an agent card with the line of every key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from masim.errors import ScenarioError, did_you_mean


def mapping(path: Path, node: yaml.MappingNode, known: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the values of a mapping and the lines of its keys.

    Raises ScenarioError for a key that is not known or stands twice, and for values that are not plain.
    """
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key_node, node_of_value in node.value:
        key, where = str(key_node.value), f"{path}:{key_node.start_mark.line + 1}"
        if key not in known:
            raise ScenarioError(f"unknown key {key!r}", where, "", ", ".join(known), did_you_mean(key, known))
        if key in values:
            raise ScenarioError(f"key {key!r} stands twice", where)
        try:
            values[key] = yaml.SafeLoader("").construct_object(node_of_value, deep=True)
        except yaml.YAMLError as error:
            raise ScenarioError(
                "only plain YAML values are read", where, key, "text, numbers, lists, mappings"
            ) from error
        lines[key] = key_node.start_mark.line + 1
    return values, lines


def value_node(node: yaml.MappingNode, key: str) -> yaml.Node | None:
    """Return the node of a key's value, ``None`` when the mapping has no such key."""
    return next((value for name, value in node.value if name.value == key), None)
