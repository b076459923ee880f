"""A brown-out is no outage in the figures, and what is one is counted (C14); ways that differ all pass (C9)."""

from __future__ import annotations

import pandas as pd

from masim.analysis.metrics import EPISODE
from masim.analysis.recovery import recovery_table
from masim.sim.trace import TraceRow
from masim.testing.regress.cases import CASES
from masim.testing.regress.play import play


def outages(rows: tuple[TraceRow, ...]) -> int:
    frame = pd.DataFrame([row._asdict() for row in rows]).assign(arm="a", seed=0, day=0)
    for column in EPISODE:
        if column not in frame:
            frame[column] = 0
    return int(recovery_table(frame)["outages"].sum())


def test_a_brown_out_counts_as_no_outage_and_an_outage_in_its_place_does() -> None:
    rows = play("regress/c14-brown-out-v0", "naive", 1).trace
    assert any(row.cause_id.startswith("brown_out:") for row in rows if row.event == "answer")
    assert outages(rows) == 0
    down = tuple(row._replace(cause_id=row.cause_id.replace("brown_out:", "down:")) for row in rows)
    assert outages(down) > 0


def test_the_good_ways_are_different_ways() -> None:
    case = next(case for case in CASES if case.id == "C9")
    ways = [
        tuple((row.verb, row.vendor) for row in play(case.scenario, card, 1).trace if row.event == "call")
        for card in (case.avoids, *case.also)
    ]
    assert len(set(ways)) > 1
