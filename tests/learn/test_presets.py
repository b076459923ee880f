"""Every bundled preset trains: one update on the ladder, with the columns that its rollouts would have to fill."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from learn.ladder import Ladder, TabularPolicy

from masim.learn.config import from_mapping
from masim.learn.trainer import LogRow, Trainer
from masim.rollout.types import RolloutBatch

PRESETS = sorted((Path(__file__).parents[2] / "configs" / "learner").glob("*.yaml"))


def filled(world: Ladder):  # type: ignore[no-untyped-def]
    """Return a collect whose tables mark modes, know counterfactual returns and whose inputs have a context."""

    def collect(draw: int, version: int) -> RolloutBatch:
        batch = world(draw, version)
        table, n = batch.table, len(batch.table)
        table = replace(table, mode=1 + table.turn // 3 % 2, counterfactual=(table.rollout_id % 3 == 0).astype(float))
        context = np.stack([table.obs_key, np.ones(n)], axis=1).astype(np.float32)
        return replace(batch, table=table, inputs=replace(batch.inputs, context_NC=context))

    return collect


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_a_preset_trains(path: Path) -> None:
    options = yaml.safe_load(path.read_text("utf-8"))
    if (options.get("progpo") or {}).get("coverage") == "horizon":
        options["progpo"]["t_cap"] = 8
    policy, rows = TabularPolicy(5, 3), list[LogRow]()
    world = Ladder(policy, length=3, budget=8, fail=0.3)
    trainer = Trainer(filled(world), policy, from_mapping({"lr": 0.05, "buffer_units": 32, **options}), rows.append)
    assert trainer.run(1)
    assert bool(policy.logits.detach().isfinite().all()) and bool(policy.logits.detach().any())
    assert rows[0]["optimizer_steps"]
