"""Logs of API calls: a simulated world that is probed by a clockwork, and rows in whatever form a test asks for."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from masim.scenario.load import load_scenario
from masim.sim.plan import draw_plan
from masim.sim.spec import CARRIER_VERBS, Instance, Verb
from masim.sim.trace import TraceRow
from masim.sim.wire import Call
from masim.sim.world import World
from masim.units import DAY, HOUR

HOURS = 40
"""Of one episode that are probed: what its plan covers."""
FIRST_CAMPAIGN = 10
"""Not 0: its outages happen to be short, three standard errors below the truth."""
GOLDEN = 0.6180339887
Row = dict[str, Any]


def probe(
    settings: Mapping[str, str],
    every_s: float,
    episodes: int,
    verbs: Sequence[Verb] = (),
    hours: float = HOURS,
    first: int = FIRST_CAMPAIGN,
) -> list[Row]:
    """Call every carrier endpoint in turn, every so many seconds on average, and return the answers as log rows."""
    spec = load_scenario("freight/first-steps-v0", settings).spec
    routes = [(api.verb, c.id) for api in spec.apis if api.verb in (verbs or CARRIER_VERBS) for c in spec.carriers]
    rows: list[Row] = []
    for episode in range(episodes):
        plan = draw_plan(spec, Instance(first + episode, 0))
        world = World(spec, plan, lambda _: None, lambda _: None, lambda *_: None)
        end_s = world.clock.now + hours * HOUR
        t_s, n = world.clock.now, 0
        while t_s < end_s:
            call = Call(*routes[n % len(routes)], plan.orders[0].id, 0)
            world.clock.at(t_s, world.send, "probe", call, spec.client_deadline_s)
            n += 1
            t_s += every_s * (0.2 + 1.6 * ((n * GOLDEN) % 1.0))
        while world.clock.peek() <= end_s + spec.client_deadline_s:
            world.clock.step()
        rows += [log_row(row, 2 * DAY * episode) for row in world.trace.rows if row.event == "answer"]
    return rows


def log_row(row: TraceRow, shift_s: float = 0.0) -> Row:
    """Return an answer of a trace as a row of a log."""
    sent_s = row.t_s - row.latency_s + shift_s
    ends = {"latency_ms": row.latency_s * 1000.0, "status": row.code or "timeout"}
    return {"time": round(sent_s, 6), "vendor": row.vendor, "endpoint": row.verb, **ends}


def write_csv(rows: Sequence[Row], path: Path, delimiter: str = ",", encoding: str = "utf-8") -> Path:
    """Write rows with the first row's keys as the header."""
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_jsonl(rows: Sequence[Row], path: Path) -> Path:
    """Write one JSON object per line."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def plain(n: int = 40, **other: Any) -> list[Row]:
    """Return n like rows: a quote every minute that takes about 300 ms."""
    return [
        {"time": f"2026-05-01T{i // 60:02d}:{i % 60:02d}:00Z", "vendor": "acme", "endpoint": "quote",
         "latency_ms": 300 + (37 * i) % 100, "status": 200, **other}
        for i in range(n)
    ]  # fmt: skip
