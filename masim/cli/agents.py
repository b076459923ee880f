"""``masim agents``: the cards that say who acts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any

import typer

from masim import assets
from masim.cli.common import Json, Quiet, check_failed, emit, table
from masim.errors import ScenarioError

TRIAL = "freight/first-steps-v0"

verb = typer.Typer(help="List agent cards, show one with every setting in its place, or check that one can play.")


@verb.command("list")
def list_cards(as_json: Json = False, quiet: Quiet = False) -> None:
    """List the cards in search order: ./agents, $MASIM_PATH, installed packs, bundled. With --quiet, ids alone."""
    from masim.policy.card import load_card

    cards = assets.list_assets("agents")
    listed = table("card", "policy", "memory", "file")
    rows = []
    for id, path in cards.items():
        row = {"id": id, "policy": "", "memory": "", "path": str(path), "error": ""}
        try:
            card = load_card(str(path))
        except ScenarioError as error:
            row["error"] = str(error)
        else:
            row |= {"policy": card.policy, "memory": card.memory.policy}
        listed.add_row(id, row["policy"] or "unreadable", row["memory"], row["error"] or row["path"])
        rows.append(row)
    emit({"agents": rows}, as_json, "\n".join(cards) if quiet else listed)


@verb.command("show")
def show_card(
    name: Annotated[str, typer.Argument(metavar="CARD", help="Id of a card, or path of a file.")],
    as_json: Json = False,
) -> None:
    """Print a card with every setting, the defaults filled in."""
    from masim.policy.card import load_card

    settings = asdict(load_card(name))
    path = assets.find_asset("agents", name)
    lines = table("setting", "value")
    for key, value in _flat(settings):
        lines.add_row(key, "" if value is None else str(value))
    emit({"path": path, **settings}, as_json, str(path), lines)


def _flat(settings: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every setting by its dotted name."""
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


@verb.command("check")
def check_card(
    name: Annotated[str, typer.Argument(metavar="CARD", help="Id of a card, or path of a file.")],
    scenario: Annotated[str, typer.Option("--scenario", help="Where it plays its day.")] = TRIAL,
    as_json: Json = False,
) -> None:
    """Read a card and let it play one day: errors name file and line."""
    from masim.policy.card import load_card
    from masim.rollout.evaluate import campaign_jobs, play_campaign
    from masim.scenario.load import load_scenario

    card, world = load_card(name), load_scenario(scenario)
    started = time.perf_counter()
    rows = [play_campaign(job) for job in campaign_jobs(world.spec, card, card.name, 1, 0)]
    wall_s = time.perf_counter() - started
    failure, decisions = rows[0].failure, rows[0].decisions
    text = f"{card.name}: {card.policy}, {decisions} decisions in a day of {world.id}, {wall_s:.2f} s"
    payload = {"name": card.name, "policy": card.policy, "decisions": decisions, "failure": failure}
    emit(payload, as_json, f"{card.name}: {failure}" if failure else f"ok: {text}")
    if failure:
        raise check_failed()
