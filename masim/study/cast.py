"""Who plays: agent cards by id or path, and the trained agents of a run folder by ``RUN`` or ``RUN:ARM-sSEED``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from masim.env.actions import ActionTable
from masim.errors import ConfigError, RunError, did_you_mean
from masim.policy.build import build_policy
from masim.policy.card import AgentCard, card_from_mapping, load_card
from masim.sim.spec import WorldSpec

if TYPE_CHECKING:
    from masim.analysis.load import RunMeta

TRAINING_KINDS = ("train", "demo")
_JOB = re.compile(r"(?P<arm>.+)-s(?P<seed>\d+)")


@dataclass(frozen=True, slots=True)
class Player:
    """One agent of a run. ``arm`` names it in the tables; ``train_seed`` is -1 for what was never trained."""

    arm: str
    train_seed: int
    card: AgentCard


def cast(names: Sequence[str]) -> list[Player]:
    """Return the players behind some names, each once.

    Raises ScenarioError for an unknown card, RunError for a run folder without trained agents, ConfigError when two
    different agents would share a name.
    """
    players: dict[tuple[str, int], Player] = {}
    for name in names:
        for player in _players(name):
            known = players.setdefault((player.arm, player.train_seed), player)
            if known != player:
                fix = "give one of the cards another `name:`"
                raise ConfigError("two different agents have the same name", "--agents", player.arm, "", fix)
    if not players:
        raise ConfigError(
            "nobody to play", "--agents", "", "ids of cards, paths, run folders", "see `masim agents list`"
        )
    return list(players.values())


def _players(name: str) -> list[Player]:
    folder, job = split_run(name)
    if folder is not None:
        return trained_players(folder, job)
    card = load_card(name)
    return [Player(card.name, -1, card)]


def split_run(name: str) -> tuple[Path | None, str]:
    """Return (run folder, job) of ``RUN`` or ``RUN:JOB``, or (None, "") where no run of that name exists."""
    for run, _, job in ((name, "", ""), name.rpartition(":")):
        for folder in (Path(run), Path("runs") / run):
            if run and (folder / "run.json").is_file():
                return folder, job
    return None, ""


def trained_players(folder: Path, job: str = "") -> list[Player]:
    """Return the trained agents of a run, or the one of ``job`` (``ARM-sSEED``).

    Raises RunError for a folder that is half written, of another version, no training run, or without checkpoints.
    """
    meta = training_meta(folder)
    jobs = sorted(path.name for path in (folder / "checkpoints").glob("*") if any(path.glob("update-*")))
    if not jobs:
        raise RunError("the run holds no trained agent", str(folder), "", "", "train first: `masim train`")
    if job and job not in jobs:
        raise RunError(
            "no such trained agent in this run", f"{folder}:{job}", "", ", ".join(jobs), did_you_mean(job, jobs)
        )
    card = stored_card(meta, folder)
    return [_trained(folder, card, name) for name in ([job] if job else jobs)]


def stored_card(meta: RunMeta, folder: Path) -> AgentCard:
    """Return the card that a run was made with, whatever the file of that name says today."""
    stored = meta.config.get("agent_card")
    if isinstance(stored, Mapping):
        return card_from_mapping(stored, str(folder / "run.json"))
    return load_card(str(meta.config.get("agent", "scorer")))


def training_meta(folder: Path) -> RunMeta:
    """Return what ``run.json`` says of a training run that has ended. Raises RunError otherwise."""
    from masim.analysis.load import read_meta

    meta = read_meta(folder / "run.json")
    if meta.kind not in TRAINING_KINDS:
        raise RunError("not a training run", str(folder), meta.kind, ", ".join(TRAINING_KINDS))
    if meta.status == "running":
        fix = f"wait until it has finished; if it was killed: masim train --resume {folder}"
        raise RunError("the run is half written", str(folder), "status 'running'", "", fix)
    return meta


def _trained(folder: Path, card: AgentCard, job: str) -> Player:
    from masim.learn.checkpoint import latest

    match = _JOB.fullmatch(job)
    if match is None:
        raise RunError("not a folder of a training job", str(folder / "checkpoints" / job), job, "ARM-sSEED")
    weights = latest(folder / "checkpoints" / job)
    return Player(match["arm"], int(match["seed"]), replace(card, name=match["arm"], weights=weights))


def check_fit(players: Iterable[Player], spec: WorldSpec) -> None:
    """Raise RunError when a trained agent's weights do not fit a scenario."""
    for player in players:
        if player.card.weights is not None:
            build_policy(player.card, ActionTable(spec))


def described(players: Iterable[Player]) -> list[dict[str, Any]]:
    """Return who plays as plain values for ``run.json``."""
    return [
        {
            "arm": p.arm,
            "train_seed": p.train_seed,
            "policy": p.card.policy,
            "weights": str(p.card.weights or ""),
            "client": asdict(p.card.client),
        }
        for p in players
    ]
