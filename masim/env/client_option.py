"""The option ``clients``: how the calls of an environment's agents are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from masim.errors import ConfigError, did_you_mean
from masim.tools.settings import ClientSettings, settings_from_mapping

ClientOption: TypeAlias = ClientSettings | Mapping[str, ClientSettings | Mapping[str, Any]]
"""One client's settings for all agents, or by agent; settings may be a plain mapping of their fields."""


def clients_of(given: ClientOption | None, agents: Sequence[str]) -> dict[str, ClientSettings]:
    """Return the settings by agent. Raises ConfigError for an unknown agent and for settings that cannot be."""
    if given is None:
        return {}
    if isinstance(given, ClientSettings):
        return dict.fromkeys(agents, given)
    if not isinstance(given, Mapping):
        raise ConfigError("impossible environment option", "clients", repr(given), "ClientSettings, or one per agent")
    for name in given:
        if name not in agents:
            near = did_you_mean(str(name), agents)
            raise ConfigError("no such agent", "clients", repr(name), ", ".join(agents), near)
    return {name: _settings(name, own) for name, own in given.items()}


def deadlines_s(clients: Mapping[str, ClientSettings], agents: Sequence[str], default_s: float) -> dict[str, float]:
    """Return how long each agent waits for one attempt at a call."""
    own = {agent: client.deadline_s for agent, client in clients.items()}
    return {agent: own.get(agent) or default_s for agent in agents}


def _settings(agent: str, own: object) -> ClientSettings:
    if isinstance(own, ClientSettings):
        return own
    if not isinstance(own, Mapping):
        where = f"clients[{agent!r}]"
        raise ConfigError("impossible environment option", where, repr(own), "ClientSettings, or its fields")
    try:
        return settings_from_mapping(own)
    except TypeError as error:
        raise ConfigError(f"impossible client settings: {error}", f"clients[{agent!r}]", repr(dict(own))) from error
