"""``masim micro``: small worlds with known answers; check what they say, and try a learner on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from masim.cli.common import Json, Quiet, Seed, emit, overrides, table
from masim.cli.progress import shown
from masim.errors import EXIT_OK

if TYPE_CHECKING:
    from masim.micro.game import Game


def verb(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Which one; without a name they are listed.")] = "",
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="OPTION=VALUE", help="Change an option; repeatable.")
    ] = None,
    episodes: Annotated[int, typer.Option("--episodes", "-n", min=1, help="Held-out episodes to play.")] = 1000,
    train: Annotated[
        str, typer.Option("--train", metavar="LEARNER", help="Train a table of logits: a learner's name, or its file.")
    ] = "",
    updates: Annotated[int, typer.Option("--updates", min=1, help="Updates of the training.")] = 100,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Worlds of which everything is known: closed forms beside played episodes, learners beside the optimum.

    With --train the exact success along the training is shown; options of the learner come from its file alone.
    """
    from masim.micro.registry import make_game, scalar

    if not name:
        return _listed(as_json)
    options = {key: scalar(value) for key, value in overrides(settings).items()}
    game = make_game(name.removeprefix("micro/"), options)
    if train:
        return _trained(game, train, updates, seed, as_json, quiet)
    from masim.study.micro import checked

    found = checked(game, episodes)
    made = table("policy", ">closed form", ">played", ">95%", title=f"{name}, {episodes:,} episodes")
    for row in found["policies"]:
        ends = f"[{row['low']:.4f}, {row['high']:.4f}]"
        made.add_row(row["policy"], f"{row['closed_form']:.6g}", f"{row['played']:.4f}", ends)
    emit(found, as_json, made)
    return EXIT_OK


def _listed(as_json: bool) -> int:
    from masim.micro.registry import GAMES

    rows: list[dict[str, Any]] = []
    made = table("game", "what it is", ">rounds", ">optimum", ">random")
    for name, kind in GAMES.items():
        game = kind()
        rows.append(
            {"name": name, "says": kind.title, "rounds": game.horizon, "p_star": game.p_star, "p_random": game.p_random}
        )
        made.add_row(name, kind.title, str(game.horizon), f"{game.p_star:.4f}", f"{game.p_random:.3g}")
    emit({"games": rows}, as_json, made)
    return EXIT_OK


def _trained(game: Game, learner: str, updates: int, seed: int, as_json: bool, quiet: bool) -> int:
    from masim.micro.registry import name_of
    from masim.study.micro import learned, learner_options

    with shown(as_json or quiet) as progress:
        curve = learned(game, learner_options(learner), updates, seed, lambda at, n: progress("updates", at, n))
    made = table(">update", ">episodes", ">success, exact", title=f"{name_of(game)}: optimum {game.p_star:.4f}")
    for row in curve:
        made.add_row(str(row["update"]), f"{row['episodes']:,}", f"{row['success']:.4f}")
    emit({"game": name_of(game), "p_star": game.p_star, "learner": learner, "curve": curve}, as_json, made)
    return EXIT_OK
