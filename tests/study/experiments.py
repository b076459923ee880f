"""Small experiments that train within seconds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from masim.study.experiment import Experiment

UPDATE = 8
"""Episodes of one update."""
LEARNER = {"lr": 0.003, "buffer_units": UPDATE, "units_per_step": UPDATE, "checkpoint_every": 1}
SMALL = Experiment(
    scenario="freight/first-steps-v0",
    arms={"ProGPO": {**LEARNER, "progpo": {}}},
    episodes=4 * UPDATE,
    lanes=2,
    curve_points=2,
    curve_episodes=2,
    eval_episodes=2,
    baselines=("null",),
    workers=1,
)


def with_updates(updates: int) -> Experiment:
    """Return the small experiment with so many updates."""
    return replace(SMALL, episodes=updates * UPDATE)


def edit_head(folder: Path, status: str, episodes: int) -> None:
    """Make a finished run look as if it had been stopped on its way to ``episodes``."""
    file = folder / "run.json"
    head: dict[str, Any] = json.loads(file.read_text("utf-8"))
    head["status"] = status
    head["config"]["episodes"] = episodes
    file.write_text(json.dumps(head), "utf-8")
