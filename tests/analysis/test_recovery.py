"""Recovery after outages, on traces made by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from masim.analysis.recovery import outage_source, recovery_table
from masim.analysis.report import build_report
from masim.analysis.summary import summarise
from masim.cli.results import recovery_tables

OK, DOWN = "SUCCESS/CONFIRMED", "FAILURE/NOT_SCHEDULED"


def trace(*answers: tuple[float, str, str, str]) -> pd.DataFrame:
    rows = [
        {
            "arm": "a",
            "train_seed": -1,
            "episode": 0,
            "event": "answer",
            "t_s": t,
            "vendor": v,
            "status": s,
            "cause_id": c,
        }
        for t, v, s, c in answers
    ]
    return pd.DataFrame(rows)


def test_the_wait_runs_from_the_last_refusal_to_the_first_answer() -> None:
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
    """The trace holds no timelines: the page says so."""
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
