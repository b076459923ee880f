"""What a recorder writes down: a row is opened when an agent decides, closed when it is asked again or at the end.

The last row of each agent is kept back until the episode is over, because a reward may still land on it: the outcome
of an agent that has left is paid at the end. Rows go to a file beside the target, which gets its name when it is
closed, so that the target is whole whenever it is there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from masim.errors import RunError
from masim.rollout.io import versions
from masim.rollout.recording.columns import KEY, PART, SCHEMA, is_several, table_schema

ROWS_AT_ONCE = 256
"""Rows that are kept in memory before they are written."""

NO_DECISION = -1
"""Number of a row that is no decision: its agent was never asked, and waited."""

Row = dict[str, Any]


class Log:
    """The file of one recording. Raises RunError when the target exists already."""

    def __init__(self, path: Path, env: str, kind: str, agents: Mapping[str, Mapping[str, Any]]) -> None:
        if path.exists():
            raise RunError("there is a file of this name", str(path), "", "", "name a new one, or delete this one")
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.closed = False
        self._agents = dict(agents)
        self._head = {"schema": SCHEMA, "env": env, "kind": kind, "agents": self._agents, "versions": versions()}
        self._part = path.with_name(f".{path.name}.part")
        self._writer: pq.ParquetWriter | None = None
        self._parts: list[str] = []
        self._rows: list[Row] = []
        self._last: dict[str, Row] = {}
        self._early: dict[str, dict[str, float]] = {}
        self._episode = -1
        self._seed: int | None = None

    def begin(self, seed: int | None) -> None:
        """Start an episode; one that has not ended is closed as aborted."""
        self.finish()
        self._episode += 1
        self._seed = seed

    def open(self, agent: str, observation: Any, info: Mapping[str, Any], action: Any) -> None:
        """Write down a decision. ``observation`` and ``info`` are those that the agent decided on."""
        before = self._last.get(agent)
        if before is not None:
            self._emit(before)
        self._begin(agent, 0 if before is None else before["decision"] + 1, observation, info, action)

    def _begin(self, agent: str, decision: int, observation: Any, info: Mapping[str, Any], action: Any) -> Row:
        features, mask = parts_of(observation, info)
        row: Row = {
            "episode": self._episode, "seed": self._seed, "agent": agent,
            "decision": decision,
            "t_s": _number(info, "t_s"), "dt_s": _number(info, "dt_s"), "next_t_s": None,
            "ready": bool(info.get("ready", 1)), "observation": features, "mask": mask,
            "action": self._action(agent, action), "illegal": None, "reward": 0.0, "discount": 1.0,
            "terminated": False, "truncated": False, "aborted": False,
            "final_observation": None, "final_mask": None,
        }  # fmt: skip
        self._last[agent] = row
        for key, value in self._early.pop(agent, {}).items():
            row[key] = row.get(key, 0.0) + (0.0 if key == "discount" else value)
        return row

    def _action(self, agent: str, action: Any) -> int | list[int]:
        """Return an action as its column holds it: a list where one decision is several, with waits as padding."""
        sizes = self._agents[agent]["actions"]
        if not isinstance(sizes, list):
            return int(action)
        given = [int(part) for part in np.ravel(action)]
        return [*given, *[0] * (len(sizes) - len(given))]

    def land(self, agent: str, reward: float, info: Mapping[str, Any]) -> None:
        """Add a reward to the agent's last decision; what lands before its first one counts to that.

        Where an environment discounts, several steps may lie between two decisions: their rewards are discounted to
        the first of them, and the row's discount is the product of theirs.
        """
        row = self._last.get(agent)
        if row is None:
            row = self._early.setdefault(agent, {"reward": 0.0, "discount": 1.0})
        elif row["illegal"] is None:
            row["illegal"] = bool(info.get("illegal", 0))
        so_far = row["discount"]
        row["reward"] += so_far * float(reward)
        for key, value in info.items():
            if key.startswith(PART):
                row[key] = row.get(key, 0.0) + so_far * float(value)
        row["discount"] = so_far * float(info.get("discount", 1.0))

    def close_row(self, agent: str, info: Mapping[str, Any]) -> None:
        """Note when the agent was asked again."""
        row = self._last.get(agent)
        if row is not None and row["next_t_s"] is None:
            row["next_t_s"] = _number(info, "t_s")

    def end(self, agent: str, observation: Any, info: Mapping[str, Any], terminated: bool, truncated: bool) -> None:
        """Close the agent's last row with what it was given when it ended.

        One that was never asked gets a row that is no decision, for a reward that landed for it all the same.
        """
        row = self._last.get(agent)
        if row is None and agent in self._early:
            row = self._begin(agent, NO_DECISION, observation, {**info, "ready": 0}, 0)
        if row is None or row["final_observation"] is not None:
            return
        row["next_t_s"] = _number(info, "t_s")
        row["terminated"], row["truncated"] = bool(terminated), bool(truncated)
        row["final_observation"], row["final_mask"] = parts_of(observation, info)

    def finish(self) -> None:
        """Let go of the rows of an episode; one that has not ended is marked."""
        for row in self._last.values():
            if not (row["terminated"] or row["truncated"]):
                row["truncated"] = row["aborted"] = True
            self._emit(row)
        self._last.clear()
        self._early.clear()

    def _emit(self, row: Row) -> None:
        row["illegal"] = bool(row["illegal"])
        self._rows.append(row)
        if len(self._rows) >= ROWS_AT_ONCE:
            self._write()

    def _write(self) -> None:
        if self._writer is None:
            self._parts = sorted({key for row in self._rows for key in row if key.startswith(PART)})
            head = {**self._head, "parts": self._parts}
            schema = table_schema(self._parts, is_several(self._agents)).with_metadata({KEY: json.dumps(head).encode()})
            self._writer = pq.ParquetWriter(self._part, schema, compression="zstd")
        unset = dict.fromkeys(self._parts, 0.0)
        self._writer.write_table(pa.Table.from_pylist([unset | row for row in self._rows], self._writer.schema))
        self._rows.clear()

    def close(self) -> None:
        """Finish the file and give it its name. Doing it twice changes nothing."""
        if self.closed:
            return
        self.finish()
        self._write()
        if self._writer is not None:
            self._writer.close()
        os.replace(self._part, self.path)
        self.closed = True

    def discard(self) -> None:
        """Leave no file, after a failure of the environment."""
        if self._writer is not None and not self.closed:
            self._writer.close()
        self._part.unlink(missing_ok=True)
        self.closed = True


def parts_of(observation: Any, info: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return (flat float32 features, int8 mask or None) of what an agent was given."""
    if isinstance(observation, Mapping):
        features, mask = observation["observation"], observation["action_mask"]
    else:
        features, mask = observation, info.get("action_mask")
    flat = np.asarray(features, dtype=np.float32).reshape(-1)
    return flat, None if mask is None else np.asarray(mask, dtype=np.int8)


def _number(info: Mapping[str, Any], key: str) -> float | None:
    value = info.get(key)
    return None if value is None else float(value)
