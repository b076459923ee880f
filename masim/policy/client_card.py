"""The ``client:`` section of an agent card: deadline, retries, breaker, idempotency keys.

Durations are written with their unit and without the ``_s`` of the fields: ``base: '1 s'`` is ``base_s``. A key that
is left out has the default of its dataclass.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from masim.errors import ConfigError, ScenarioError
from masim.policy.nodes import entries, typed
from masim.scenario.nodes import Node
from masim.scenario.validate import shown
from masim.tools.breaker import BreakerSettings
from masim.tools.retry import RetrySettings
from masim.tools.settings import PLAIN, ClientSettings
from masim.units import duration_s

_KEYS = ("deadline", "retry", "breaker", "idempotency", "key_per")


def keys_of(kind: type[Any]) -> dict[str, Any]:
    """Return the card's keys for a dataclass of settings: key to field."""
    return {f.name.removesuffix("_s"): f for f in fields(kind)}


def read_client(node: Node | None) -> ClientSettings:
    """Return the settings of a card's ``client:`` section, the plain ones where there is none.

    Raises ScenarioError with file and line for anything that it does not understand.
    """
    if node is None:
        return PLAIN
    keys = entries(node, _KEYS, "client")
    given: dict[str, Any] = {}
    if "deadline" in keys:
        given["deadline_s"] = _seconds(keys["deadline"], "client.deadline")
    for key, wanted in (("idempotency", bool), ("key_per", str)):
        if key in keys:
            given[key] = typed(keys[key], f"client.{key}", wanted)
    for key, kind in (("retry", RetrySettings), ("breaker", BreakerSettings)):
        if key in keys:
            given[key] = _part(keys[key], f"client.{key}", kind)
    settings: ClientSettings = _made(ClientSettings, given, node)
    return settings


def _part(node: Node, name: str, kind: type[Any]) -> Any:
    known = keys_of(kind)
    given: dict[str, Any] = {}
    for key, child in entries(node, known, name).items():
        field, full = known[key], f"{name}.{key}"
        timed = field.name.endswith("_s")
        given[field.name] = _seconds(child, full) if timed else typed(child, full, type(field.default))
    return _made(kind, given, node)


def _made(kind: type[Any], given: dict[str, Any], node: Node) -> Any:
    """Return the settings; what they refuse names the line of the key, or of the section."""
    try:
        return kind(**given)
    except ConfigError as error:
        setting = error.where.removesuffix("_s")
        where = node.find(setting.rpartition(".")[2]).where
        raise ScenarioError(f"{error.problem} {setting}", where, error.value, error.allowed, error.fix) from error


def _seconds(node: Node, name: str) -> float:
    try:
        if isinstance(node.value, str):
            return duration_s(node.value)
    except ValueError as error:
        raise ScenarioError(f"{name}: {error}", node.where, shown(node), "", "write it as '5 s'") from error
    raise ScenarioError(f"{name} is a duration", node.where, shown(node), "a number with its unit", "write it as '5 s'")
