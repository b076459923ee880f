"""Snapshots on disk and forks.

1. Restored at any decision and continued with the same actions, an episode gives the same trace, on every bundled
   scenario; so does a fork that takes the action that was taken.
2. A fork is independent, and what it does differently shifts nobody else's noise.
3. A planted difference in any part of the state is found and named.
4. Another scenario, other memories, damaged files and decisions that are not there are refused in one line.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from masim.env.barrier import BarrierSession
from masim.env.core import Session
from masim.env.make import parallel_env
from masim.env.snapshot import Snapshot, fork, load, restore, take
from masim.env.state import state_parts
from masim.errors import RunError
from masim.memory.memory import Memory, MemoryEvent
from masim.policy.card import load_card
from masim.scenario.catalog import list_scenarios
from masim.scenario.load import Scenario, load_scenario
from masim.sim.holds import Hold
from masim.sim.spec import Instance
from masim.sim.trace import TraceRow

ROOT = Path(__file__).parents[2]
BUNDLED = [e.id for e in list_scenarios() if e.path.is_relative_to(ROOT) and not e.id.startswith("regress/")]
SHORT = "freight/short-chain-v0"
world = cache(load_scenario)


def played(scenario: Scenario, seed: int, limit: int = 10_000, kind: type[Session] = Session) -> Session:
    """Play random actions, a tenth of them illegal, for so many decisions."""
    session = kind(scenario.spec, Instance(seed, 0, "train"))
    rng = np.random.default_rng(seed)
    while decisions := session.open_decisions() or session.advance():
        for decision in decisions:
            if len(session.actions) >= limit:
                return session
            action = -1 if rng.random() < 0.1 else int(rng.choice(decision.legal))
            session.submit(decision.agent, action)
    return session


def go_on(session: Session, actions: list[tuple[str, int]]) -> list[TraceRow]:
    """Play given actions and return the trace."""
    for agent, action in actions:
        if not session.open_decisions():
            session.advance()
        session.submit(agent, action)
    if not session.open_decisions():
        session.advance()
    return list(session.trace_rows)


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(BUNDLED), st.integers(0, 500), st.floats(0.0, 1.0), st.booleans())
def test_an_episode_goes_on_alike_from_any_decision(name: str, seed: int, share: float, together: bool) -> None:
    scenario = world(name)
    kind = BarrierSession if together else Session
    whole = played(scenario, seed, 60, kind)
    at = round(share * len(whole.actions))
    snapshot = take(scenario, played(scenario, seed, at, kind))
    assert len(snapshot.actions) == at
    assert go_on(restore(scenario, snapshot), whole.actions[at:]) == whole.trace_rows
    assert go_on(fork(scenario, take(scenario, whole), at), whole.actions[at:]) == whole.trace_rows


@pytest.mark.parametrize("name", BUNDLED)
def test_odd_places(name: str) -> None:
    scenario = world(name)
    whole = played(scenario, 3)
    n = len(whole.actions)
    fresh = Session(scenario.spec, whole.instance)
    assert go_on(restore(scenario, take(scenario, fresh)), whole.actions) == whole.trace_rows
    for at in (0, 1, n - 1, n):
        assert go_on(fork(scenario, take(scenario, whole), at), whole.actions[at:]) == whole.trace_rows
    after = restore(scenario, take(scenario, whole))
    assert after.over and after.outcomes() == whole.outcomes() and after.advance() == ()


def test_decisions_of_one_instant_are_told_apart() -> None:
    scenario = world(SHORT)
    session = played(scenario, 0, 1)
    assert len(session.open_decisions()) == len(session.agents) - 1 > 0
    again = restore(scenario, take(scenario, session))
    assert [d.agent for d in again.open_decisions()] == [d.agent for d in session.open_decisions()]


def test_a_moment_before_the_next_question_is_kept() -> None:
    scenario = world(SHORT)
    session = played(scenario, 0, len(world(SHORT).spec.agents) - 1)
    (last,) = session.open_decisions()
    session.submit(last.agent, 0)
    again = restore(scenario, take(scenario, session))
    assert not again.open_decisions() and again.now == session.now
    assert [d.agent for d in again.advance()] == [d.agent for d in session.advance()]


def test_a_fork_is_independent_and_shifts_nobody_elses_noise() -> None:
    scenario = world(SHORT)
    whole = played(scenario, 5)
    snapshot = take(scenario, whole)
    agent = whole.agents[0]
    at = next(n for n, (name, _) in enumerate(whole.actions) if name == agent)
    other = fork(scenario, snapshot, at)
    decision = other.open_decisions()[0]
    other.submit(agent, next(int(a) for a in decision.legal if a not in (0, whole.actions[at][1])))
    script = {name: [a for n, a in whole.actions if n == name] for name in whole.agents}
    taken = {name: sum(n == name for n, _ in whole.actions[:at]) for name in whole.agents} | {agent: 1}
    while asked := other.open_decisions() or other.advance():
        for d in asked:
            rest = script[d.agent][taken[d.agent] :]
            taken[d.agent] += 1
            other.submit(d.agent, rest[0] if rest and d.agent != agent else 0)
    assert take(scenario, whole) == snapshot
    bystander = whole.agents[1]
    mine, theirs = (calls_of(s.trace_rows, bystander) for s in (whole, other))
    assert other.trace_rows != whole.trace_rows
    same = [key for key in mine if key in theirs]
    assert len(same) > 3
    assert all(mine[key] == theirs[key] for key in same)


def calls_of(rows: list[TraceRow], agent: str) -> dict[tuple[Any, ...], float]:
    """Return the latency of an agent's quotes by what was asked and how often: nobody else has a part in it."""
    found: dict[tuple[Any, ...], float] = {}
    for row in rows:
        if row.event == "answer" and row.agent == agent and row.verb == "quote" and row.code == 200:
            nth = sum(key[:3] == (row.vendor, row.order, row.leg) for key in found)
            found[row.vendor, row.order, row.leg, nth] = round(row.latency_s, 6)
    return found


def _plant_memory(session: Session) -> None:
    memory = session.seats()[0].memory.memory
    assert memory is not None
    memory.observe(MemoryEvent("error", session.now, "x", "quote", "o", "s", ok=False))


def _plant_hold(session: Session) -> None:
    next(iter(session.world.docks.values())).holds["o", 0, "pickup"] = Hold(("o", 0, "pickup"), 1, 9.0)


def _plant_tender(session: Session) -> None:
    next(iter(session.world.carriers.values())).tenders.append("planted")  # type: ignore[arg-type]


PLANTED: dict[str, tuple[Callable[[Session], Any], str]] = {
    "slot of a dock": (lambda s: s.world.docks[min(s.world.docks)].places.used.__setitem__(0, 9), "docks"),
    "hold": (_plant_hold, "docks"),
    "tender": (_plant_tender, "tenders"),
    "quote": (lambda s: s.world.carriers[min(s.world.carriers)].quotes.update({("o", 0): (1, 2.0)}), "tenders"),
    "leg": (lambda s: setattr(next(iter(s.world.legs.values())), "status", "failed"), "legs"),
    "ledger": (lambda s: s.world.ledger.pay(s.now, "a", "b", 1, "o", "x"), "ledger"),
    "event": (lambda s: s.world.clock.at(s.now + 1.0, s.world.ledger.balances), "pending events"),
    "claim": (lambda s: s.world.claims.update(o=1), "claims"),
    "attempt": (lambda s: s.world.gateway._attempts.update(x=1), "calls"),
    "message count": (lambda s: s.world.mail._sent.update(x=1), "mail"),
    "price in a view": (lambda s: s.seats()[0].view.price.__setitem__((0, 0), 7.0), "booker_0's turn and view"),
    "declared": (lambda s: s.seats()[0].view.declared.__setitem__(0, True), "booker_0's turn and view"),
    "wait": (lambda s: setattr(s.seats()[0], "waiting", 77), "booker_0's turn and view"),
    "memory": (_plant_memory, "booker_0's memory"),
}


@pytest.mark.parametrize("case", PLANTED)
def test_a_planted_difference_is_found(case: str) -> None:
    plant, part = PLANTED[case]
    spec = world(SHORT).spec
    memories = {name: Memory(name, None, _config(), 0.0) for name in spec.agents}
    session = Session(spec, Instance(2, 0, "train"), memories)
    for _ in range(12):
        for decision in session.advance():
            session.submit(decision.agent, int(decision.legal[-1]))
    before = state_parts(session)
    plant(session)
    after = state_parts(session)
    assert [name for name in before if before[name] != after[name]] == [part]


def _config() -> Any:
    from masim.memory.config import MemoryConfig

    return MemoryConfig()


def test_looking_changes_nothing() -> None:
    session = played(world(SHORT), 1, 30)
    before = state_parts(session)
    for decision in session.open_decisions():
        _ = decision.rows, decision.obs_key_exact(), decision.memory_key()
    assert state_parts(session) == before


def test_a_file_brings_a_snapshot_back(tmp_path: Path) -> None:
    scenario = world(SHORT)
    snapshot = take(scenario, played(scenario, 4, 17))
    snapshot.save(tmp_path / "here.json")
    assert load(tmp_path / "here.json") == snapshot
    assert restore(scenario, load(tmp_path / "here.json")).actions == list(snapshot.actions)


def _spoil(snapshot: Snapshot, file: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    snapshot.save(file)
    body = json.loads(file.read_text("utf-8"))
    change(body)
    file.write_text(json.dumps(body), "utf-8")


DAMAGE: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "version": (lambda b: b.update(format=9), "of another version"),
    "lacking": (lambda b: b.pop("actions"), "damaged at 'actions'"),
    "part": (lambda b: b["parts"].update(docks="0"), "its parts do not give its digest"),
    "shape": (lambda b: b.update(instance=3), "damaged at"),
    "parts": (lambda b: b.update(parts=[]), "damaged at"),
    "pace": (lambda b: b.update(sync="now"), "damaged at sync: 'now'"),
    "endless": (lambda b: b.update(tick_s=10**400), "damaged at"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_file_is_refused(case: str, tmp_path: Path) -> None:
    change, told = DAMAGE[case]
    _spoil(take(world(SHORT), played(world(SHORT), 4, 5)), tmp_path / "x.json", change)
    with pytest.raises(RunError, match=told):
        load(tmp_path / "x.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "\x00", "[" * 100_000])
def test_what_is_no_snapshot_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text, "utf-8")
    with pytest.raises(RunError):
        load(tmp_path / "x.json")
    with pytest.raises(RunError, match="no such snapshot"):
        load(tmp_path / "gone.json")


def test_what_cannot_be_restored_is_refused() -> None:
    scenario = world(SHORT)
    snapshot = take(scenario, played(scenario, 4, 20))
    with pytest.raises(RunError, match="of another scenario"):
        restore(world(BUNDLED[0]), snapshot)
    with pytest.raises(RunError, match="another memory of booker_0"):
        restore(scenario, replace(snapshot, memories={**snapshot.memories, "booker_0": 3}))
    with pytest.raises(RunError, match="does not lead to the snapshot"):
        restore(scenario, replace(snapshot, actions=snapshot.actions[:-1]))
    with pytest.raises(RunError, match=r"another state of: docks"):
        restore(scenario, replace(snapshot, parts={**snapshot.parts, "docks": "0"}))
    with pytest.raises(RunError, match="cannot be played again"):
        restore(scenario, replace(snapshot, actions=(("nobody_0", 0),)))
    for at in (-1, 21):
        with pytest.raises(RunError, match="allowed: 0 to 20; fix: the nearest is"):
            fork(scenario, snapshot, at)
    for at in (True, 1.0, "1", None):
        with pytest.raises(RunError, match="a decision is named by its number"):
            fork(scenario, snapshot, at)


def test_empty_memories_are_asked_for_where_only_memories_differ() -> None:
    scenario = world(SHORT)
    env = parallel_env(SHORT)
    env.reset(seed=1)
    env.step({})
    with pytest.raises(RunError, match="where they were empty, empty ones"):
        restore(scenario, env.snapshot())


def test_what_clients_remember_is_part_of_the_moment() -> None:
    """Attempts, budgets and keys of a client come back with it; without it the moment is another one."""
    scenario = world("stress/all-faults-v0")
    clients = dict.fromkeys(scenario.spec.agents, load_card("production").client)
    session = Session(scenario.spec, Instance(5, 0, "train"), clients=clients)
    rng = np.random.default_rng(5)
    left = []
    while len(session.actions) < 40 and (decisions := session.open_decisions() or session.advance()):
        for decision in decisions:
            session.submit(decision.agent, int(rng.choice(decision.legal)))
        left.append(take(scenario, session))
    assert state_parts(restore(scenario, left[-1], clients=clients)) == state_parts(session)
    with pytest.raises(RunError, match=r"another state of: .*clients"):
        restore(scenario, left[0])
