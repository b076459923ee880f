"""The fast ways say what the plain ones say.

1. A message that is delivered at a moment is the same message otherwise.
2. Uniforms of a joined key are those of its parts.
3. The clock runs SimPy's own events and callbacks in one order, and a callback sees the time of its event.
4. Rows that are built late equal rows that are read at once; a sink gets the same rows in chunks of any size.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from sim.worlds import at_random, calm

from masim.env.core import Session, SessionOptions
from masim.rng import Noise
from masim.sim.clock import Clock
from masim.sim.spec import Instance, Status
from masim.sim.trace import Cells, Trace, TraceRow
from masim.sim.wire import Message, Slot, Stop


def test_a_delivered_message_keeps_every_field() -> None:
    message = Message("a", 0.0, "tender", "v", "o", 1, Stop.DELIVERY, Status.CONFIRMED, Slot(3, 4.0), "why")
    assert message.at(7.5) == replace(message, t_s=7.5)


def test_uniforms_of_a_joined_key() -> None:
    noise = Noise(3, "eval/day1")
    assert noise.uniforms_at("api\x1fa\x1f-1") == noise.uniforms("api", "a", -1)


def test_the_clock_runs_processes_too() -> None:
    clock = Clock(10.0)
    seen: list[tuple[str, float]] = []

    def process(env):
        yield env.timeout(5.0)
        seen.append(("process", clock.now))
        clock.at(clock.now + 1.0, lambda: seen.append(("later", clock.now)))

    clock._env.process(process(clock._env))
    clock.at(15.0, lambda: seen.append(("callback", clock.now)))
    clock.at(3.0, lambda: seen.append(("past", clock.now)))
    clock.drain()
    assert seen == [("past", 10.0), ("callback", 15.0), ("process", 15.0), ("later", 16.0)]
    assert clock.peek() == float("inf")


def rows_of(trace: Trace) -> list[TraceRow]:
    session = Session(calm(), Instance(1, 0), options=SessionOptions(trace=trace))
    choose = at_random(1)
    while batch := session.advance():
        for decision in batch:
            session.submit(decision.agent, choose(decision))
    trace.flush()
    return trace.rows


@pytest.mark.parametrize("chunk", [1, 7, 10_000])
def test_chunks_hold_the_same_rows(chunk: int) -> None:
    chunks: list[list[Cells]] = []
    kept = rows_of(Trace(sink=chunks.append, chunk=chunk))
    whole = rows_of(Trace())
    assert [tuple(row) for part in chunks for row in part] == [tuple(row) for row in whole]
    assert kept == [] and {len(part) for part in chunks[:-1]} <= {chunk}
    assert all(type(cell) in (str, int, float) for row in whole for cell in row)
