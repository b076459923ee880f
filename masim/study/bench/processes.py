"""What separate processes show: that memory does not grow with simulated time, and how two of them share the work."""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from hashlib import blake2b
from typing import Any

from masim.collector import ease_collector
from masim.sim.trace import Cells, Trace
from masim.study.bench.drive import play
from masim.study.bench.machine import QUIET_LOAD
from masim.study.bench.measure import ratios
from masim.study.bench.rates import play_streamed
from masim.study.bench.sizes import Size, sized

Workers = ProcessPoolExecutor
_UNIT = 1 if sys.platform == "darwin" else 1024
"""``ru_maxrss`` counts bytes on a Mac and KiB elsewhere."""


def workers(n: int) -> Workers:
    """Return fresh worker processes."""
    return ProcessPoolExecutor(n, multiprocessing.get_context("spawn"), ease_collector)


def peak_of(size: Size, seed: int) -> dict[str, Any]:
    """Play with a streamed trace in this process and return its largest memory so far."""
    played = play_streamed(sized(size), size.days, seed)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT / 2**20
    cost = 1e6 * played.seconds / played.calls
    return {"days": size.days, "calls": played.calls, "rows": played.rows, "peak_mib": peak, "us_per_call": cost}


def memory(sizes: list[Size], seed: int) -> list[dict[str, Any]]:
    """Return the largest memory of one fresh process per size."""
    rows = []
    for size in sizes:
        with workers(1) as pool:
            rows.append(pool.submit(peak_of, size, seed).result())
    return rows


def digest_of(size: Size, seed: int) -> str:
    """Play and return a content hash of the whole trace."""
    digest = blake2b(digest_size=16)

    def take(rows: list[Cells]) -> None:
        for row in rows:
            digest.update(repr(tuple(row)).encode())

    play(sized(size), size.days, seed, lambda _: Trace(sink=take))
    return digest.hexdigest()


def two_processes(size: Size, pairs: int, seed: int, before: float | None) -> dict[str, Any]:
    """Play two jobs one after the other in one process, and in two at once, in turn.

    The acceptance is equal bytes. A speed-up is stated on a machine that has two processors to itself, and is
    "not measurable" anywhere else. ``before`` is the load before the benchmark began, which by now is a load itself.
    """
    busy = before is not None and before > QUIET_LOAD
    jobs = (size, size), (seed, seed + 1)
    one_s, two_s, same = [], [], True
    with workers(1) as one, workers(2) as two:
        for n in range(pairs + 1):
            alone, alone_s = _timed(one, jobs)
            shared, shared_s = _timed(two, jobs)
            same = same and alone == shared
            if n > 0:
                one_s.append(alone_s)
                two_s.append(shared_s)
    speedup = ratios(one_s, two_s)
    enough = multiprocessing.cpu_count() >= 2
    return {
        "equal_bytes": same,
        "speedup": asdict(speedup) if enough and not busy else None,
        "measurable": enough and not busy,
        "load_average": before,
        "raw": asdict(speedup),
    }


def _timed(pool: Workers, jobs: tuple[tuple[Size, Size], tuple[int, int]]) -> tuple[list[str], float]:
    began = time.perf_counter()
    return list(pool.map(digest_of, *jobs)), time.perf_counter() - began
