"""The streamed trace: the same rows as one that stayed in memory, whatever the chunks, and whole files after a kill.

1. A run with small chunks has the rows of a run without, in the same order, and leaves no parts behind.
2. Chunks of one size give the same bytes, however the rows came.
3. kill -9 in the middle leaves files that open, with the first rows of the trace.
4. Memory does not grow with what has left.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from masim.rollout import evaluate
from masim.rollout.stream import PARTS, TraceStream, trace_table
from masim.scenario.load import load_scenario
from masim.sim.trace import TraceRow
from masim.study.runs import RunOptions, run_scenario

HEAD = {"arm": "a", "episode": 3}


def rows(n: int) -> list[TraceRow]:
    return [TraceRow(float(i), "call", "booker_0", request_id=i) for i in range(n)]


def run(folder: Path) -> pa.Table:
    run_scenario(load_scenario("freight/short-chain-v0"), ["scripted"], RunOptions(2, out=folder))
    assert not (folder / PARTS).exists()
    return pq.read_table(folder / "trace.parquet")


def test_a_run_in_chunks_has_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(tmp_path / "whole")
    for chunk in (1, 50):
        monkeypatch.setattr(evaluate, "TraceStream", partial(TraceStream, chunk=chunk))
        parts = run(tmp_path / f"chunks-of-{chunk}")
        assert parts.equals(whole) and parts.schema == whole.schema


def test_the_bytes_do_not_depend_on_how_rows_came(tmp_path: Path) -> None:
    made = []
    for step in (1, 7, 100):
        stream = TraceStream(tmp_path / str(step), "x", chunk=30)
        for first in range(0, 100, step):
            stream.add(HEAD, rows(100)[first : first + step])
        made.append([part.read_bytes() for part in stream.parts])
        assert [row["request_id"] for row in stream.rest()] == list(range(90, 100))
    assert made[0] == made[1] == made[2] and len(made[0]) == 3


def test_a_kill_leaves_whole_files(tmp_path: Path) -> None:
    code = f"""
import os, signal
from pathlib import Path
from masim.rollout.stream import TraceStream
from masim.sim.trace import TraceRow
stream = TraceStream(Path({str(tmp_path / PARTS)!r}), "x", chunk=10)
for i in range(47):
    stream.add({HEAD!r}, [TraceRow(float(i), "call", "booker_0", request_id=i)])
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode < 0, done.stderr
    kept = pq.read_table(tmp_path / PARTS)
    assert kept.equals(trace_table(HEAD, rows(40)))


def test_nothing_stays_of_what_has_left(tmp_path: Path) -> None:
    stream = TraceStream(tmp_path, "x", chunk=8)
    trace = stream.trace(HEAD)
    for row in rows(50):
        trace.note(row)
        trace.pass_on()
        assert len(trace.entries) < 8
    trace.flush()
    assert (len(trace), trace.left, stream.rows, len(stream.rest())) == (50, 50, 48, 2)
