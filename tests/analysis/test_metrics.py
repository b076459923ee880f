"""Pins the metrics and the summary.

1. A sample counts only when all its orders are complete; decisions and calls are counted once per sample.
2. Units of replication: episodes, campaigns when several days of one are played, seeds when there are several.
3. Contrasts are named by role, paired, and honest when nothing differs.
4. Latency, faults and failures come from the right rows.
5. ``metrics.json`` is deterministic and strict JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from masim.analysis import metrics
from masim.analysis.load import load_run
from masim.analysis.summary import difference, summarise, summary_of
from masim.cli.results import arms_table

Make = Callable[..., Path]


def two_orders() -> pd.DataFrame:
    """One episode, one agent, two orders, of which one was completed."""
    row = {
        "arm": "scripted", "train_seed": -1, "episode": 0, "campaign_seed": 5, "day": 0, "agent": "a", "order": "o1",
        "completed": True, "safe": True, "cost_cents": 10_000, "duplicates": 1, "orphans": 0,
        "unsupported_claims": 0, "legs_delivered": 2, "legs": 2, "landed_s": 1.0, "failure": "", "decisions": 30,
        "calls": 20,
    }  # fmt: skip
    other = {"order": "o2", "completed": False, "safe": False, "legs_delivered": 1, "failure": "truck_late"}
    return pd.DataFrame([row, row | other])


def test_a_sample_needs_all_its_orders() -> None:
    samples = metrics.sample_table(two_orders())
    assert len(samples) == 1
    assert samples.loc[0, ["completed", "completed_orders", "orders", "decisions", "calls"]].tolist() == [
        0,
        1,
        2,
        30,
        20,
    ]


def test_values_by_hand() -> None:
    (arm,) = metrics.arm_summaries(two_orders())
    found = {name: estimate.value for name, estimate in arm.metrics.items()}
    assert found["completion"] == 0.0
    assert found["cost_per_completed_order"] == pytest.approx(200.0)
    assert found["duplicates_per_1000_orders"] == pytest.approx(1000.0)
    assert found["legs_delivered"] == pytest.approx(0.75)
    assert found["decisions_per_order"] == pytest.approx(15.0)
    assert arm.failures == {"truck_late": 1}


def by_hand(days: int) -> pd.DataFrame:
    """Four episodes of one agent with two orders each: 2, 1, 0 and 2 of them completed, the last one not safely."""
    (row, _), done = two_orders().to_dict("records"), (2, 1, 0, 2)
    return pd.DataFrame(
        [
            row
            | {"episode": e, "campaign_seed": 5 + e // days, "day": e % days, "order": f"o{k}", "completed": k < n}
            | {"safe": k < n and e < 3}
            for e, n in enumerate(done)
            for k in range(2)
        ]
    )


def test_on_time_in_full_and_the_worst_by_hand() -> None:
    (arm,) = metrics.arm_summaries(by_hand(days=1))
    assert arm.metrics["otif"].value == pytest.approx(5 / 8)
    assert arm.metrics["completion"].value == pytest.approx(2 / 4)
    assert arm.worst == {"completion": 0.0, "safe_completion": 0.0}
    assert arm.replications == (4, "episode")


def test_the_worst_of_campaigns_is_over_all_days_of_one() -> None:
    (arm,) = metrics.arm_summaries(by_hand(days=2))
    assert arm.metrics["otif"].value == pytest.approx(5 / 8)
    assert arm.worst == {"completion": 0.5, "safe_completion": 0.0}
    assert arm.replications == (2, "campaign")


@pytest.mark.parametrize(("days", "cell"), [(1, "0.0% of 4 episodes"), (2, "50.0% of 2 campaigns"), (4, "-")])
def test_the_terminal_shows_the_worst_where_there_are_several(make_run: Make, days: int, cell: str) -> None:
    shown = arms_table(summarise(make_run(tables={"outcomes": by_hand(days)}, kind="run")))
    assert list(shown.columns[-1].cells) == [cell]


def test_units_of_replication(run_tables: dict[str, pd.DataFrame]) -> None:
    arms = {arm.arm: arm for arm in metrics.arm_summaries(run_tables["outcomes"])}
    assert (arms["scripted"].metrics["completion"].unit, arms["scripted"].metrics["completion"].n) == ("episodes", 40)
    assert (arms["progpo"].metrics["completion"].unit, arms["progpo"].seeds) == ("seeds", 3)


def test_days_of_a_campaign_are_one_cluster(run_tables: dict[str, pd.DataFrame]) -> None:
    rows = run_tables["outcomes"]
    rows = rows[rows["arm"] == "scripted"]
    days = rows.assign(campaign_seed=900 + rows["episode"] // 4, day=rows["episode"] % 4)
    (arm,) = metrics.arm_summaries(days)
    assert (arm.metrics["completion"].unit, arm.metrics["completion"].n) == ("campaigns", 10)


def test_cost_is_unknown_when_nothing_was_completed(run_tables: dict[str, pd.DataFrame]) -> None:
    arms = {arm.arm: arm for arm in metrics.arm_summaries(run_tables["outcomes"])}
    assert math.isnan(arms["random"].metrics["cost_per_completed_order"].value)
    assert 0.0 < arms["random"].metrics["completion"].high < 0.12


def test_contrasts_are_named_by_role(make_run: Make) -> None:
    summary = summary_of(load_run(make_run()))
    pairs = [(item.a, item.b) for item in summary.comparisons if item.metric == "completion"]
    assert pairs[:3] == [("grpo", "untrained"), ("progpo", "untrained"), ("progpo", "grpo")]
    gain = next(item for item in summary.comparisons if item.metric == "completion" and item.a == "progpo")
    assert gain.difference.low > 0.4
    assert [arm.arm for arm in summary.arms] == ["random", "scripted", "untrained", "grpo", "progpo"]


def test_an_arm_does_not_differ_from_its_copy(run_tables: dict[str, pd.DataFrame]) -> None:
    rows = run_tables["outcomes"]
    copy = rows[rows["arm"] == "scripted"].assign(arm="copy")
    samples = metrics.sample_table(pd.concat([rows, copy]))
    found = difference(samples, "copy", "scripted", "completed")
    assert found.value == 0.0
    assert found.includes_zero


def test_arms_without_shared_episodes_and_seeds_cannot_be_compared(run_tables: dict[str, pd.DataFrame]) -> None:
    rows = run_tables["outcomes"]
    other = rows[rows["arm"] == "scripted"].assign(arm="other", campaign_seed=lambda t: t["campaign_seed"] + 5000)
    found = difference(metrics.sample_table(pd.concat([rows, other])), "other", "scripted", "completed")
    assert not found.known


def test_latency_quantiles_need_enough_answers(run_tables: dict[str, pd.DataFrame]) -> None:
    answers = run_tables["trace"].head(1).loc[[0] * 150].assign(event="answer", verb="quote", latency_s=range(150))
    table = metrics.latency_table(answers)
    assert table.loc[0, ["n", "p50_s"]].tolist() == [150, 74.5]
    few = metrics.latency_table(answers.head(30))
    assert few.loc[0, ["p50_s", "p95_s"]].notna().all()
    assert math.isnan(few.loc[0, "p99_s"])


def test_latency_stands_per_verb_and_per_vendor(run_tables: dict[str, pd.DataFrame]) -> None:
    answers = run_tables["trace"].head(1).loc[[0] * 4].assign(event="answer", verb="quote", latency_s=[1.0, 2, 3, 10])
    table = metrics.latency_table(answers.assign(vendor=["b", "a", "b", ""]))
    assert table[["verb", "vendor", "n", "p50_s"]].to_numpy().tolist() == [
        ["quote", "", 4, 2.5],
        ["quote", "a", 1, pytest.approx(math.nan, nan_ok=True)],
        ["quote", "b", 2, 2.0],
    ]


def test_faults_count_strikes_and_causes(run_tables: dict[str, pd.DataFrame]) -> None:
    trace = pd.concat([run_tables["trace"]] * 2).assign(train_seed=-1)
    table = metrics.fault_table(trace).set_index(["arm", "fault"])
    assert table.loc[("progpo", "transient"), ["causes", "hits"]].tolist() == [1, 2]
    assert metrics.fault_class("lost_response:dock:schedule:3") == "lost_response"


def test_metrics_json_is_strict_and_the_same_twice(make_run: Make) -> None:
    folder = make_run()
    content = summarise(folder)
    first = (folder / "metrics.json").read_bytes()
    summarise(folder)
    assert (folder / "metrics.json").read_bytes() == first
    assert json.loads(first, parse_constant=lambda name: pytest.fail(f"{name} is no JSON")) == content
    assert not (folder / "metrics.json.part").exists()
