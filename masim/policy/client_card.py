"""The ``client:`` section of an agent card: deadline, retries, breaker, idempotency keys.

Durations are written with their unit and without the ``_s`` of the fields: ``base: '1 s'`` is ``base_s``. A key that
is left out has the default of its dataclass.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

from masim.errors import ConfigError, ScenarioError
from masim.policy.nodes import mapping, value_node
from masim.tools.breaker import BreakerSettings
from masim.tools.retry import RetrySettings
from masim.tools.settings import PLAIN, ClientSettings
from masim.units import duration_s

_KEYS = ("deadline", "retry", "breaker", "idempotency", "key_per")


def keys_of(kind: type[Any]) -> dict[str, Any]:
    """Return the card's keys for a dataclass of settings: key to field."""
    return {f.name.removesuffix("_s"): f for f in fields(kind)}


def read_client(path: Path, node: yaml.Node | None) -> ClientSettings:
    """Return the settings of a card's ``client:`` section, the plain ones where there is none.

    Raises ScenarioError with file and line for anything that it does not understand.
    """
    if node is None:
        return PLAIN
    values, lines = mapping(path, _as_mapping(path, node, "client", _KEYS), _KEYS)
    given: dict[str, Any] = {}
    if "deadline" in values:
        given["deadline_s"] = _seconds(f"{path}:{lines['deadline']}", "client.deadline", values["deadline"])
    if "idempotency" in values:
        where = f"{path}:{lines['idempotency']}"
        given["idempotency"] = _typed(where, "client.idempotency", values["idempotency"], bool)
    if "key_per" in values:
        given["key_per"] = _typed(f"{path}:{lines['key_per']}", "client.key_per", values["key_per"], str)
    for key, kind in (("retry", RetrySettings), ("breaker", BreakerSettings)):
        part = value_node(node, key) if isinstance(node, yaml.MappingNode) else None
        if part is not None:
            given[key] = _part(path, part, f"client.{key}", kind)
    try:
        return ClientSettings(**given)
    except ConfigError as error:
        raise _refusal(f"{path}:{lines[error.where.rpartition('.')[2].removesuffix('_s')]}", error) from error


def _part(path: Path, node: yaml.Node, name: str, kind: type[Any]) -> Any:
    known = keys_of(kind)
    values, lines = mapping(path, _as_mapping(path, node, name, tuple(known)), tuple(known))
    given: dict[str, Any] = {}
    for key, value in values.items():
        field, where = known[key], f"{path}:{lines[key]}"
        timed = field.name.endswith("_s")
        given[field.name] = (
            _seconds(where, f"{name}.{key}", value)
            if timed
            else _typed(where, f"{name}.{key}", value, type(field.default))
        )
    try:
        return kind(**given)
    except ConfigError as error:
        key = error.where.rpartition(".")[2].removesuffix("_s")
        raise _refusal(f"{path}:{lines.get(key, node.start_mark.line + 1)}", error) from error


def _refusal(where: str, error: ConfigError) -> ScenarioError:
    setting = error.where.removesuffix("_s")
    return ScenarioError(f"{error.problem} {setting}", where, error.value, error.allowed, error.fix)


def _as_mapping(path: Path, node: yaml.Node, name: str, known: tuple[str, ...]) -> yaml.MappingNode:
    if isinstance(node, yaml.MappingNode):
        return node
    where = f"{path}:{node.start_mark.line + 1}"
    raise ScenarioError(f"{name!r} is a mapping of settings", where, "", ", ".join(known))


def _seconds(where: str, name: str, value: object) -> float:
    try:
        if isinstance(value, str):
            return duration_s(value)
    except ValueError as error:
        raise ScenarioError(f"{name}: {error}", where, repr(value), "", "write it as '5 s'") from error
    raise ScenarioError(f"{name} is a duration", where, repr(value), "a number with its unit", "write it as '5 s'")


def _typed(where: str, name: str, value: object, wanted: type[Any]) -> Any:
    number = wanted is float and isinstance(value, int) and not isinstance(value, bool)
    if type(value) is wanted or number:
        return float(value) if number and isinstance(value, int) else value
    raise ScenarioError(f"{name} has the wrong type", where, repr(value), wanted.__name__)
