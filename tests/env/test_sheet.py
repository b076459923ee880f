"""Candidate rows that are kept from decision to decision are those that would be built anew.

1. At every decision, with every action that is legal or not, under faults, memories and orders that change hands.
2. A view that is changed behind the sheet's back, as a hand-over does, shows in the next rows.
3. What an agent is handed is a copy: neither rows nor observations change what is kept.
4. Flags of legal actions that are kept by situation are those that are worked out anew.
"""

from __future__ import annotations

import numpy as np
import pytest

from masim.env.core import Session, SessionOptions
from masim.env.features import FeatureBuilder
from masim.env.legality import legal_mask
from masim.env.make import parallel_env
from masim.env.sheet import Sheet
from masim.memory.book import MemoryBook
from masim.memory.config import MemoryConfig
from masim.rng import Noise
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance

NOISE = Noise(0, "sheet")


def session_of(scenario: str, seed: int, day: int = 0) -> Session:
    spec = load_scenario(scenario).spec
    memories = MemoryBook(spec.agents, MemoryConfig()).overlays(spec.day_start_s)
    return Session(spec, Instance(seed, day), memories, SessionOptions(trace=False))


@pytest.mark.parametrize(
    ("scenario", "day"),
    [("freight/twelve-apis-v0", 0), ("stress/all-faults-v0", 0), ("freight/relay-v0", 0), ("stress/peak-season-v0", 2)],
)
@pytest.mark.parametrize("seed", range(2))
def test_kept_rows_are_those_built_anew(scenario: str, day: int, seed: int) -> None:
    session = session_of(scenario, seed, day)
    form = FeatureBuilder(session.table)
    everything = np.arange(len(session.table))
    turns = 0
    while decisions := session.advance():
        for decision in decisions:
            seat = session.seats()[decision.agent_index]
            rows, context = session.arrays(seat, everything)
            kept, seat.sheet = seat.sheet, Sheet(form)
            anew = session.arrays(seat, everything)
            seat.sheet = kept
            assert rows.tobytes() == anew[0].tobytes()
            assert context.tobytes() == anew[1].tobytes()
            assert decision.rows.tobytes() == rows[decision.legal].tobytes()
            turns += 1
        for decision in decisions:
            pick = int(NOISE.uniform(decision.agent, decision.turn) * len(decision.legal))
            session.submit(decision.agent, int(decision.legal[pick]))
    assert turns > 20


def test_kept_flags_are_those_worked_out_anew() -> None:
    session = session_of("freight/twelve-apis-v0", 3)
    while decisions := session.advance():
        for decision in decisions:
            flags = legal_mask(decision.view, session.table)
            assert np.array_equal(decision.legal, np.flatnonzero(flags))
            assert flags[decision.legal].all()
        for decision in decisions:
            pick = int(NOISE.uniform("flags", decision.agent, decision.turn) * len(decision.legal))
            session.submit(decision.agent, int(decision.legal[pick]))


def test_a_view_that_is_changed_behind_the_sheet_shows() -> None:
    session = session_of("freight/twelve-apis-v0", 0)
    (first, *_) = session.advance()
    seat = session.seats()[first.agent_index]
    before = session.arrays(seat, first.legal)[1]
    seat.view.legs[1].stops[0].unconfirmed = True
    assert np.array_equal(session.arrays(seat, first.legal)[1], before)
    seat.view.legs[1].dispatch = 3
    after = session.arrays(seat, first.legal)[1]
    assert not np.array_equal(after, before)
    seat.view = seat.view.fresh()
    assert np.array_equal(session.arrays(seat, first.legal)[1], before)


def test_observations_and_rows_are_copies() -> None:
    env, other = parallel_env("freight/short-chain-v0"), parallel_env("freight/short-chain-v0")
    seen, _ = env.reset(seed=0)
    theirs, _ = other.reset(seed=0)
    for _ in range(10):
        for decision in env.stage.open_decisions():
            decision.rows[:] = 7.0
            decision.context[:] = 7.0
        for observation in seen.values():
            observation["observation"][:] = 7.0
            observation["action_mask"][:] = 7
        seen, *_ = env.step(dict.fromkeys(env.agents, 1))
        theirs, *_ = other.step(dict.fromkeys(other.agents, 1))
        ready = {decision.agent for decision in env.stage.open_decisions()}
        for agent in ready:
            assert np.array_equal(seen[agent]["observation"], theirs[agent]["observation"])
            assert np.array_equal(seen[agent]["action_mask"], theirs[agent]["action_mask"])
