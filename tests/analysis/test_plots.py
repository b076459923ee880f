"""Pins the figures: what they draw, that they survive odd data, and that they leave no global state behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from analysis.folders import HOSTILE, trace_rows

from masim.analysis import plots, timeline
from masim.analysis.arms import EMPTIED
from masim.analysis.chains import MAX_LANES, build_chain, pick_chain
from masim.analysis.load import load_run
from masim.analysis.style import CSS_NAMES, arm_colour, plain_text, svg_text
from masim.analysis.summary import summary_of

Make = Callable[..., Path]


def texts(figure: object) -> str:
    return svg_text(figure, "t")  # type: ignore[arg-type]


def test_bars_name_every_arm_with_n(make_run: Make) -> None:
    run = load_run(make_run())
    drawn = texts(plots.completion_bars(run, summary_of(run)))
    for label in ("ProGPO", "scripted", "3 seeds × 40 episodes", "40 episodes", "95% interval"):
        assert label in drawn


def test_learning_curve_says_where_it_was_measured(make_run: Make, run_tables: dict[str, pd.DataFrame]) -> None:
    run = load_run(make_run())
    assert "held-out" in texts(plots.learning_curve(run, summary_of(run)))
    tables = {name: run_tables[name] for name in ("outcomes", "train")}
    run = load_run(make_run("second", tables=tables))
    drawn = texts(plots.learning_curve(run, summary_of(run)))
    assert "while training" in drawn
    assert "ProGPO (3 seeds)" in drawn


def test_figures_survive_one_seed_and_no_progress(make_run: Make, run_tables: dict[str, pd.DataFrame]) -> None:
    train = run_tables["train"].query("train_seed == 0").assign(completion=0.0, all_failed=1.0)
    run = load_run(make_run(tables={"train": train}))
    assert "ProGPO" in texts(plots.all_failed_share(run))
    assert "ProGPO" in texts(plots.learning_curve(run, summary_of(run)))


def test_colours_follow_the_page(make_run: Make) -> None:
    run = load_run(make_run())
    drawn = texts(plots.completion_bars(run, summary_of(run)))
    assert "var(--blue)" in drawn
    assert not [colour for colour in CSS_NAMES if colour in drawn]
    assert arm_colour("ProGPO") == arm_colour("progpo") != arm_colour("grpo")
    for arm in ("GRPO", "ProGPO", "my-own"):
        assert arm_colour(arm + EMPTIED) == arm_colour(arm)


def test_global_settings_are_left_alone(make_run: Make) -> None:
    before = dict(mpl.rcParams)
    run = load_run(make_run())
    texts(plots.completion_bars(run, summary_of(run)))
    assert dict(mpl.rcParams) == before


def test_labels_do_not_touch() -> None:
    placed = plots._spread([0.0, 0.1, 50.0, 99.0, 100.0])
    assert np.diff(placed).min() >= 5.49
    assert max(placed) <= 100.0


def test_chain_reads_the_trace() -> None:
    chain = build_chain(trace_rows())
    assert [bar.kind for bar in chain.bars].count("silent") == 1
    assert [bar.kind for bar in chain.bars].count("refused") == 2
    assert sorted(chain.faults) == ["lost_response", "outage", "transient"]
    assert [mark.kind for mark in chain.marks if not mark.kind.startswith("fault")] == [
        "confirmed", "confirmed", "declared", "delivered",
    ]  # fmt: skip
    assert [(chain.lanes[lane], until - since) for lane, since, until in chain.pending] == [
        ("tender · Kestrel Haulage", pytest.approx(1347.5)), ("schedule · Dock Lyon 1", pytest.approx(1598.9)),
    ]  # fmt: skip
    assert chain.lanes[-1] == "on the road"


def test_the_chain_of_the_best_arm_is_picked(make_run: Make, run_tables: dict[str, pd.DataFrame]) -> None:
    run = load_run(make_run())
    rows = pick_chain(run.trace, summary_of(run))
    assert rows is not None
    assert set(rows["arm"]) == {"progpo"}
    assert pick_chain(run.trace.head(0), summary_of(run)) is None


@pytest.mark.parametrize("vendor", [HOSTILE, "運送 🚚", "$x_1$", "V" * 300, ""])
def test_timeline_survives_any_vendor(vendor: str) -> None:
    drawn = texts(timeline.booking_timeline(trace_rows(vendor=vendor)))
    assert "<script" not in drawn
    assert "minutes since the first call" in drawn


def test_timeline_of_a_chain_without_an_answer() -> None:
    rows = trace_rows()
    assert "<svg" in texts(timeline.booking_timeline(rows[rows["event"] == "call"]))
    assert "<svg" in texts(timeline.booking_timeline(rows[rows["event"] == "outcome"]))


def test_too_many_lanes_are_cut_and_counted() -> None:
    rows = pd.concat([trace_rows(vendor=f"v{i}") for i in range(30)], ignore_index=True)
    chain = build_chain(rows)
    assert len(chain.lanes) == MAX_LANES + 1
    assert chain.dropped_lanes > 0


def test_plain_text() -> None:
    assert plain_text("a\x00\n b\u202ec" + "x" * 100, 8) == "a b cxx…"
