"""``masim stress``.

1. The rows of a batch are what the campaigns, played one by one, add up to.
2. The same bytes with one worker and two, and a longer run begins with the rows of a shorter one.
3. A gate is the lower bound of the interval: exit 0 or 1, with JUnit XML that says so.
4. A run stops at the first look at which its interval is narrow enough.
5. Bad input is one line and exit 2, and leaves no folder.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pyarrow.parquet as pq
import pytest

from masim.analysis.stats import Estimate, wilson
from masim.cli.main import run
from masim.errors import ConfigError
from masim.policy.card import load_card
from masim.rollout.evaluate import play_campaign
from masim.scenario.load import load_scenario
from masim.stress.gate import parse_gates
from masim.stress.replications import SUMS, Batch, play_batch
from masim.stress.rules import Stop, estimates

FIRST = "freight/first-steps-v0"


def stress(folder: Path, *words: str) -> int:
    return run(["stress", FIRST, "--agent", "random", "-w", "1", "-q", "--out", str(folder), *words])


def read(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "stress.json").read_text("utf-8"))
    return content


@pytest.mark.parametrize("name", [FIRST, "freight/relay-v0"])
def test_a_batch_is_its_campaigns(name: str) -> None:
    batch = Batch(load_scenario(name).spec, load_card("scripted"), "scripted", -1, 3, 7, 3)
    rows = play_batch(batch).rows
    assert rows["replication"].tolist() == [7, 8, 9]
    assert rows["campaign_seed"].tolist() == [3_000_007, 3_000_008, 3_000_009]
    for number, row in zip((7, 8, 9), rows.to_dict("records"), strict=True):
        orders = pd.DataFrame(play_campaign(batch.campaign(number)).outcomes)
        assert row["orders"] == len(orders)
        assert row["samples"] == len(orders.drop_duplicates(["day", "agent"]))
        assert row["completed_orders"] == orders["completed"].sum()
        assert row["cost_cents"] == orders["cost_cents"].sum()
        assert row["completed"] == orders.groupby(["day", "agent"])["completed"].all().sum()


def test_the_same_bytes_with_two_workers_and_the_same_rows_in_a_longer_run(tmp_path: Path) -> None:
    for name, words in (("one", ["-n", "120"]), ("two", ["-n", "120", "-w", "2"]), ("short", ["-n", "30"])):
        assert stress(tmp_path / name, *words) == 0
    one, two = ((tmp_path / name / "replications.parquet").read_bytes() for name in ("one", "two"))
    assert one == two
    assert read(tmp_path / "one") == read(tmp_path / "two")
    long, short = (pq.read_table(tmp_path / name / "replications.parquet").to_pandas() for name in ("one", "short"))
    pd.testing.assert_frame_equal(long.head(30), short)


def test_a_gate_is_the_lower_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert stress(tmp_path / "look", "-n", "100") == 0
    found = read(tmp_path / "look")["arms"][0]["metrics"]["completion"]
    middle = (found["low"] + found["value"]) / 2
    for name, bound, code in (("good", found["low"] - 0.001, 0), ("bad", middle, 1)):
        assert stress(tmp_path / name, "-n", "100", "--gate", f"completion>={bound}") == code
        case = ElementTree.parse(tmp_path / name / "junit.xml").getroot().find("./testsuite/testcase")
        assert case is not None
        assert (case.find("failure") is not None) == bool(code)
        assert json.loads((tmp_path / name / "run.json").read_text("utf-8"))["status"] == "complete"
    assert "FAILED" in capsys.readouterr().out


def test_gates_read_their_side_of_the_interval() -> None:
    (least, most) = parse_gates(["otif>=0.9", "completion <= 0.2"], Stop(100))
    assert not least.passes(Estimate(0.95, 0.89, 0.99, 100, "replications", ""))
    assert least.passes(Estimate(0.95, 0.91, 0.99, 100, "replications", ""))
    assert not most.passes(Estimate(0.1, 0.05, 0.21, 100, "replications", ""))
    assert not most.passes(Estimate(0.1, float("nan"), float("nan"), 1, "replications", ""))


def test_the_replications_that_a_bound_needs_are_named() -> None:
    with pytest.raises(ConfigError) as refused:
        parse_gates(["completion>=0.99"], Stop(100))
    needed = int(refused.value.fix.split()[1])
    assert wilson(needed, needed).low >= 0.99 > wilson(needed - 1, needed - 1).low


def test_a_run_stops_at_the_first_narrow_look(tmp_path: Path) -> None:
    assert stress(tmp_path / "run", "--half-width", "0.06", "-n", "600") == 0
    rows = pq.read_table(tmp_path / "run" / "replications.parquet").to_pandas()
    stop = Stop(600, 0.06)
    narrow = [n for n in sorted(stop.looks()) if n <= len(rows) and stop.enough(rows.head(n), 0)]
    assert narrow == [len(rows)] or (narrow == [] and len(rows) == 600)
    assert Stop(600).looks() == frozenset()


def test_one_trial_in_a_replication_is_wilsons_and_several_are_a_cluster() -> None:
    rows = pd.DataFrame({name: [1] * 40 for name in SUMS}).assign(completed=[1] * 30 + [0] * 10)
    assert estimates(rows)["completion"] == wilson(30, 40, unit="replications")
    pairs = rows.assign(samples=2, completed=[2] * 30 + [0] * 10)
    found = estimates(pairs)["completion"]
    assert found.method == "cluster bootstrap over replications"
    assert found.high - found.low > 1.3 * (wilson(60, 80).high - wilson(60, 80).low)


BAD: dict[str, tuple[list[str], str]] = {
    "too few": (["-n", "3"], "impossible --n; got 3"),
    "a width that is none": (["--half-width", "0"], "impossible --half-width"),
    "not a gate": (["--gate", "completion"], "not a gate; got completion"),
    "no metric": (["--gate", "safe_completoin>=0.5"], "did you mean 'safe_completion'?"),
    "a metric without a bound": (["--gate", "calls_per_order<=3"], "names no metric that it can judge"),
    "certainty": (["--gate", "completion>=1"], "a share is never certain"),
    "no number": (["--gate", "completion>=1e"], "the bound is not a number"),
    "looking and judging": (["--half-width", "0.1", "--gate", "completion>=0.5"], "a fixed number of replications"),
    "out of reach": (["-n", "20", "--gate", "completion>=0.9"], "fix: --n 35 or more"),
    "unknown agent": (["--agent", "scriptd"], "did you mean 'scripted'?"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, text = BAD[name]
    assert stress(tmp_path / "run", *words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert text in line
    assert not (tmp_path / "run" / "run.json").exists()
