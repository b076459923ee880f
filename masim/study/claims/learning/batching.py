"""The claim: batching 32 units into one update takes 60% less training time.

Fewer and larger steps are not free: so time per unit and time to a threshold are told apart, each arm with a step size
of its own. Times are processor seconds of the machine at hand.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from masim.learn.config import from_mapping
from masim.learn.trainer import LogRow, Trainer
from masim.micro.collect import MicroCollector
from masim.micro.oracle import Oracle
from masim.micro.tabular import TabularPolicy
from masim.scenario.nodes import Node
from masim.study.claims.base import Cell, Endpoint, Measure
from masim.study.claims.learning.settings import check_tuned, positive
from masim.study.claims.learning.training import model_of
from masim.study.claims.learning.tuning import best_trial
from masim.study.claims.protocol import ProtocolDoc

ENDPOINTS = (
    Endpoint("update share", "value", "share of the time of an update that goes into optimizer steps"),
    Endpoint("log2 ms per unit", "value", "processor time of everything per unit, in milliseconds, as a power of two"),
    Endpoint("log2 s to threshold", "value", "processor seconds to the threshold (or all), as a power of two"),
    Endpoint("reached", "time", "episodes until the exact success is the threshold's share of the optimum"),
    Endpoint("success", "value", "exact probability of success at the end"),
)
SETTINGS = ("learner", "grid")


@dataclass(frozen=True, slots=True)
class Budget:
    """How much is played. Raises ConfigError on impossible values."""

    episodes: int = 4800
    n_rollouts: int = 8
    buffer_units: int = 64
    threshold: float = 0.9
    tuning_seed: int = 9000

    def __post_init__(self) -> None:
        positive(self, "episodes", "n_rollouts", "buffer_units")

    def learner(self) -> dict[str, Any]:
        """Return the options that all arms share."""
        return {"optimizer": "sgd", "n_rollouts": self.n_rollouts, "buffer_units": self.buffer_units}


class BatchingClaim:
    """See :class:`masim.study.claims.base.Claim`."""

    endpoints = ENDPOINTS

    def check(self, doc: ProtocolDoc, node: Node) -> None:
        """Raise ScenarioError for a budget, an arm, an endpoint or a world that is not possible."""
        check_tuned(Budget, doc, node, ENDPOINTS, SETTINGS)

    def play(self, cell: Cell) -> dict[str, Any]:
        """Tune and train one arm, with the clock running."""
        arm, budget = dict(cell.settings), Budget(**cell.budget)
        trial = best_trial(_score, cell.scenario, arm, asdict(budget))
        return {**_timed(cell.scenario, {**arm.get("learner", {}), **trial}, budget, cell.seed), "trial": trial}

    def measures(self, cell: Cell, played: Mapping[str, Any]) -> list[Measure]:
        """Return what is read off one training."""
        head = (cell.arm, cell.world, cell.seed)
        return [
            Measure("update share", *head, played["update_share"]),
            Measure("log2 ms per unit", *head, math.log2(played["ms_per_unit"])),
            Measure("log2 s to threshold", *head, math.log2(played["to_threshold_s"])),
            Measure("reached", *head, played["episodes"], played["reached"]),
            Measure("success", *head, played["success"]),
        ]

    def extras(self, cells: Sequence[tuple[Cell, Mapping[str, Any]]]) -> dict[str, Any]:
        """Return times by arm and seed, and which trial was chosen."""
        times = [
            {"arm": c.arm, "seed": c.seed, "ms_per_unit": p["ms_per_unit"], "to_threshold_s": p["to_threshold_s"]}
            for c, p in cells
        ]
        return {"times": times, "trials": {cell.arm: played["trial"] for cell, played in cells}}

    def draw(self, results: Mapping[str, Any], extras: Mapping[str, Any], folder: Path) -> list[Path]:
        """Draw both times over the units per step."""
        from masim.study.claims.learning.time_figures import draw_times

        return draw_times(results, extras, folder)


BATCHING = BatchingClaim()


def _score(world: str, learner: Mapping[str, Any], budget: Mapping[str, Any]) -> tuple[bool, int, float]:
    """Return how soon the threshold was reached with the tuning seed, or how close the training came to it."""
    limits = Budget(**budget)
    one = _timed(world, learner, limits, limits.tuning_seed)
    return one["reached"], -one["episodes"], one["success"]


def _timed(world: str, learner: Mapping[str, Any], budget: Budget, seed: int) -> dict[str, Any]:
    """Train for the budget, and say what it took."""
    import torch

    torch.set_num_threads(1)
    model = model_of(world)
    policy = TabularPolicy(model.game)
    config = from_mapping({**budget.learner(), **learner, "seed": seed})
    rows: list[LogRow] = []
    trainer = Trainer(MicroCollector(model, policy, config.n_rollouts, seed), policy, config, rows.append)
    spent, reached, success = 0.0, None, 0.0
    while trainer.totals["episodes"] < budget.episodes:
        began = time.process_time()
        trainer.step()
        spent += time.process_time() - began
        success = Oracle(model.game, policy).success()
        if reached is None and success >= budget.threshold * model.game.p_star:
            reached = (trainer.totals["episodes"], spent)
    at, to_threshold_s = reached or (trainer.totals["episodes"], spent)
    update = sum(float(row["update_wall_s"] or 0.0) for row in rows)
    rest = sum(float(row["collect_wall_s"] or 0.0) + float(row["advantages_wall_s"] or 0.0) for row in rows)
    return {
        "update_share": update / (update + rest),
        "ms_per_unit": 1000.0 * spent / sum(int(row["units"] or 0) for row in rows),
        "to_threshold_s": to_threshold_s,
        "episodes": at,
        "reached": reached is not None,
        "success": success,
    }
