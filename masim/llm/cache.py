"""A folder of files that were made once and are checked whenever they are used.

Made beside its place and moved there whole, under a lock: processes that want it at the same time make it once, and
one that is killed leaves nothing that looks finished.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from masim.errors import ConfigError

DIGESTS = "digests.json"
LOCK_S = 600.0
"""How long to wait for another process that makes the same folder."""


def cache_root() -> Path:
    """Return where masim keeps what it can make again: ``$MASIM_CACHE``, or the user's cache folder."""
    own = os.environ.get("MASIM_CACHE")
    return Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "masim"


def made_once(folder: Path, make: Callable[[Path], None]) -> Path:
    """Return a folder, made by ``make`` if it is not there. Raises ConfigError for one that was changed since."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f"{folder.name}.lock"), timeout=LOCK_S):
            if not folder.is_dir():
                _make(folder, make)
    except OSError as error:
        fix = "set MASIM_CACHE to a folder that can be written"
        raise ConfigError("the cache cannot be used", str(folder), str(error), "", fix) from error
    check(folder)
    return folder


def check(folder: Path) -> None:
    """Raise ConfigError for a folder whose files are not those that were made."""
    fix = f"delete {folder}, it is made again"
    try:
        digests = json.loads((folder / DIGESTS).read_text("utf-8"))
        found = {name: sha256(folder / name) for name in digests}
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError("the cache is damaged", str(folder), str(error), "", fix) from error
    wrong = [name for name, digest in digests.items() if found[name] != digest]
    if wrong:
        raise ConfigError("the cache is damaged", str(folder / wrong[0]), "another digest", "", fix)


def sha256(file: Path) -> str:
    """Return the digest of a file's bytes."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _make(folder: Path, make: Callable[[Path], None]) -> None:
    beside = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        make(beside)
        digests = {file.name: sha256(file) for file in sorted(beside.iterdir())}
        (beside / DIGESTS).write_text(json.dumps(digests, indent=1), "utf-8")
        beside.replace(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
