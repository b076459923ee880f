"""A stored episode simulated again: its actions, played in its scenario, must give its trace row by row.

Needed are the scenario (found by its id, or by the path that the run's command names, with the run's ``--set``), the
instance and the clients of the agents. Memories are not: they change what an agent sees, and its actions are known.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from masim.analysis.load import TRACE, RunData, RunMeta
from masim.env.core import Session
from masim.env.decision import Chosen
from masim.env.snapshot import play
from masim.env.turns import ILLEGAL
from masim.errors import UserError
from masim.rng import Noise, digest64
from masim.scenario.load import Scenario, load_scenario
from masim.sim.spec import Instance
from masim.sim.trace import TraceRow
from masim.tools.settings import ClientSettings, settings_from_mapping
from masim.units import clock_text

Cells = tuple[object, ...]
_KINDS: Mapping[str, type] = {"str": str, "int": int, "float": float}
_OWN = tuple(TraceRow._fields)


def resimulate(run: RunData, rows: pd.DataFrame) -> tuple[bool, str]:
    """Play the stored actions again; return whether the trace came out the same, and a sentence about it."""
    try:
        scenario = _scenario(run.meta)
    except (UserError, OSError) as error:
        return False, f"stored trace; not simulated again: its scenario cannot be loaded ({error})"
    if scenario.hash != run.meta.scenario_hash:
        hashes = f"{run.meta.scenario_hash[:12]} then, {scenario.hash[:12]} now"
        return False, f"stored trace; not simulated again: the scenario has changed since (hash {hashes})"
    actions = _actions(rows)
    try:
        session = _session(run.meta, scenario, rows)
        play(session, actions, rows.loc[rows["event"] == "decision", "latency_s"].fillna(0.0).tolist())
        if not session.open_decisions():
            session.advance()
    except (UserError, TypeError) as error:
        return False, f"stored trace; it cannot be simulated again: {error}"
    again, stored = _cells(row._asdict() for row in session.trace_rows), _cells(rows.to_dict("records"))
    if again != stored:
        return False, f"stored trace; {_difference(again, stored)}: the code or the trace has changed since"
    return True, f"simulated again from {len(actions)} actions: the trace is the stored one, {digest64(*again):016x}"


def _actions(rows: pd.DataFrame) -> tuple[tuple[str, Chosen], ...]:
    """Return every decision of a trace; further actions of one are in rows of their own."""
    made: list[tuple[str, tuple[int, ...]]] = []
    for row in rows[rows["event"].isin(("decision", "together"))].to_dict("records"):
        action = -1 if row["note"] == ILLEGAL else int(row["code"])
        before = made.pop()[1] if row["event"] == "together" else ()
        made.append((str(row["agent"]), (*before, action)))
    return tuple((agent, several if len(several) > 1 else several[0]) for agent, several in made)


def _scenario(meta: RunMeta) -> Scenario:
    words = shlex.split(meta.command)
    pairs = [words[i + 1] for i, word in enumerate(words[:-1]) if word == "--set"]
    pairs += [word.removeprefix("--set=") for word in words if word.startswith("--set=")]
    settings = {key.strip(): value.strip() for key, _, value in (pair.partition("=") for pair in pairs)}
    settings = {**dict(meta.config.get("overrides") or {}), **settings}
    files = [word for word in words if word.endswith((".yaml", ".yml"))]
    name = files[0] if files and meta.kind in ("run", "eval") else meta.scenario
    return load_scenario(name, settings or None)


def _session(meta: RunMeta, scenario: Scenario, rows: pd.DataFrame) -> Session:
    first = rows.iloc[0]
    instance = Instance(int(first["campaign_seed"]), int(first["day"]), "eval")
    clients = dict.fromkeys(scenario.spec.agents, _client(meta, str(first["arm"]), int(first["train_seed"])))
    # Where a person played, agents have clients of their own.
    clients |= {agent: settings_from_mapping(own) for agent, own in (meta.config.get("clients") or {}).items()}
    # Campaign i of root seed s has the seed 1000 s + i, and clients draw their jitter from the root seed.
    jitter = Noise(instance.campaign_seed // 1000, f"client/eval/{instance.campaign_seed}/{instance.day}/0")
    return Session(scenario.spec, instance, clients=clients, noise=jitter)


def _client(meta: RunMeta, arm: str, train_seed: int) -> ClientSettings:
    for player in meta.config.get("players") or ():
        if (player.get("arm"), player.get("train_seed")) == (arm, train_seed):
            return settings_from_mapping(player.get("client") or {})
    return ClientSettings()


def _cells(rows: Iterable[Mapping[Any, Any]]) -> list[Cells]:
    return [tuple(_KINDS[TRACE[name]](row[name]) for name in _OWN) for row in rows]


def _difference(again: list[Cells], stored: list[Cells]) -> str:
    pairs = zip(again, stored, strict=False)
    at = next((i for i, (one, other) in enumerate(pairs) if one != other), min(len(again), len(stored)))
    if at >= len(stored):
        return f"simulated again it goes on after its {len(stored)} rows"
    return f"simulated again it differs from row {at} ({stored[at][1]} at {clock_text(float(str(stored[at][0])))}) on"
