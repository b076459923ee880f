"""The profile of a log: scenarios load it, it lints clean, and every number has its source.

1. A day of our own agents, written as a log, fitted, and named by a scenario.
2. Logs without writes, without errors or with nothing but a few calls still give a whole profile.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from fit.logs import log_row, plain, probe, write_csv

from masim.assets import asset_root
from masim.errors import DataError
from masim.policy.card import load_card
from masim.rollout.evaluate import campaign_jobs, play_campaign
from masim.scenario.fit.apilog.fit import fit_api_log
from masim.scenario.fit.apilog.profile import write_api_profile
from masim.scenario.lint import lint_scenario
from masim.scenario.load import load_scenario
from masim.scenario.nodes import read_nodes
from masim.scenario.schema import ApisProfileDoc
from masim.scenario.validate import validate
from masim.sim.trace import TraceRow


def named(profile: Path) -> Path:
    """Return a scenario that takes this profile."""
    text = (asset_root() / "scenarios/freight/first-steps-v0.yaml").read_text("utf-8")
    scenario = profile.parent / "first-steps-v0.yaml"
    scenario.write_text(text.replace("apis: apis-calm-v0", f"apis: {profile.name}"), "utf-8")
    return scenario


def sources(value: Any, inherited: bool = False) -> Iterator[bool]:
    """Yield, for each number of a document, whether it or what it is part of has a source."""
    if isinstance(value, dict):
        inherited = inherited or bool(value.get("source"))
        for key, part in value.items():
            if key not in ("schema", "id", "title", "description", "source"):
                yield from sources(part, inherited)
    elif value is not None:
        yield inherited


def test_round_trip(tmp_path: Path) -> None:
    settings = {"profiles.apis": "apis-peak-v0", "outages": "{gap_mean: '6 h', length: {median: '20 min', sigma: 0.6}}"}
    fit = fit_api_log(write_csv(probe(settings, 6.0, 1), tmp_path / "calls.csv"))
    write_api_profile(fit, tmp_path / "apis-mine.yaml")
    document = validate(ApisProfileDoc, read_nodes(tmp_path / "apis-mine.yaml"))
    assert document.id == "apis-mine-v0"
    loaded = yaml.safe_load((tmp_path / "apis-mine.yaml").read_text("utf-8"))
    assert all(sources(loaded)) and loaded["outages"] is not None
    assert "[M] calls.csv, n=" in loaded["reads"]["latency"]["source"]
    scenario = named(tmp_path / "apis-mine.yaml")
    assert lint_scenario(scenario) == []
    spec = load_scenario(scenario).spec
    quote = next(api for api in spec.apis if api.verb == "quote")
    assert quote.latency.ppf(0.5) == pytest.approx(8.6, rel=0.05)
    assert quote.transient.bad_share == pytest.approx(0.05, rel=0.7)


def test_log_of_our_own_agents(tmp_path: Path) -> None:
    spec = load_scenario("freight/first-steps-v0", {"profiles.apis": "apis-typical-v0"}).spec
    (job,) = campaign_jobs(spec, load_card("scripted"), "scripted", 8, 0, trace=True)
    fields = TraceRow._fields
    answers = [TraceRow(**{key: row[key] for key in fields}) for row in play_campaign(job).trace]
    rows = [log_row(row) for row in answers if row.event == "answer"]
    write_api_profile(fit_api_log(write_csv(rows, tmp_path / "calls.csv")), tmp_path / "own.yaml")
    assert lint_scenario(named(tmp_path / "own.yaml")) == []


@pytest.mark.parametrize("other", [{}, {"endpoint": "tender"}])
def test_small_logs_give_whole_profiles(tmp_path: Path, other: dict[str, Any]) -> None:
    fit = fit_api_log(write_csv(plain(20, **other), tmp_path / "calls.csv"))
    write_api_profile(fit, tmp_path / "Mine 2.yaml")
    (tmp_path / "Mine 2.yaml").rename(tmp_path / "mine.yaml")
    assert lint_scenario(named(tmp_path / "mine.yaml")) == []
    loaded = yaml.safe_load((tmp_path / "mine.yaml").read_text("utf-8"))
    assert loaded["id"] == "mine-2-v0" and loaded["outages"] is None
    assert loaded["reads"]["transient"]["bad_share"] == 0.0
    assert "one state: 0 errors are too few" in loaded["reads" if not other else "writes"]["transient"]["source"]
    assert any("[I] too few" in note for note in fit.assumed)


def test_nothing_half_written(tmp_path: Path) -> None:
    fit = fit_api_log(write_csv(plain(), tmp_path / "calls.csv"))
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(DataError, match="this is a folder"):
        write_api_profile(fit, tmp_path / "folder.yaml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["calls.csv", "folder.yaml"]
