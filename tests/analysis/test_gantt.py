"""The picture of an episode: what it shows and that it can be drawn in every case.

1. Calls, waits (ended by a message, by their timer, by the end), trucks, news and faults become marks at their times.
2. Nothing is too thin to be seen; empty and one-decision episodes are drawn.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from masim.analysis.gantt import gantt, lanes_of, marks_of
from masim.analysis.load import TRACE
from masim.env.core import Session
from masim.scenario.load import load_scenario
from masim.sim.spec import Instance
from masim.sim.trace import TraceRow


def table(*rows: TraceRow) -> pd.DataFrame:
    head = {"arm": "scripted", "train_seed": -1, "episode": 0, "campaign_seed": 0, "day": 0}
    return pd.DataFrame([{**head, **row._asdict()} for row in rows], columns=list(TRACE))


def shown(rows: pd.DataFrame) -> list[tuple[str, str, float, float]]:
    return [(m.lane, m.label, m.start_s, m.end_s) for m in marks_of(rows)]


def decision(t_s: float, note: str) -> TraceRow:
    return TraceRow(t_s, "decision", "a", note=note)


def test_a_call_is_in_two_lanes_with_its_result() -> None:
    common: dict[str, Any] = {"agent": "a", "vendor": "v", "verb": "quote", "latency_s": 2.0}
    rows = table(
        TraceRow(12.0, "answer", status="SUCCESS/X", code=200, **common),
        TraceRow(22.0, "answer", status="FAILURE/X", code=503, **common),
        TraceRow(32.0, "answer", status="TIMEOUT/X", code=0, **common),
    )
    labels = ["answered", "refused", "no answer"]
    expected = [(lane, label, t, t + 2) for label, t in zip(labels, (10, 20, 30), strict=True) for lane in "av"]
    assert shown(rows) == expected


def test_waits_end_by_message_by_timer_and_with_the_episode() -> None:
    rows = table(decision(0.0, "wait(300 s)"), decision(50.0, "wait(300 s)"), decision(350.0, "wait(300 s)"),
                 TraceRow(900.0, "state", vendor="v"))  # fmt: skip
    assert shown(rows) == [("a", "wait", 0, 50), ("a", "wait", 50, 350), ("a", "wait", 350, 650)]


def test_trucks_news_and_faults() -> None:
    place: dict[str, Any] = {"agent": "a", "order": "o", "leg": 0, "vendor": "v"}
    rows = table(
        TraceRow(5.0, "message", status="CONFIRMED", note="tender", **place),
        TraceRow(10.0, "answer", verb="dispatch", status="SUCCESS/X", code=200, latency_s=1.0, **place),
        TraceRow(20.0, "fault", cause_id="late_truck:v:1", **place),
        TraceRow(90.0, "state", status="CONFIRMED", note="delivered", **place),
    )
    found = shown(rows)
    assert ("v", "tender accepted", 5, 5) in found
    assert ("v", "truck on the road", 10, 90) in found
    assert ("v", "delivered", 90, 90) in found
    assert ("v", "fault: late_truck", 20, 20) in found


def test_every_call_of_a_real_episode_is_wide_enough() -> None:
    scenario = load_scenario("freight/short-chain-v0")
    session = Session(scenario.spec, Instance(1, 0, "eval"))
    while decisions := session.advance():
        for asked in decisions:
            session.submit(asked.agent, int(asked.legal[-1]))
    rows = table(*session.trace_rows)
    axes = gantt(rows).axes[0]
    low, high = axes.get_xlim()
    widths = [patch.get_width() for patch in axes.patches]
    assert len(widths) >= 2 * (rows["event"] == "answer").sum() > 0
    assert min(widths) >= 0.002 * (high - low)
    assert [text.get_text() for text in axes.get_yticklabels()] == lanes_of(rows)


@pytest.mark.parametrize("rows", [table(), table(decision(6.0, "wait(300 s)"))], ids=["empty", "one decision"])
def test_small_episodes_are_drawn(rows: pd.DataFrame, tmp_path: Any) -> None:
    figure = gantt(rows)
    figure.savefig(tmp_path / "small.png")
    assert len(figure.axes) == 1
