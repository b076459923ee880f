"""Snapshots of an episode: where it began and what was done since, to be played again; and forks of it.

A world of scheduled callbacks cannot be copied cheaply, but it is a pure function of its scenario, its instance, the
memories at the reset, and the actions. A restored episode is checked by digest against the one that was left. Every
draw is keyed, so a fork that takes another action leaves everybody else's noise as it was (common random numbers).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, SupportsIndex

from masim.env.core import Session
from masim.env.decision import Chosen
from masim.env.session_options import SessionOptions
from masim.env.sessions import SESSIONS
from masim.env.state import state_digest, state_parts
from masim.env.thinking import AT_ONCE, Thinking
from masim.errors import RunError
from masim.memory.memory import Memory
from masim.scenario.load import Scenario
from masim.sim.spec import Instance
from masim.tools.settings import ClientSettings

FORMAT = 2
"""Version of the file."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A moment of an episode."""

    scenario: str
    scenario_hash: str
    instance: Instance
    memories: Mapping[str, int]
    """Version of each agent's memory at the reset; 0 is an empty one."""
    actions: tuple[tuple[str, Chosen], ...]
    """(agent, action) of every decision so far, in order; -1 for one that was no index at all, a tuple for several
    actions of one decision."""
    asked: bool
    """Whether decisions are open, or the episode has ended; else :meth:`Session.advance` comes next."""
    settle: str
    sync: str
    """When agents are asked: :mod:`masim.env.pacing`."""
    tick_s: float | None
    ticks: int
    """How often a session on a grid of time has gone on; 0 for all others."""
    parts: Mapping[str, str]
    """Digest of each part of the state."""

    @property
    def digest(self) -> str:
        """Return the digest of the whole state."""
        return state_digest(dict(self.parts))

    def save(self, path: Path | str) -> None:
        """Write the snapshot as JSON."""
        body = {"format": FORMAT, "digest": self.digest, **asdict(self)}
        Path(path).write_text(json.dumps(body, indent=1) + "\n", "utf-8")


def take(scenario: Scenario, session: Session) -> Snapshot:
    """Return this moment of a session of a scenario."""
    return Snapshot(
        scenario.id,
        scenario.hash,
        session.instance,
        {seat.name: seat.memory.version for seat in session.seats()},
        tuple(session.actions),
        bool(session.open_decisions()) or session.over,
        session.options.settle,
        session.sync,
        session.options.tick_s,
        session.ticks,
        state_parts(session),
    )


def restore(
    scenario: Scenario,
    snapshot: Snapshot,
    memories: Mapping[str, Memory] | None = None,
    trace: bool = True,
    clients: Mapping[str, ClientSettings] | None = None,
) -> Session:
    """Return a new session at the snapshot's moment; ``memories`` are those at the reset, where there were any.

    ``clients`` are the settings that the session was built with, where there were any.

    Raises RunError when the scenario or a memory is another one, or when the replay comes out elsewhere.
    """
    _same_world(scenario, snapshot, memories)
    session = _replay(scenario, snapshot, memories, len(snapshot.actions), trace, clients)
    check(session, snapshot)
    return session


def fork(
    scenario: Scenario,
    snapshot: Snapshot,
    at: int,
    memories: Mapping[str, Memory] | None = None,
    trace: bool = True,
    clients: Mapping[str, ClientSettings] | None = None,
) -> Session:
    """Return a new session at decision ``at`` of the snapshot (from 0, over all agents), which is open to be answered.

    ``at`` may be the number of decisions so far: then it is the moment of the snapshot. ``memories`` are those at
    the reset and are changed by the fork, so each fork needs its own. Raises RunError for a decision that is not
    there, and for a snapshot of another scenario or of other actions than can be played.
    """
    last = len(snapshot.actions)
    if isinstance(at, bool) or not isinstance(at, SupportsIndex):
        raise RunError("a decision is named by its number", "at", repr(at), f"0 to {last}")
    if not 0 <= at <= last:
        nearest = f"the nearest is {min(max(int(at), 0), last)}"
        raise RunError("the snapshot has no such decision", "at", str(at), f"0 to {last}", nearest)
    if memories is None:
        restore(scenario, snapshot, None, trace=False, clients=clients)
    _same_world(scenario, snapshot, memories)
    return _replay(scenario, snapshot, memories, at, trace, clients)


def check(session: Session, snapshot: Snapshot) -> None:
    """Raise RunError, naming the parts that differ, unless a session stands where the snapshot was taken."""
    here = state_parts(session)
    differing = [name for name in {**snapshot.parts, **here} if here.get(name) != snapshot.parts.get(name)]
    if differing:
        fix = "the code or the file has changed since it was taken; take it again"
        if all(name.endswith("'s memory") for name in differing):
            fix = "give the memories that the episode began with; where they were empty, empty ones"
        raise RunError(
            f"the replay of {len(snapshot.actions)} actions does not lead to the snapshot",
            snapshot.scenario,
            f"another state of: {', '.join(differing)}",
            "",
            fix,
        )


def load(path: Path | str) -> Snapshot:
    """Read a snapshot. Raises RunError for a file that is missing, damaged or of another version."""
    file = str(path)
    try:
        raw = json.loads(Path(path).read_text("utf-8"))
    except FileNotFoundError:
        raise RunError("there is no such snapshot", file) from None
    except (ValueError, RecursionError) as error:
        raise RunError("the snapshot is damaged: not JSON", file, "", "", "take it again") from error
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        found = repr(raw.get("format")) if isinstance(raw, dict) else type(raw).__name__
        raise RunError("the snapshot is of another version", file, found, str(FORMAT), "take it again")
    try:
        snapshot = _read(raw)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise RunError(f"the snapshot is damaged at {error}", file, "", "", "take it again") from error
    if snapshot.digest != raw.get("digest"):
        raise RunError("the snapshot is damaged: its parts do not give its digest", file, "", "", "take it again")
    return snapshot


def _read(raw: Mapping[str, Any]) -> Snapshot:
    place = raw["instance"]
    if raw["sync"] not in SESSIONS:
        raise ValueError(f"sync: {raw['sync']!r}")
    return Snapshot(
        str(raw["scenario"]),
        str(raw["scenario_hash"]),
        Instance(int(place["campaign_seed"]), int(place["day"]), str(place["namespace"])),
        {str(name): int(version) for name, version in raw["memories"].items()},
        tuple((str(agent), _chosen(action)) for agent, action in raw["actions"]),
        bool(raw["asked"]),
        str(raw["settle"]),
        str(raw["sync"]),
        None if raw["tick_s"] is None else float(raw["tick_s"]),
        int(raw["ticks"]),
        {str(name): str(digest) for name, digest in raw["parts"].items()},
    )


def _chosen(stored: Any) -> Chosen:
    return tuple(int(action) for action in stored) if isinstance(stored, list) else int(stored)


def same_scenario(scenario: Scenario, snapshot: Snapshot) -> None:
    """Raise RunError for a snapshot of another scenario."""
    if scenario.hash != snapshot.scenario_hash:
        raise RunError(
            "the snapshot is of another scenario, or the scenario has changed",
            snapshot.scenario,
            f"hash {scenario.hash[:12]} of {scenario.id}",
            snapshot.scenario_hash[:12],
            "restore it with the scenario that it was taken from",
        )


def _same_world(scenario: Scenario, snapshot: Snapshot, memories: Mapping[str, Memory] | None) -> None:
    same_scenario(scenario, snapshot)
    given = {name: memory.version for name, memory in (memories or {}).items()}
    for name, version in snapshot.memories.items():
        if given.get(name, 0) != version:
            fix = "give the memories that the episode began with"
            raise RunError(f"another memory of {name}", "memories", f"version {given.get(name, 0)}", str(version), fix)


def _replay(
    scenario: Scenario,
    snapshot: Snapshot,
    memories: Mapping[str, Memory] | None,
    until: int,
    trace: bool,
    clients: Mapping[str, ClientSettings] | None,
) -> Session:
    options = SessionOptions(trace=trace, settle=snapshot.settle, tick_s=snapshot.tick_s)
    session = SESSIONS[snapshot.sync](scenario.spec, snapshot.instance, memories, options, clients=clients)
    play(session, snapshot.actions[:until])
    whole = until == len(snapshot.actions)
    while whole and session.ticks < snapshot.ticks:
        session.advance()
    if snapshot.asked or not whole:
        _until_asked(session)
    return session


def _until_asked(session: Session) -> None:
    while not session.open_decisions() and not session.over:
        session.advance()


def play(session: Session, actions: tuple[tuple[str, Chosen], ...], thinking_s: Sequence[float] = ()) -> None:
    """Answer decisions with recorded actions. Raises RunError where another agent is asked than acted then.

    ``thinking_s`` says how long each was thought about, where that took simulated time.
    """
    for n, (agent, action) in enumerate(actions):
        _until_asked(session)
        asked = [decision.agent for decision in session.open_decisions()]
        if agent not in asked:
            value = f"decision {n} was {agent}'s"
            fix = "the code or the file has changed since it was taken; take it again"
            raise RunError("the actions cannot be played again", "", value, ", ".join(asked) or "the end", fix)
        slow = bool(thinking_s) and thinking_s[n] > 0.0
        session.submit(agent, action, Thinking(thinking_s[n]) if slow else AT_ONCE)
