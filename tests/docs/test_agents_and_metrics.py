"""The page on agents and metrics names exactly what there is.

1. Every bundled card with its policy, and no other.
2. Every metric with its unit, meaning, columns, scale and direction, in the code's order.
3. Every column of recovery, repeats and latency, the classes of outages, and how the oracle is shown the world.
"""

from __future__ import annotations

import re

from docs.blocks import ROOT

from masim.analysis import metrics, recovery, repeats
from masim.analysis.report.findings import LOOP_SHARE
from masim.policy.card import load_card
from masim.policy.oracle import OraclePolicy

PAGE = (ROOT / "docs/reference/agents-and-metrics.md").read_text("utf-8")


def section(title: str) -> str:
    (own,) = re.findall(rf"^##+ {title}\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
    return str(own)


def cells(line: str) -> list[str]:
    return [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]


def test_every_bundled_agent_and_no_other() -> None:
    rows = [cells(line)[:2] for line in section("Agents").splitlines() if line.startswith("| `")]
    cards = {path.stem: load_card(str(path)).policy for path in (ROOT / "agents").glob("*.yaml")}
    assert dict(map(tuple, rows)) == cards
    assert len(rows) == len(cards)


def test_every_metric_as_the_code_defines_it() -> None:
    lines = [line for line in section("Metrics").splitlines() if re.match(r"\| `\w+` \|", line)]
    expected = [
        [name, m.unit, m.meaning, f"{m.top}` / `{m.bottom}", f"{m.scale:g}", m.better]
        for name, m in metrics.METRICS.items()
    ]
    assert [cells(line) for line in lines] == expected


def test_the_other_tables_are_named_column_by_column() -> None:
    for title, columns in (
        ("Recovery after outages", recovery.COLUMNS[1:]),
        ("Repeated calls", repeats.COLUMNS[1:]),
        ("Latency", ["vendor", "n", *metrics.LATENCY_QUANTILES]),
    ):
        named = set(re.findall(r"`(\w+)`", section(title)))
        assert set(columns) - named == set(), title
    assert set(recovery.OUTAGES) <= set(re.findall(r"`(\w+)`", section("Recovery after outages")))
    assert f"share of {LOOP_SHARE:g} on" in section("Repeated calls")
    for name, (_, fewest) in metrics.LATENCY_QUANTILES.items():
        assert re.search(rf"\b{fewest}\s\(`{name}`\)", section("Latency")), name


def test_how_the_oracle_knows_is_said_with_the_codes_own_names() -> None:
    assert OraclePolicy.omniscient is True
    text = section("How the oracle is allowed to know")
    assert all(name in text for name in ("`omniscient = True`", "`Ask.world`", "sees_world"))
