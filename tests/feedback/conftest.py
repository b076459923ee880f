"""A run of four agents on the same days, played once for all tests of this folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from masim.scenario.load import load_scenario
from masim.study.runs import RunOptions, run_scenario

AGENTS = ("random", "naive", "scripted", "null")


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run folder that tests only read."""
    out = tmp_path_factory.mktemp("played") / "run"
    scenario = load_scenario("freight/first-steps-v0")
    return run_scenario(scenario, AGENTS, RunOptions(40, 0, 1, out, executor="serial"))


@pytest.fixture
def run(played: Path, tmp_path: Path) -> Path:
    """Return a copy of the run that a test may write to."""
    return shutil.copytree(played, tmp_path / "run")
