"""The columns of a recording, version 1: one row per decision of one agent.

A file holds, beside them, one float64 column per part of the reward (``r_out``, ``r_pen``: whatever the infos have
under keys that begin with ``r_``), and in the metadata of its schema, under :data:`KEY`, a JSON object: ``schema``,
``env`` (name), ``kind`` (parallel, aec, gymnasium, ready), ``agents`` {agent: spaces}, ``parts`` [name], ``versions``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from gymnasium import spaces

from masim.errors import ConfigError

SCHEMA = 1
KEY = b"masim.recording"
PART = "r_"

COLUMNS: dict[str, pa.DataType] = {
    "episode": pa.int64(),  # counts the resets of this file, from 0
    "seed": pa.int64(),  # of the reset; null when it had none
    "agent": pa.string(),
    "decision": pa.int64(),  # counts the agent's decisions in this episode, from 0
    "t_s": pa.float64(),  # simulated seconds; null where the info has no time, as in the next two
    "dt_s": pa.float64(),  # since the agent's last decision
    "next_t_s": pa.float64(),  # of its next decision, or of the end: t_s .. next_t_s is what a discount runs over
    "ready": pa.bool_(),
    "observation": pa.list_(pa.float32()),  # flat
    "mask": pa.list_(pa.int8()),  # null where there is none
    "action": pa.int64(),  # a list of them where one decision is several
    "illegal": pa.bool_(),
    "reward": pa.float64(),  # all that landed until the next decision, or until the end of the episode
    "discount": pa.float64(),  # what all that lands later counts, seen from t_s; 1 where nothing is discounted
    "terminated": pa.bool_(),
    "truncated": pa.bool_(),
    "aborted": pa.bool_(),  # the episode was left (reset or close) before its end; then truncated is set, too
    "final_observation": pa.list_(pa.float32()),  # of the end, in the agent's last row; null in all others
    "final_mask": pa.list_(pa.int8()),
}


def table_schema(parts: list[str], several: bool = False) -> pa.Schema:
    """Return the schema of a file whose reward has these parts; ``several``: an action is a list."""
    fields = [pa.field(name, kind) for name, kind in COLUMNS.items()]
    names = [field.name for field in fields]
    if several:
        fields[names.index("action")] = pa.field("action", pa.list_(pa.int64()))
    at = names.index("reward") + 1
    return pa.schema([*fields[:at], *(pa.field(part, pa.float64()) for part in parts), *fields[at:]])


def is_several(agents: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether the actions of a recording are lists."""
    return any(isinstance(spaces_of["actions"], list) for spaces_of in agents.values())


def describe_spaces(agent: str, observation: spaces.Space[Any], action: spaces.Space[Any]) -> dict[str, Any]:
    """Return an agent's spaces as plain values.

    Raises ConfigError for spaces that a recording has no columns for: an observation must be a Box, or a Dict of
    ``observation`` (Box) and ``action_mask`` (MultiBinary); an action must be Discrete or MultiDiscrete.
    """
    mask = False
    if isinstance(observation, spaces.Dict) and set(observation.spaces) == {"observation", "action_mask"}:
        mask, observation = True, observation["observation"]
    if not isinstance(observation, spaces.Box):
        allowed = "a Box, or a Dict of observation (Box) and action_mask"
        raise ConfigError("this observation space cannot be recorded", agent, str(observation)[:80], allowed)
    if not isinstance(action, spaces.Discrete | spaces.MultiDiscrete):
        raise ConfigError("this action space cannot be recorded", agent, str(action)[:80], "Discrete, MultiDiscrete")
    return {
        "shape": list(observation.shape),
        "low": float(observation.low.min()),
        "high": float(observation.high.max()),
        "mask_in_observation": mask,
        "actions": int(action.n) if isinstance(action, spaces.Discrete) else [int(n) for n in action.nvec.ravel()],
    }
