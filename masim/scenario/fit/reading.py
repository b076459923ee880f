"""From bytes on disk to rows of text cells, whatever the encoding, the delimiter and the order of the columns.

The table is read whole: delivery histories have some ten thousand lines. Every refusal is a
:class:`~masim.errors.DataError` that names the file and, where there is one, the line.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from masim.errors import DataError, did_you_mean

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}
MAX_RAGGED_SHARE = 0.01
"""Lines with a wrong number of columns are dropped up to this share; above it the file is refused."""

_END = "end-of-file-mark"
SAVE_AS = "save it as CSV or tab-separated text in UTF-8"
MAGIC = {
    b"PK\x03\x04": "an Excel workbook or a ZIP archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\x1f\x8b": "gzip data",
    b"%PDF": "a PDF document",
    b"PAR1": "a Parquet file",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
}
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_C1 = re.compile(rb"[\x80-\x9f]")


@dataclass(frozen=True, slots=True)
class Table:
    """The wanted columns of a delimited file.

    ``rows`` pairs the line on which a row starts with its cells in the order of the wanted columns, trimmed.
    ``ended`` says whether the last line has a line end.
    """

    path: Path
    encoding: str
    delimiter: str
    sha256: str
    ended: bool
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    dropped: tuple[tuple[str, int], ...]


def read_table(path: Path, columns: Sequence[str]) -> Table:
    """Read the named columns. Names match by letters and digits only, in any order and case.

    Raises DataError for a missing, empty, binary, cut off or ragged file and for missing columns.
    """
    raw = _read_bytes(path)
    text, encoding = _decode(raw, path)
    delimiter, indices, width = _read_header(text, path, columns)
    rows, dropped = _read_rows(text, path, delimiter, width)
    kept = tuple((line, tuple(cells[i].strip() for i in indices)) for line, cells in rows)
    ended = text.endswith(("\n", "\r"))
    return Table(path, encoding, DELIMITERS[delimiter], hashlib.sha256(raw).hexdigest(), ended, kept, dropped)


def _read_bytes(path: Path) -> bytes:
    """Return the content of a file that is there and not blank."""
    if path.is_dir():
        raise DataError("this is a folder, not a file", str(path), "", "", "name the file inside it")
    try:
        raw = path.read_bytes()
    except FileNotFoundError as error:
        raise DataError("no such file", str(path), "", "", "check the path") from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", str(path), "", "", "check the permissions") from error
    if not raw.removeprefix(codecs.BOM_UTF8).strip():
        raise DataError("the file is empty", str(path), f"{len(raw)} bytes", "a header and rows", "export it again")
    return raw


def _decode(raw: bytes, path: Path) -> tuple[str, str]:
    """Return the text and the name of its encoding: UTF-8, else Windows-1252, else Latin-1."""
    for magic, name in MAGIC.items():
        if raw.startswith(magic):
            raise DataError("not delimited text", f"{path}:1", name, "CSV or tab-separated text", SAVE_AS)
    control = CONTROL.search(raw)
    if control is not None:
        line = raw.count(b"\n", 0, control.start()) + 1
        found = f"the byte 0x{control[0][0]:02x} at offset {control.start()}"
        raise DataError("not plain text (binary, UTF-16 or damaged)", f"{path}:{line}", found, "text", SAVE_AS)
    # Windows-1252 is Latin-1 with printable characters where Latin-1 has the control characters 0x80 to 0x9f
    western = ("cp1252", "Windows-1252") if _C1.search(raw) else ("latin-1", "Latin-1")
    for codec, name in (("utf-8-sig", "UTF-8"), western):
        try:
            return raw.decode(codec), name
        except UnicodeDecodeError:
            continue
    return raw.decode("latin-1"), "Latin-1"


def _read_header(text: str, path: Path, columns: Sequence[str]) -> tuple[str, list[int], int]:
    """Return the delimiter that finds most wanted columns, their indices, and the number of columns."""
    candidates = {mark: _first_row(text, path, mark) for mark in DELIMITERS}
    wanted = {plain_name(column) for column in columns}
    hits = {mark: len(wanted & {plain_name(n) for n in names}) for mark, (_, names) in candidates.items()}
    delimiter = max(DELIMITERS, key=lambda mark: (hits[mark], len(candidates[mark][1])))
    line, names = candidates[delimiter]
    spare = [name for name in names if plain_name(name) not in wanted]
    return delimiter, [_find_column(column, names, spare, f"{path}:{line}") for column in columns], len(names)


def _first_row(text: str, path: Path, delimiter: str) -> tuple[int, list[str]]:
    """Return the first row that is not blank, with its line."""
    line, cells = next(row for row in _rows(text, path, delimiter) if any(cell.strip() for cell in row[1]))
    return line, [cell.strip() for cell in cells]


def plain_name(name: str) -> str:
    """Reduce a column name to lower-case letters and digits."""
    return "".join(char for char in name.casefold() if char.isalnum())


def _find_column(column: str, names: Sequence[str], spare: Sequence[str], where: str) -> int:
    """Return the index of a column. Raises DataError naming the nearest spare column, or the doubled one."""
    found = [i for i, name in enumerate(names) if plain_name(name) == plain_name(column)]
    if len(found) == 1:
        return found[0]
    if found:
        raise DataError(f"the column {column!r} is there {len(found)} times", where, "", "once", "remove the others")
    shown = ", ".join(repr(name[:40]) for name in names[:40])
    near = did_you_mean(column, spare)
    fix = f"{near} rename that column to {column!r}" if near else ""
    fix = fix or f"add a header line with {column!r} (its cells may be empty), or check that this is such a file"
    raise DataError(f"the column {column!r} is missing", where, f"{len(names)} columns: {shown}", "", fix)


def _rows(text: str, path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the line on which it starts; ends with the row ``[_END]`` unless a quote stays open."""
    # newline="" keeps line ends for the csv module; str.splitlines would also split at Latin-1's 0x85
    lines = io.StringIO(text if text.endswith(("\n", "\r")) else text + "\n", newline="")
    reader = csv.reader(_with_end(lines), delimiter=delimiter)
    start = 1
    try:
        for cells in reader:
            yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        fix = "look for a quote that is not closed in this line"
        raise DataError(f"cannot be split into cells: {error}", f"{path}:{start}", "", "", fix) from error


def _with_end(lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines and then the end mark."""
    yield from lines
    yield _END


def _read_rows(
    text: str, path: Path, delimiter: str, width: int
) -> tuple[list[tuple[int, list[str]]], tuple[tuple[str, int], ...]]:
    """Return the data rows and the counts of dropped lines, after the checks that concern the whole file."""
    rows = _all_rows(text, path, delimiter)
    full = [(line, _trim(cells, width)) for line, cells in rows if any(cell.strip() for cell in cells)][1:]
    if not full:
        raise DataError("a header but no rows", str(path), "", "at least one row", "export it again")
    ragged = [row for row in full if len(row[1]) != width]
    _check_ragged(ragged, full, path, width, DELIMITERS[delimiter])
    dropped = Counter({"a line with a wrong number of columns": len(ragged), "a blank line": len(rows) - len(full) - 1})
    return [row for row in full if len(row[1]) == width], tuple((k, n) for k, n in dropped.items() if n)


def _all_rows(text: str, path: Path, delimiter: str) -> list[tuple[int, list[str]]]:
    """Return every row but the end mark. Raises DataError when a quoted cell is never closed."""
    rows = list(_rows(text, path, delimiter))
    line, cells = rows.pop()
    if cells != [_END]:
        begin = repr(cells[0][:40])
        fix = "close the quote, or export or download the file again if it was cut off"
        raise DataError("a quoted cell that begins in this row is never closed", f"{path}:{line}", begin, "", fix)
    return rows


def _trim(cells: list[str], width: int) -> list[str]:
    """Drop surplus cells that are all blank: some exports end each line with a delimiter."""
    return cells[:width] if not any(cell.strip() for cell in cells[width:]) else cells


def _check_ragged(
    ragged: Sequence[tuple[int, list[str]]],
    rows: Sequence[tuple[int, list[str]]],
    path: Path,
    width: int,
    delimiter: str,
) -> None:
    """Raise DataError when the last line is cut off or more than a few lines have a wrong number of columns."""
    if not ragged:
        return
    many = MAX_RAGGED_SHARE * len(rows)
    line, cells = rows[-1]
    if len(cells) < width and len(ragged) - 1 <= many:
        fix = "the file was cut off here: export or download it again, or delete this line"
        found = f"{len(cells)} columns, ending in {cells[-1][:40]!r}"
        raise DataError("the last line is incomplete", f"{path}:{line}", found, f"{width} columns", fix)
    line, cells = ragged[0]
    if len(ragged) > many:
        problem = f"wrong number of columns, here first of {len(ragged)} among {len(rows)} lines"
        fix = f"quote cells that contain a {delimiter}, or export the file again"
        raise DataError(problem, f"{path}:{line}", f"{len(cells)} columns", f"{width} columns", fix)
