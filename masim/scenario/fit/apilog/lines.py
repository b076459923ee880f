"""From bytes on disk to records with their lines: CSV or JSON lines, read as a stream whatever the size.

The file is read twice: once as bytes (its hash, its encoding, whether it is text at all), once as records. No more
than one record is in memory at a time.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from masim.errors import DataError
from masim.scenario.fit.reading import CONTROL, DELIMITERS, MAGIC, SAVE_AS

CHUNK = 1 << 20
_ONE_PER_LINE = "write one object per line, for example with `jq -c '.[]'`"


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log as it is: form ``CSV`` or ``JSON lines``, encoding, hash, and the names in its header or first object.

    ``header_line`` is the line of these names; ``delimiter`` is empty for JSON lines.
    """

    path: Path
    form: str
    encoding: str
    codec: str
    sha256: str
    delimiter: str
    names: tuple[str, ...]
    header_line: int

    def at(self, line: int) -> str:
        """Return ``file:line``."""
        return f"{self.path}:{line}"


def open_log(path: Path) -> LogFile:
    """Look at a file. Raises DataError when it is missing, empty or no text, or its first line says nothing."""
    sha256, first_bad = _look_at_bytes(path)
    encoding, codec = ("UTF-8", "utf-8-sig") if first_bad is None else ("Windows-1252", "cp1252")
    line, text = _first_line(path, codec)
    if text.lstrip().startswith("["):
        problem = "this is one JSON array, not one object per line"
        raise DataError(problem, f"{path}:{line}", repr(text[:40]), "CSV or JSON lines", _ONE_PER_LINE)
    if not text.lstrip().startswith("{"):
        delimiter = max(DELIMITERS, key=lambda mark: len(_split(text, mark)))
        names = tuple(name.strip() for name in _split(text, delimiter))
        return LogFile(path, "CSV", encoding, codec, sha256, delimiter, names, line)
    if first_bad is not None:
        where, found = f"{path}:{first_bad[0]}", f"the byte 0x{first_bad[1]:02x}"
        raise DataError("JSON lines that are not UTF-8", where, found, "UTF-8", "write the log in UTF-8")
    names = tuple(_object(text, path, line))
    return LogFile(path, "JSON lines", encoding, codec, sha256, "", names, line)


def read_records(log: LogFile, indices: Sequence[int]) -> Iterator[tuple[int, list[str] | None]]:
    """Yield the line and the wanted cells, trimmed, of each record; ``None`` for one with a wrong number of columns.

    ``indices`` count in ``log.names``. Blank lines are passed over. Raises DataError at a line that is no JSON
    object or cannot be split into cells.
    """
    yield from _csv_records(log, indices) if log.form == "CSV" else _json_records(log, indices)


def _look_at_bytes(path: Path) -> tuple[str, tuple[int, int] | None]:
    """Return the hash, and line and value of the first byte that is not UTF-8 (``None``: all of it is)."""
    if path.is_dir():
        raise DataError("this is a folder, not a file", str(path), "", "", "name the file inside it")
    decoder = codecs.getincrementaldecoder("utf-8")()
    digest, lines, blank, first_bad = hashlib.sha256(), 1, True, None
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                if blank and lines == 1:
                    _refuse_magic(chunk, path)
                if (control := CONTROL.search(chunk)) is not None:
                    _refuse_control(path, lines + chunk.count(b"\n", 0, control.start()), control[0][0])
                if first_bad is None:
                    first_bad = _bad_byte(decoder, chunk, lines)
                blank = blank and not chunk.removeprefix(codecs.BOM_UTF8).strip()
                digest.update(chunk)
                lines += chunk.count(b"\n")
    except FileNotFoundError as error:
        raise DataError("no such file", str(path), "", "", "check the path") from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", str(path), "", "", "check the permissions") from error
    if blank:
        raise DataError("the file is empty", f"{path}:1", "", "a header and rows, or JSON lines", "export it again")
    return digest.hexdigest(), first_bad


def _refuse_magic(chunk: bytes, path: Path) -> None:
    for magic, name in MAGIC.items():
        if chunk.startswith(magic):
            raise DataError("not text", f"{path}:1", name, "CSV or JSON lines", SAVE_AS)


def _refuse_control(path: Path, line: int, byte: int) -> None:
    found = f"the byte 0x{byte:02x}"
    raise DataError("not plain text (binary, UTF-16 or damaged)", f"{path}:{line}", found, "text", SAVE_AS)


def _bad_byte(decoder: codecs.IncrementalDecoder, chunk: bytes, lines: int) -> tuple[int, int] | None:
    """Return line and value of the first byte of a chunk that is not UTF-8."""
    try:
        decoder.decode(chunk)
    except UnicodeDecodeError as error:
        data = bytes(error.object)
        return lines + data.count(b"\n", 0, error.start), data[error.start]
    return None


def _first_line(path: Path, codec: str) -> tuple[int, str]:
    """Return the first line that is not blank, with its number."""
    with path.open(encoding=codec, errors="replace", newline="") as file:
        return next((i, line.rstrip("\r\n")) for i, line in enumerate(file, 1) if line.strip())


def _split(text: str, delimiter: str) -> list[str]:
    return next(csv.reader([text], delimiter=delimiter))


def _object(text: str, path: Path, line: int) -> dict[str, object]:
    """Parse one line. Raises DataError unless it is a JSON object."""
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        fix = "end or repair this line; the file may have been cut off"
        raise DataError(f"not JSON: {error}", f"{path}:{line}", repr(text[:40]), "one object per line", fix) from error
    if not isinstance(value, dict):
        raise DataError("not a JSON object", f"{path}:{line}", repr(text[:40]), "one object per line", _ONE_PER_LINE)
    return value


def _json_records(log: LogFile, indices: Sequence[int]) -> Iterator[tuple[int, list[str] | None]]:
    names = [log.names[i] for i in indices]
    with log.path.open(encoding=log.codec) as file:
        for line, text in enumerate(file, 1):
            if text.strip():
                record = _object(text, log.path, line)
                yield line, [_cell(record.get(name)) for name in names]


def _cell(value: object) -> str:
    """Return a JSON value as the text that a CSV cell would hold."""
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value)


def _csv_records(log: LogFile, indices: Sequence[int]) -> Iterator[tuple[int, list[str] | None]]:
    width = len(log.names)
    # a few bytes of Windows-1252 are undefined; they can only be in texts, and a replacement keeps the row
    with log.path.open(encoding=log.codec, errors="replace", newline="") as file:
        reader = csv.reader(file, delimiter=log.delimiter, strict=True)
        start = 1
        try:
            for cells in reader:
                line, start = start, reader.line_num + 1
                if line > log.header_line and any(cells):
                    yield line, [cells[i].strip() for i in indices] if len(cells) == width else None
        except csv.Error as error:
            fix = "look for a quote that is not closed in this line"
            raise DataError(f"cannot be split into cells: {error}", log.at(start), "", "", fix) from error
