"""Recovery after outages, on traces made by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sim.desk import Desk
from sim.worlds import calm

from masim.analysis.recovery import outage_source, recovery_table
from masim.analysis.report import build_report
from masim.analysis.summary import summarise
from masim.cli.results import recovery_tables
from masim.sim.dists import Constant
from masim.sim.faults.base import Fault
from masim.sim.faults.kinds.outage import Down, Flapping
from masim.sim.faults.rules import Cron, FaultSpec, SpellRule, When
from masim.sim.spec import Verb
from masim.units import HOUR

OK, DOWN = "SUCCESS/CONFIRMED", "FAILURE/NOT_SCHEDULED"


def trace(*answers: tuple[float, str, str, str], left_s: float = 0.0) -> pd.DataFrame:
    """Return answers, and for each that an outage refused the row that says how much longer it lasts."""
    rows = []
    for t, v, s, c in answers:
        place = {"arm": "a", "train_seed": -1, "episode": 0, "vendor": v, "cause_id": c}
        if c:
            rows.append({**place, "event": "fault", "t_s": t, "status": "", "latency_s": left_s and left_s - t})
        rows.append({**place, "event": "answer", "t_s": t, "status": s, "latency_s": 0.1})
    return pd.DataFrame(rows)


def test_the_wait_runs_from_the_end_of_the_outage() -> None:
    refused = [(t, "aster", DOWN, f"outage:aster:quote:{t:g}") for t in (10.0, 20.0)]
    table = recovery_table(trace(*refused, (25.0, "aster", OK, ""), (70.0, "aster", OK, ""), left_s=30.0))
    # The answer at 25 s is of a call that came before: the outage is not over, and nothing has recovered.
    assert table.loc[0, ["outages", "recovered", "worst_s"]].tolist() == [1, 1, pytest.approx(40.0)]


def test_outages_with_ends_of_their_own_are_told_apart() -> None:
    early = trace((10.0, "aster", DOWN, "outage:aster:quote:1"), left_s=30.0)
    late = trace((40.0, "aster", DOWN, "outage:aster:quote:2"), (60.0, "aster", OK, ""), left_s=50.0)
    table = recovery_table(pd.concat([early, late]))
    assert table.loc[0, ["outages", "recovered", "median_s", "worst_s"]].tolist() == [2, 2, 20.0, 30.0]


@pytest.mark.parametrize(
    ("when", "ends_s", "kind"),
    [
        (When(windows=((7 * HOUR, 8 * HOUR),)), 8 * HOUR, Down()),
        (When(cron=Cron((0,), (7,), 1200.0)), 7 * HOUR + 1200.0, Down()),
        (When(days=(0,)), 24 * HOUR, Down()),
        (When(), None, Down()),
        (When(), 7 * HOUR + 300.0, Flapping(240.0, 60.0)),
        (When(windows=((7 * HOUR, 7 * HOUR + 250.0),)), 7 * HOUR + 250.0, Flapping(240.0, 60.0)),
    ],
)
def test_rows_say_how_much_longer_an_outage_lasts(when: When, ends_s: float | None, kind: Fault) -> None:
    desk = Desk(calm(faults=(FaultSpec("x", kind, when=when),)))
    desk.until(7 * HOUR + 245.0)
    assert desk.ask(Verb.QUOTE, "aster").code == 503
    (row,) = (row for row in desk.world.trace.rows if row.event == "fault")
    assert row.latency_s == (0.0 if ends_s is None else pytest.approx(ends_s - row.t_s))


def test_rows_of_drawn_outages_say_it_too() -> None:
    span = (6 * HOUR, 6 * HOUR + 600.0)
    desk = Desk(calm(), outages={"aster": (span,)})
    assert desk.ask(Verb.QUOTE, "aster").code == 503
    (row,) = (row for row in desk.world.trace.rows if row.event == "fault")
    assert row.latency_s == pytest.approx(span[1] - row.t_s)
    spells = When(spells=SpellRule(HOUR, Constant(HOUR)))
    desk = Desk(calm(faults=(FaultSpec("x", Down(), when=spells),)))
    while desk.ask(Verb.QUOTE, "aster").code != 503:
        desk.after(600.0)
    left_s = desk.world.trace.rows[-2].latency_s or desk.world.trace.rows[-3].latency_s
    desk.after(left_s - 10.0)
    assert desk.ask(Verb.QUOTE, "aster").code == 503
    desk.after(10.0)
    assert desk.ask(Verb.QUOTE, "aster").code == 200


def test_where_rows_do_not_say_it_the_last_refusal_stands_for_the_end() -> None:
    table = recovery_table(
        trace(
            (0.0, "aster", OK, ""),
            (10.0, "aster", DOWN, "outage:aster:quote:1"),
            (20.0, "aster", DOWN, "outage:aster:quote:2"),
            (25.0, "birch", OK, ""),
            (30.0, "aster", DOWN, "rate_limit:aster:quote:3"),
            (50.0, "aster", OK, ""),
            (60.0, "aster", DOWN, "down:aster:tender:x#4"),
            (70.0, "aster", "PENDING/PENDING", ""),
            (80.0, "birch", DOWN, "flapping:birch:quote:x#5"),
        )
    )
    assert table.to_dict("records") == [
        {"arm": "a", "outages": 3, "recovered": 2, "median_s": pytest.approx(20.0), "worst_s": pytest.approx(30.0)}
    ]


def test_outages_without_an_answer_between_them_are_told_apart_by_their_faults() -> None:
    table = recovery_table(
        trace(
            (10.0, "aster", DOWN, "down:aster:quote:night#1"),
            (20.0, "aster", DOWN, "down:aster:quote:night#2"),
            (30.0, "aster", DOWN, "down:aster:quote:noon#3"),
            (40.0, "aster", DOWN, "outage:aster:quote:4"),
            (45.0, "aster", DOWN, "outage:aster:tender:5"),
            (60.0, "aster", OK, ""),
        )
    )
    assert table.to_dict("records") == [
        {"arm": "a", "outages": 3, "recovered": 3, "median_s": pytest.approx(30.0), "worst_s": pytest.approx(40.0)}
    ]


def test_outages_of_one_source_without_an_answer_between_them_are_one() -> None:
    """As far as rows do not say when each ends."""
    table = recovery_table(
        trace((0.0, "aster", DOWN, "outage:aster:quote:1"), (9_000.0, "aster", DOWN, "outage:aster:quote:2"))
    )
    assert table.loc[0, ["outages", "recovered"]].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("cause", "source"),
    [
        ("outage:aster:quote:17", "outage"),
        ("down:aster:quote:faults[2]#17", "down:faults[2]"),
        ("flapping:aster:quote:a:b#3", "flapping:a:b"),
        ("brown_out:aster:quote:x#1", ""),
        ("", ""),
    ],
)
def test_sources_of_outages(cause: str, source: str) -> None:
    assert outage_source(cause) == source


def test_metrics_json_and_report_show_recovery_where_an_outage_was_met(make_run: Callable[..., Path]) -> None:
    folder = make_run()
    rows = {row["arm"]: row for row in summarise(folder)["recovery"]}
    assert (rows["progpo"]["outages"], rows["progpo"]["recovered"]) == (1, 1)
    assert "Recovery after outages" in build_report(folder).read_text("utf-8")
    (shown,) = recovery_tables(summarise(folder))
    assert [list(column.cells) for column in shown.columns] == [
        ["progpo", "scripted"],
        ["1", "1"],
        ["1", "1"],
        ["11.0 min", "11.0 min"],
        ["11.0 min", "11.0 min"],
    ]


def test_nothing_is_shown_where_no_outage_was_met(
    make_run: Callable[..., Path], run_tables: dict[str, pd.DataFrame]
) -> None:
    calm = run_tables["trace"][~run_tables["trace"]["cause_id"].str.startswith("outage")]
    folder = make_run(tables={"outcomes": run_tables["outcomes"], "trace": calm})
    text = build_report(folder).read_text("utf-8")
    assert "Faults injected" in text
    assert "Recovery after outages" not in text
    assert recovery_tables(summarise(folder)) == []


def test_a_brown_out_is_no_outage() -> None:
    table = recovery_table(trace((0.0, "aster", "TIMEOUT/x", "brown_out:aster:quote:x#1"), (9.0, "aster", OK, "")))
    row = table.to_dict("records")[0]
    assert (row["outages"], row["recovered"]) == (0, 0)
    assert np.isnan(row["median_s"])


def test_a_trace_without_answers_has_no_rows() -> None:
    assert recovery_table(trace((0.0, "aster", OK, ""))[:0]).empty
