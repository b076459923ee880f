"""``masim micro``: what a micro-scenario says of itself, what is played, and what a learner makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from masim.analysis.stats import wilson
from masim.assets import find_asset, list_assets
from masim.errors import ConfigError, did_you_mean
from masim.micro.evaluate import successes
from masim.micro.game import Game, MicroPolicy
from masim.micro.model import Model
from masim.micro.oracle import Oracle
from masim.micro.policies import Uniform
from masim.micro.registry import name_of, options_of
from masim.scenario.nodes import read_nodes

LEARNERS = "learner/"
ROWS = 12
"""Most rows of a learning curve."""


def checked(game: Game, episodes: int) -> dict[str, Any]:
    """Return closed forms beside what ``episodes`` played ones come to, for the blind and the best policy."""
    told: list[tuple[str, MicroPolicy, float]] = [("random", Uniform(), game.p_random)]
    if options_of(game).get("remembers", "belief") == "belief":
        told.append(("optimal", game.optimal_policy(), game.p_star))
    rows = []
    for name, policy, truth in told:
        found = wilson(successes(Model(game), policy, episodes), episodes)
        row = {"policy": name, "closed_form": truth, "played": found.value, "low": found.low, "high": found.high}
        rows.append(row)
    return {"game": name_of(game), "options": options_of(game), "episodes": episodes, "p_star": game.p_star,
            "p_random": game.p_random, "policies": rows}  # fmt: skip


def learner_options(name: str) -> Mapping[str, Any]:
    """Return the options of a learner: a name in ``configs/learner``, or a file. Raises ConfigError, ScenarioError."""
    if name.endswith((".yaml", ".yml")):
        if not Path(name).is_file():
            raise ConfigError("there is no such file", "--train", name)
        return _options(Path(name))
    known = [found.removeprefix(LEARNERS) for found in list_assets("configs") if found.startswith(LEARNERS)]
    if name not in known:
        raise ConfigError("unknown learner", "--train", name, ", ".join(sorted(known)), did_you_mean(name, known))
    return _options(find_asset("configs", f"{LEARNERS}{name}"))


def _options(file: Path) -> Mapping[str, Any]:
    plain = read_nodes(file).plain()
    if not isinstance(plain, dict):
        raise ConfigError("a learner is a mapping of options", str(file), repr(plain))
    return plain


def learned(
    game: Game, learner: Mapping[str, Any], updates: int, seed: int, say: Callable[[int, int], None]
) -> list[dict[str, Any]]:
    """Train a tabular policy; return its exact success along the way. ``say`` hears of every update.

    Waiting options that only freight scenarios can fill in are refused by the learner itself.
    """
    from masim.learn.config import from_mapping
    from masim.learn.trainer import Trainer
    from masim.micro.collect import MicroCollector
    from masim.micro.tabular import TabularPolicy

    config = from_mapping({**_with_horizon(learner, game), "seed": seed})
    policy, model = TabularPolicy(game), Model(game)
    trainer = Trainer(MicroCollector(model, policy, config.n_rollouts, seed), policy, config, lambda row: None)
    looks = {0, updates, *(round(updates * i / ROWS) for i in range(ROWS))}
    curve = [{"update": 0, "episodes": 0, "success": Oracle(game, policy).success()}]
    for update in range(1, updates + 1):
        trainer.step()
        say(update, updates)
        if update in looks:
            row = {"update": update, "episodes": trainer.totals["episodes"], "success": Oracle(game, policy).success()}
            curve.append(row)
    return curve


def _with_horizon(learner: Mapping[str, Any], game: Game) -> dict[str, Any]:
    """Return the options with the horizon of coverage filled in, as a training on a scenario does."""
    progpo = learner.get("progpo")
    if isinstance(progpo, Mapping) and progpo.get("coverage") == "horizon" and progpo.get("t_cap") is None:
        return {**learner, "progpo": {**progpo, "t_cap": game.horizon}}
    return dict(learner)
