"""The demo in small: it sizes itself, trains, judges and says what came out, whichever way that is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from masim.analysis.load import load_run
from masim.errors import ConfigError, DataError
from masim.study import demo
from masim.study.demo import DemoOptions, run_demo
from masim.study.pace import Pace, episodes_within

TINY = DemoOptions(
    seconds=1.0,
    least=8,
    most=8,
    seeds=2,
    first_look=1,
    curve_points=1,
    curve_episodes=2,
    eval_episodes=2,
    workers=1,
)


def test_the_whole_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"buffer_units": 32, "units_per_step": 32}
    monkeypatch.setattr(demo, "ARMS", {name: {**options, **small} for name, options in demo.ARMS.items()})
    said: list[str] = []
    found = run_demo(replace(TINY, out=tmp_path / "run"), say=said.append)
    assert found.run == tmp_path / "run" and found.report.is_file()
    text = "\n".join(said)
    assert "72 vendors, 4,920 deliveries" in text
    assert "8 episodes per arm and seed" in text
    assert all(f"  {name}" in text for name in ("null", "random", "naive", "scripted", "untrained"))
    run = load_run(found.run)
    assert run.meta.kind == "demo" and run.meta.status == "complete"
    trained = {"GRPO", "GRPO, memory emptied", "ProGPO", "ProGPO, memory emptied"}
    assert set(run.outcomes["arm"]) == {"null", "random", "naive", "scripted", "untrained", *trained}
    assert not found.passed, "one update cannot beat anybody; the intervals must not claim it"
    assert found.lines[-1].startswith("NOT SHOWN")
    assert 6 <= len(found.lines) <= 9


def test_a_bad_data_file_leaves_nothing(tmp_path: Path) -> None:
    bad = tmp_path / "history.csv"
    bad.write_text("a,b\n1,2\n")
    with pytest.raises(DataError):
        run_demo(replace(TINY, data=bad, out=tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_impossible_options() -> None:
    for change in ({"seconds": 0.0}, {"workers": 0}, {"seed": 801}):
        with pytest.raises(ConfigError):
            replace(TINY, **change)


PACE = Pace(decisions_per_s=1000.0, train_s=0.1, play_s=0.05)


@pytest.mark.parametrize(
    ("seconds", "workers", "expected"),
    [
        (240.0, 2, 720),  # 3 rounds of 80 s, 8 s of them for the curve
        (240.0, 6, 2320),  # one round
        (240.0, 64, 2320),
        (10.0, 1, 480),  # never below the least
        (3600.0, 2, 2400),  # never above the most
    ],
)
def test_sizing(seconds: float, workers: int, expected: int) -> None:
    assert episodes_within(seconds, PACE, 6, workers, 160, (480, 2400), 16) == expected
