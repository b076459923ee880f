"""The claim: over twenty decisions group policy optimization completes 91%, per-step learning 62%.

Every arm has the same number of episodes and of tuning trials, one trial per entry of its ``grid``, all with one tuning
seed that no result comes from. A trial is judged by its mean exact success along the training.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from masim.micro.evaluate import HELD_OUT, successes
from masim.micro.game import MicroPolicy
from masim.micro.oracle import Oracle
from masim.micro.policies import Uniform
from masim.scenario.nodes import Node
from masim.study.claims.base import Cell, Endpoint, Measure
from masim.study.claims.learning.settings import check_tuned, positive
from masim.study.claims.learning.training import area, model_of, train
from masim.study.claims.learning.tuning import best_trial
from masim.study.claims.protocol import ProtocolDoc

ENDPOINTS = (
    Endpoint("success", "value", "exact probability of success at the end of training"),
    Endpoint("of optimum", "value", "the same over the optimum"),
    Endpoint("played", "value", "share of successes in held-out episodes that were really played"),
    Endpoint("area", "value", "mean exact success over the points of the training"),
    Endpoint("reached", "time", "episodes until the exact success is the threshold's share of the optimum"),
    Endpoint("all failed", "value", "share of comparison groups in which nobody succeeded, over the training"),
)
SETTINGS = ("policy", "learner", "grid")


@dataclass(frozen=True, slots=True)
class Budget:
    """How much is played. Raises ConfigError on impossible values."""

    episodes: int = 4800
    n_rollouts: int = 8
    buffer_units: int = 32
    points: int = 15
    """Looks at the exact success along a training."""
    played: int = 500
    """Held-out episodes at the end."""
    threshold: float = 0.9
    tuning_seed: int = 9000

    def __post_init__(self) -> None:
        positive(self, "episodes", "n_rollouts", "buffer_units", "points", "played")

    def learner(self) -> dict[str, Any]:
        """Return the options that all arms share."""
        sizes = {"buffer_units": self.buffer_units, "units_per_step": self.buffer_units}
        return {"optimizer": "sgd", "n_rollouts": self.n_rollouts, **sizes}


class CompletionClaim:
    """See :class:`masim.study.claims.base.Claim`."""

    endpoints = ENDPOINTS

    def check(self, doc: ProtocolDoc, node: Node) -> None:
        """Raise ScenarioError for a budget, an arm, an endpoint or a world that is not possible."""
        check_tuned(Budget, doc, node, ENDPOINTS, SETTINGS)

    def play(self, cell: Cell) -> dict[str, Any]:
        """Tune, train and evaluate one arm; or look at a policy that needs no training."""
        budget, game = Budget(**cell.budget), model_of(cell.scenario).game
        if "policy" in cell.settings:
            policy: MicroPolicy = Uniform() if cell.settings["policy"] == "random" else game.optimal_policy()
            value = Oracle(game, policy).success()
            return {**self._head(cell, policy, budget), "curve": [[0, value]], "all_failed": None, "trial": None}
        trial = best_trial(_score, cell.scenario, cell.settings, asdict(budget))
        options = {**budget.learner(), **cell.settings.get("learner", {}), **trial}
        done = train(cell.scenario, options, budget.episodes, cell.seed, budget.points)
        failed = [row["all_failed"] for row in done.log]
        curve = [[episodes, round(value, 9)] for episodes, value in done.curve]
        rest = {"curve": curve, "all_failed": sum(failed) / len(failed), "trial": trial}
        return {**self._head(cell, done.policy, budget), **rest}

    def _head(self, cell: Cell, policy: MicroPolicy, budget: Budget) -> dict[str, Any]:
        model = model_of(cell.scenario)
        won = successes(model, policy, budget.played, HELD_OUT + cell.seed * budget.played)
        return {"optimum": round(model.game.p_star, 9), "played": won / budget.played}

    def measures(self, cell: Cell, played: Mapping[str, Any]) -> list[Measure]:
        """Return what is read off one training."""
        head = (cell.arm, cell.world, cell.seed)
        return [Measure(name, *head, float(v), happened) for name, v, happened in _answers(cell, played)]

    def extras(self, cells: Sequence[tuple[Cell, Mapping[str, Any]]]) -> dict[str, Any]:
        """Return the learning curve of every cell, the optimum of every world, and which trial was chosen."""
        curves = [{"world": c.world, "arm": c.arm, "seed": c.seed, "curve": p["curve"]} for c, p in cells]
        trials = {f"{cell.arm}, {cell.world}": played["trial"] for cell, played in cells if played["trial"]}
        return {"curves": curves, "optimum": {cell.world: p["optimum"] for cell, p in cells}, "trials": trials}

    def draw(self, results: Mapping[str, Any], extras: Mapping[str, Any], folder: Path) -> list[Path]:
        """Draw the learning curves."""
        from masim.study.claims.learning.figures import draw_curves

        return draw_curves(results, extras, folder)


COMPLETION = CompletionClaim()


def _score(world: str, learner: Mapping[str, Any], budget: Mapping[str, Any]) -> float:
    """Return the mean exact success along a training with the tuning seed."""
    limits = Budget(**budget)
    return area(train(world, {**limits.learner(), **learner}, limits.episodes, limits.tuning_seed, 5).curve)


def _answers(cell: Cell, played: Mapping[str, Any]) -> Iterator[tuple[str, float, bool]]:
    curve, optimum = played["curve"], played["optimum"]
    yield "success", curve[-1][1], True
    yield "of optimum", curve[-1][1] / optimum, True
    yield "played", played["played"], True
    if played["all_failed"] is None:
        return
    later = curve[1:]
    yield "area", sum(value for _, value in later) / len(later), True
    needed = Budget(**cell.budget).threshold * optimum
    reached = [episodes for episodes, value in later if value >= needed]
    yield "reached", reached[0] if reached else later[-1][0], bool(reached)
    yield "all failed", played["all_failed"], True
