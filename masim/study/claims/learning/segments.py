"""The claim: credit segments of eight decisions are best, and twelve are worse.

Bookings are all alike and each is told ``delay`` decisions later. The law that is tried says how clearly one update
points the right way: with D decisions from act to outcome, m success per booking and g decisions a segment,

    SNR^2 ~ max(0, 1 - D/g)^2 m^(g - 2) / (1 - m^g)

since an act is paid by its own segment only if it is told in time, all others must then have gone well, too, and the
noise is that of a coin with chance m^g. Measured is the gradient of the one logit at the blind policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from masim.arrays import F64
from masim.errors import ScenarioError
from masim.learn.advantages.assemble import advantages
from masim.learn.buffer import join
from masim.learn.config import LearnerConfig, from_mapping
from masim.learn.trainer import Trainer
from masim.micro.collect import MicroCollector
from masim.micro.games.hidden_flaky import HiddenFlaky
from masim.micro.registry import read_game
from masim.micro.tabular import TabularPolicy
from masim.policy.nodes import entries, typed
from masim.scenario.nodes import Node
from masim.scenario.validate import shown
from masim.study.claims.base import Cell, Endpoint, Measure
from masim.study.claims.learning.paid import SegmentPaid
from masim.study.claims.learning.settings import check_budget, check_endpoints, check_worlds, positive
from masim.study.claims.learning.training import model_of
from masim.study.claims.protocol import ProtocolDoc

ENDPOINTS = (
    Endpoint("snr", "value", "mean over standard deviation of one comparison group's gradient, blind policy"),
    Endpoint("law", "value", "square root of what the law says, up to a factor"),
    Endpoint("reliable", "value", "chance of the reliable vendor, mean over the training's updates"),
)


@dataclass(frozen=True, slots=True)
class Budget:
    """How much is played. Raises ConfigError on impossible values."""

    groups: int = 400
    """Comparison groups that a signal-to-noise ratio is read off."""
    n_rollouts: int = 8
    updates: int = 60
    update_groups: int = 4
    lr: float = 1.0

    def __post_init__(self) -> None:
        positive(self, "groups", "n_rollouts", "updates", "update_groups")


class SegmentsClaim:
    """See :class:`masim.study.claims.base.Claim`."""

    endpoints = ENDPOINTS

    def check(self, doc: ProtocolDoc, node: Node) -> None:
        """Raise ScenarioError for a budget, an arm, an endpoint or a world that is not possible."""
        check_budget(Budget, node)
        check_worlds(doc, node)
        check_endpoints(node, ENDPOINTS)
        for name, world in doc.worlds.items():
            game = read_game(world)
            if not (isinstance(game, HiddenFlaky) and game.alike):
                where = node.find("worlds", name).where
                raise ScenarioError(
                    "this claim needs bookings that are all alike", where, world, "hidden-flaky?alike=true"
                )
        for name in doc.arms:
            _check_arm(node.find("arms", name).find("settings"))

    def play(self, cell: Cell) -> dict[str, Any]:
        """Measure one length at one delay, and train with it."""
        budget, length = Budget(**cell.budget), cell.settings["length"]
        gradients = _gradients(cell, budget)
        spread = float(gradients.std(ddof=1))
        return {
            "snr": float(gradients.mean()) / spread if spread > 0.0 else 0.0,
            "law": law(_game(cell), length),
            "reliable": [round(value, 6) for value in _training(cell, budget)],
        }

    def measures(self, cell: Cell, played: Mapping[str, Any]) -> list[Measure]:
        """Return what is read off one cell."""
        head = (cell.arm, cell.world, cell.seed)
        values = {"snr": played["snr"], "law": played["law"], "reliable": float(np.mean(played["reliable"]))}
        return [Measure(name, *head, value) for name, value in values.items()]

    def extras(self, cells: Sequence[tuple[Cell, Mapping[str, Any]]]) -> dict[str, Any]:
        """Return by delay and length the mean ratio, the law, and the mean reliability while learning."""
        groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for cell, played in cells:
            groups.setdefault((cell.world, cell.arm), []).append(played)
        lengths = {cell.arm: cell.settings["length"] for cell, _ in cells}
        plain = {cell.arm for cell, _ in cells if not cell.settings.get("penalty")}
        rows = [
            {
                "world": world, "arm": arm, "length": lengths[arm], "law": runs[0]["law"],
                "snr": [round(run["snr"], 6) for run in runs],
                "reliable": [round(float(np.mean(run["reliable"])), 6) for run in runs],
            }
            for (world, arm), runs in groups.items() if arm in plain
        ]  # fmt: skip
        return {"lengths": rows}

    def draw(self, results: Mapping[str, Any], extras: Mapping[str, Any], folder: Path) -> list[Path]:
        """Draw measurement and law over the length, one panel per delay."""
        from masim.study.claims.learning.length_figures import draw_lengths

        return draw_lengths(results, extras, folder)


SEGMENTS = SegmentsClaim()


def law(game: HiddenFlaky, length: int) -> float:
    """Return the square root of the law for the blind policy, up to a factor."""
    m = 1.0 - (game.fails + game.flaky) / 2.0
    told = max(0.0, 1.0 - game.delay / length)
    return float(np.sqrt(told**2 * m ** (length - 2) / (1.0 - m**length)))


def _check_arm(node: Node) -> None:
    given = entries(node, ("length", "penalty", "seeds"), "settings", "setting")
    if "length" not in given or typed(given["length"], "length", int) < 1:
        raise ScenarioError("an arm is a segment length", node.where, shown(node), "length: 1 or more")
    if "penalty" in given and typed(given["penalty"], "penalty", float) < 0.0:
        raise ScenarioError("a penalty is taken off", given["penalty"].where, shown(given["penalty"]), ">= 0")


def _game(cell: Cell) -> HiddenFlaky:
    game = model_of(cell.scenario).game
    if not isinstance(game, HiddenFlaky):
        raise TypeError(type(game))
    return game


def _parts(cell: Cell, budget: Budget, norm: str) -> tuple[TabularPolicy, SegmentPaid, LearnerConfig]:
    game, length = _game(cell), int(cell.settings["length"])
    policy = TabularPolicy(game)
    inner = MicroCollector(model_of(cell.scenario), policy, budget.n_rollouts, cell.seed, "landing")
    units = budget.update_groups * budget.n_rollouts * -(-game.bookings // length)
    options = {
        "seed": cell.seed, "optimizer": "sgd", "lr": budget.lr, "n_rollouts": budget.n_rollouts, "w_pen": 0.0,
        "buffer_units": units, "units_per_step": units, "estimator": {"name": "grpo", "norm": norm},
        "unit": {"name": "segment", "segment_len": length, "returns": "own"},
    }  # fmt: skip
    return policy, SegmentPaid(inner, game, length, cell.settings.get("penalty", 0.0)), from_mapping(options)


def _gradients(cell: Cell, budget: Budget) -> F64:
    """Return (groups,) the gradient of the reliable vendor's logit, one per comparison group, at the blind policy."""
    _, collect, config = _parts(cell, budget, "none")
    table = join([collect(draw, 0) for draw in range(budget.groups)]).table
    scored = advantages(table, config, 0)
    direction = np.where(table.action_id == collect.game.reliable(0), 0.5, -0.5)
    return np.asarray(np.bincount(table.group_id, scored.total_N * direction, budget.groups), np.float64)


def _training(cell: Cell, budget: Budget) -> list[float]:
    """Return the chance of the reliable vendor after every update."""
    import torch

    torch.set_num_threads(1)
    policy, collect, config = _parts(cell, budget, "std")
    found: list[float] = []
    view = collect.game.views()[0]
    trainer = Trainer(collect, policy, config, lambda row: None)
    for _ in range(budget.updates):
        trainer.step()
        found.append(float(policy.probabilities(view, 2)[collect.game.reliable(0)]))
    return found
