"""Repeated calls: by hand, and the loop told from every other bundled agent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from masim.analysis.load import load_run
from masim.analysis.repeats import repeats_table
from masim.analysis.report.findings import LOOP_SHARE, findings
from masim.analysis.summary import summary_of
from masim.policy.card import load_card
from masim.rollout.evaluate import CampaignJob, play_campaign
from masim.scenario.load import load_scenario

FREIGHT = ("freight/first-steps-v0", "freight/short-chain-v0", "freight/twelve-apis-v0")


def row(event: str, request: int, verb: str = "quote", agent: str = "x", vendor: str = "aster") -> dict[str, Any]:
    call = {"order": "o", "leg": 0, "stop": "", "slot": -1, "verb": verb, "vendor": vendor, "agent": agent}
    return {"arm": "a", "train_seed": -1, "episode": 0, "event": event, "request_id": request, **call}


def test_a_repeat_is_the_same_call_of_the_same_agent_just_before() -> None:
    trace = [
        row("call", 1),
        row("call", 2, agent="y"),  # somebody else's
        row("answer", 1),
        row("call", 3),  # repeats 1, with y's between
        row("call", 4, vendor="birch"),
        row("call", 5),  # not just before
        row("call", 6),  # repeats 5
        row("call", 7),  # made again by the client itself
        row("retry", 7),
        row("call", 8),  # repeats 6
        row("outcome", -1),
        row("outcome", -1, agent="y"),
    ]
    (found,) = repeats_table(pd.DataFrame(trace)).to_dict("records")
    assert found == {
        "arm": "a",
        "calls": 7,
        "repeated": 3,
        "share": pytest.approx(3 / 7),
        "per_order": 1.5,
        "longest": 3,
    }


def test_without_outcomes_there_is_no_rate_per_order_and_without_calls_no_row() -> None:
    assert np.isnan(repeats_table(pd.DataFrame([row("call", 1)])).loc[0, "per_order"])
    assert repeats_table(pd.DataFrame([row("answer", 1)])).empty


@pytest.mark.parametrize("scenario", FREIGHT)
def test_only_the_loop_loops(scenario: str, make_run: Callable[..., Path]) -> None:
    spec = load_scenario(scenario).spec
    cards = ("null", "loop", "random", "naive", "greedy", "scripted", "production", "oracle")
    played = [play_campaign(CampaignJob(spec, load_card(card), card, 3, 2, 0, trace=True)) for card in cards]
    outcomes = pd.DataFrame([order for rows in played for order in rows.outcomes])
    trace = pd.DataFrame([event for rows in played for event in rows.trace])
    run = load_run(make_run(tables={"outcomes": outcomes, "trace": trace}, kind="run"))
    summary = summary_of(run)
    share = summary.repeats.set_index("arm")["share"]
    assert "null" not in share.index
    assert list(share.index[share >= LOOP_SHARE]) == ["loop"]
    told = [finding.text for finding in findings(run, summary) if " loops: " in finding.text]
    assert len(told) == 1 and told[0].startswith("loop loops: ")
