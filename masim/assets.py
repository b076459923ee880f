"""Where data folders live: the only module that knows.

``scenarios/``, ``agents/`` and ``configs/`` sit beside ``masim/`` in a checkout and inside the package in a wheel.
Search order for a scenario or a card: explicit path, ``./<folder>``, each folder of ``$MASIM_PATH``, packs that
installed packages offer under the entry point group ``masim.assets``, and what is bundled.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from masim.errors import ScenarioError, did_you_mean

FOLDERS = ("scenarios", "agents", "configs")


def asset_root() -> Path:
    """Return the folder that holds the bundled ``scenarios/``, ``agents/`` and ``configs/``."""
    package = Path(__file__).resolve().parent
    for root in (package / "_assets", package.parent):
        if all((root / folder).is_dir() for folder in FOLDERS):
            return root
    raise FileNotFoundError(f"bundled data folders are missing beside or inside {package}")


def search_roots(folder: str) -> Iterator[Path]:
    """Yield the existing folders of this kind, in search order."""
    packs = [Path(str(entry.load())) for entry in metadata.entry_points(group="masim.assets")]
    extra = [Path(part) for part in os.environ.get("MASIM_PATH", "").split(os.pathsep) if part]
    for root in (Path.cwd(), *extra, *packs, asset_root()):
        if (root / folder).is_dir():
            yield root / folder


def list_assets(folder: str, suffix: str = ".yaml") -> dict[str, Path]:
    """Map id (path below the folder without suffix) to file; the first in search order wins.

    Folders and files that start with ``_`` and the folder ``profiles`` are parts, not assets of their own.
    """
    found: dict[str, Path] = {}
    for root in search_roots(folder):
        for path in sorted(root.rglob(f"*{suffix}")):
            relative = path.relative_to(root)
            parts = relative.parts
            if any(part.startswith("_") for part in parts) or parts[0] in ("profiles", "prompts"):
                continue
            found.setdefault(relative.as_posix()[: -len(suffix)], path)
    return found


def is_file(path: Path) -> bool:
    """Tell whether a file lies there; a name that no file can have, being too long, is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def find_asset(folder: str, name: str, suffix: str = ".yaml") -> Path:
    """Return the file of an id or an explicit path. Raises ScenarioError with the nearest name."""
    explicit = Path(name)
    if explicit.suffix == suffix or is_file(explicit):
        if is_file(explicit):
            return explicit
        raise ScenarioError("no such file", name[:200], "", "", "check the path, or `masim list` for the bundled ones")
    known = list_assets(folder, suffix)
    if name in known:
        return known[name]
    kind = folder.rstrip("s")
    hint = did_you_mean(name, known)
    raise ScenarioError(f"unknown {kind} {name[:200]!r}", "", "", ", ".join(sorted(known)), hint)
