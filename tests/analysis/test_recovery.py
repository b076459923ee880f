"""Recovery after outages, on traces made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from masim.analysis.recovery import recovery_table

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


def test_a_brown_out_is_no_outage() -> None:
    table = recovery_table(trace((0.0, "aster", "TIMEOUT/x", "brown_out:aster:quote:x#1"), (9.0, "aster", OK, "")))
    row = table.to_dict("records")[0]
    assert (row["outages"], row["recovered"]) == (0, 0)
    assert np.isnan(row["median_s"])


def test_a_trace_without_answers_has_no_rows() -> None:
    assert recovery_table(trace((0.0, "aster", OK, ""))[:0]).empty
