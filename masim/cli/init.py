"""``masim init``: a copy of a scenario, with all its parts, to change."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Annotated

import typer

from masim import assets
from masim.cli.common import Json, Quiet, emit
from masim.errors import ConfigError

FROM = "freight/first-steps-v0"


def verb(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write; made when it is missing.")],
    scenario: Annotated[str, typer.Option("--from", metavar="SCENARIO", help="What to copy.")] = FROM,
    card: Annotated[str, typer.Option("--agent", metavar="CARD", help="The agent card to copy.")] = "scripted",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Copy a scenario, the profiles it names and an agent card into DIR. Never overwrites a file.

    Inside DIR, masim finds the copies before the bundled originals.
    """
    files = {folder / relative: source for relative, source in parts(scenario, card).items()}
    taken = [target for target in files if target.exists()]
    if taken:
        raise ConfigError("a file is in the way", str(taken[0]), "", "", "name another folder, or move the file")
    copy_all(files)
    first = next(iter(files)).relative_to(folder)
    name = first.relative_to("scenarios").with_suffix("").as_posix()
    steps = f"next:\n  cd {folder}\n  $EDITOR {first}\n  masim lint {name}\n  masim show {name}"
    listing = "\n".join(f"wrote {target}" for target in files)
    emit({"files": list(files)}, as_json, *([] if quiet else [listing, steps]))


def parts(scenario: str, card: str) -> dict[Path, Path]:
    """Map where each part goes inside the folder to where it lies now. Raises ScenarioError for unknown names,
    ConfigError for parts that lie elsewhere."""
    from masim.scenario.extend import base_names
    from masim.scenario.load import load_scenario
    from masim.scenario.resolve import list_profiles

    loaded = load_scenario(scenario)
    found = {Path("scenarios", f"{loaded.id}.yaml"): loaded.path}
    for written, file in base_names(loaded.path):
        beside = (loaded.path.parent / written).is_file()
        found[Path("scenarios", f"{loaded.id}.yaml").parent / written if beside else Path("scenarios", written)] = file
    profiles = list_profiles(loaded.path)
    for name in (loaded.doc.profiles.apis, loaded.doc.profiles.carriers):
        if name is not None and name.endswith(".yaml"):
            found[Path("scenarios", f"{loaded.id}.yaml").parent / name] = loaded.path.parent / name
        elif name is not None:
            found[Path("scenarios/profiles", f"{name}.yaml")] = profiles[name]
    acting = assets.find_asset("agents", card)
    name = acting.name if Path(card).suffix == ".yaml" else f"{card}.yaml"
    return {_inside(target, file): file for target, file in {**found, Path("agents", name): acting}.items()}


def _inside(target: Path, source: Path) -> Path:
    """Return a place in the folder without detours. Raises ConfigError for a part that would come to lie outside."""
    plain = Path(os.path.normpath(target))
    if plain.is_absolute() or plain.parts[0] == "..":
        fix = "refer to it by a path beside the scenario"
        raise ConfigError("a part of the scenario would be copied outside the folder", str(source), "", "", fix)
    return plain


def copy_all(files: dict[Path, Path]) -> None:
    """Copy every file or none. Raises ConfigError when the folder cannot be written."""
    made: list[Path] = []
    try:
        for target, source in files.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            made.append(target)
            shutil.copyfile(source, target)
    except OSError as error:
        for target in made:
            target.unlink(missing_ok=True)
        raise ConfigError(f"cannot write: {error.strerror}", str(error.filename)) from error
