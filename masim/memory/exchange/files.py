"""The formats by the ending of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from masim.errors import ConfigError, DataError
from masim.memory.exchange import as_graphml, as_json
from masim.memory.exchange.base import LIMIT, StoredGraph

FORMATS: dict[
    str, tuple[Callable[[Iterable[StoredGraph]], Iterator[str]], Callable[[Path, int], list[StoredGraph]]]
] = {
    ".json": (as_json.write, as_json.read),
    ".graphml": (as_graphml.write, as_graphml.read),
}


def check_format(path: Path) -> None:
    """Raise ConfigError for an ending that is no format."""
    if path.suffix.lower() not in FORMATS:
        raise ConfigError("no such format of memories", str(path), path.suffix, ", ".join(FORMATS), "")


def export(graphs: Iterable[StoredGraph], path: Path) -> None:
    """Write graphs into a file, which appears whole or not at all. Raises ConfigError, DataError."""
    check_format(path)
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(FORMATS[path.suffix.lower()][0](graphs))
        part.replace(path)
    except (OSError, ValueError) as exc:
        part.unlink(missing_ok=True)
        raise DataError("the memory cannot be written", str(path), str(exc)[:160], "", "") from exc


def load(path: Path, limit: int = LIMIT) -> list[StoredGraph]:
    """Return the graphs of a file. Raises ConfigError, and DataError for an unreadable or too large one."""
    check_format(path)
    try:
        return FORMATS[path.suffix.lower()][1](path, limit)
    except OSError as exc:
        raise DataError("the file cannot be read", str(path), exc.strerror or "", "", "") from exc
