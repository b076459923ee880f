"""The rows of a log as columns of numbers: some 40 bytes per call, so that millions of calls fit into memory."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import numpy as np

from masim.arrays import F64, I64, U64, Bool
from masim.errors import DataError
from masim.scenario.fit.apilog.cells import TIMEOUT, parse_code, parse_flag, parse_latency
from masim.scenario.fit.apilog.columns import UNITS_S, Columns, find_columns
from masim.scenario.fit.apilog.dropped import Dropped, shown
from masim.scenario.fit.apilog.lines import LogFile, open_log, read_records
from masim.scenario.fit.apilog.moments import FORMS, parse_moment
from masim.scenario.fit.apilog.verbs import endpoint_key, guess_verb, parse_map
from masim.sim.spec import Verb

MIN_CALLS = 20
"""A log with fewer usable calls is refused: nothing can be fitted to it."""


@dataclass(frozen=True, slots=True)
class LogOptions:
    """What the user says about a log: names of columns, the unit of latencies, endpoints, the client's deadline."""

    columns: Mapping[str, str] = field(default_factory=dict)
    unit: str | None = None
    verbs: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float | None = None
    vendor: str | None = None


@dataclass(frozen=True, slots=True)
class Calls:
    """The usable calls in order of time, one element each.

    ``route`` indexes ``routes`` (vendor, endpoint); ``code`` is 0 for a timeout; ``latency_s`` may be NaN.
    ``request`` is a hash of the request id (0: none); ``told`` says whether a Retry-After came with the answer.
    """

    log: LogFile
    t_s: F64
    latency_s: F64
    code: I64
    route: I64
    request: U64
    told: Bool
    routes: tuple[tuple[str, Verb], ...]
    n_rows: int
    assumed: tuple[str, ...]
    dropped: tuple[tuple[str, int], ...]

    @property
    def vendors(self) -> tuple[str, ...]:
        """Vendors in order of their names."""
        return tuple(sorted({vendor for vendor, _ in self.routes}))

    def of(self, *, vendor: str | None = None, verbs: Sequence[Verb] | None = None) -> Bool:
        """Return which calls went to this vendor and to one of these endpoints."""
        fits = [vendor in (None, v) and (verbs is None or verb in verbs) for v, verb in self.routes]
        return np.asarray(np.array(fits, bool)[self.route], bool)


class _Reader:
    """Turns records into columns; one per file."""

    def __init__(self, log: LogFile, columns: Columns, options: LogOptions) -> None:
        self.log, self.options = log, options
        self.roles = {role: i for i, role in enumerate(columns.index)}
        self.map = parse_map(options.verbs)
        self.unit_s = UNITS_S[options.unit] if options.unit else columns.latency_unit_s
        self.header_unit_s = columns.latency_unit_s
        self.own_units: set[str] = set()
        self.dropped = Dropped()
        self.rows = 0
        self.t_s, self.latency_s = array("d"), array("d")
        self.code, self.route, self.request, self.told = array("h"), array("i"), array("Q"), array("b")
        self.seen: set[bytes] = set()
        self.routes: dict[tuple[str, Verb], int] = {}
        self.first_line: list[int] = []
        self.keys: dict[tuple[str, str, str], int | str] = {}
        self.guessed: dict[str, Verb] = {}
        self.codes: dict[str, int | None] = {}
        self.used_maps: set[str] = set()

    def cell(self, cells: Sequence[str], role: str) -> str:
        """Return a cell, empty where the log has no such column."""
        i = self.roles.get(role)
        return "" if i is None else cells[i]

    def take(self, line: int, cells: Sequence[str] | None) -> None:
        """Take a record over, or note why not."""
        self.rows += 1
        if cells is None:
            self.dropped.add(line, f"not {len(self.log.names)} columns, as the header has")
            return
        reason = self._take(line, cells)
        if reason:
            self.dropped.add(line, reason)

    def _take(self, line: int, cells: Sequence[str]) -> str:
        route = self._route(line, cells)
        if isinstance(route, str):
            return route
        t_s = parse_moment(self.cell(cells, "time"))
        if t_s is None:
            return f"time: {shown(self.cell(cells, 'time'))} is no date"
        code = self._code(cells)
        if isinstance(code, str):
            return code
        latency_s = self._latency(line, self.cell(cells, "latency"), code)
        if isinstance(latency_s, str):
            return latency_s
        if self._repeated(cells):
            return "the same request id, attempt and time as a row above"
        self.t_s.append(t_s)
        self.latency_s.append(latency_s)
        self.code.append(code)
        self.route.append(route)
        self.request.append(_hash(self.cell(cells, "request_id")))
        self.told.append(self.cell(cells, "retry_after") not in ("", "0"))
        return ""

    def _repeated(self, cells: Sequence[str]) -> bool:
        """Return whether a row was there before: exports that overlap hold some calls twice."""
        request = self.cell(cells, "request_id")
        if not request:
            return False
        parts = (request, self.cell(cells, "attempt"), self.cell(cells, "time"), self.cell(cells, "endpoint"))
        mark = blake2b("\x1f".join(parts).encode(), digest_size=8).digest()
        if mark in self.seen:
            return True
        self.seen.add(mark)
        return False

    def _route(self, line: int, cells: Sequence[str]) -> int | str:
        """Return the index of vendor and endpoint, or why there is none."""
        raw = (self.cell(cells, "vendor"), self.cell(cells, "endpoint"), self.cell(cells, "method"))
        known = self.keys.get(raw)
        if known is None:
            known = self._new_route(line, *raw)
            if len(self.keys) < 100_000:  # paths with ids in them could be as many as the calls
                self.keys[raw] = known
        return known

    def _new_route(self, line: int, vendor: str, endpoint: str, method: str) -> int | str:
        if not vendor or not endpoint:
            return f"{'endpoint' if vendor else 'vendor'}: blank"
        if self.options.vendor is not None and vendor.casefold() != self.options.vendor.casefold():
            return "another vendor than --vendor"
        key = endpoint_key(endpoint, method)
        said = next((name for name in (key, endpoint) if name in self.map), None)
        verb = guess_verb(key) if said is None else self.map[said]
        if said is not None:
            self.used_maps.add(said)
        if verb is None:
            fix = "left out by --map" if said is not None else f"unknown; --map '{key}=quote' (or another, or '-')"
            return f"endpoint {key!r}: {fix}"
        if said is None:
            self.guessed[key] = verb
        route = self.routes.setdefault((vendor, verb), len(self.routes))
        if route == len(self.first_line):
            self.first_line.append(line)
        return route

    def _code(self, cells: Sequence[str]) -> int | str:
        text, flag = self.cell(cells, "status"), self.cell(cells, "timeout")
        timed_out = parse_flag(flag)
        if timed_out is None:
            return f"timeout: {shown(flag)} is no flag"
        if timed_out:
            return TIMEOUT
        if text not in self.codes and len(self.codes) < 10_000:
            self.codes[text] = parse_code(text)
        code = self.codes.get(text)
        return code if code is not None else f"status: {shown(text)} is no status code"

    def _latency(self, line: int, text: str, code: int) -> float | str:
        """Return seconds, NaN for a blank one, or why the row is dropped. Raises DataError for mixed units."""
        if not text:
            return float("nan")
        found = parse_latency(text)
        if found is None:
            return f"latency: {shown(text)} is no number"
        value, unit = found
        if value < 0.0:
            return "latency: negative"
        scale = self.unit_s if not unit else UNITS_S[unit]
        if unit:
            self._check_unit(line, text, unit)
        elif scale is None or self.own_units:
            self._no_unit(line, text)
        return value * (scale or 1.0)

    def _check_unit(self, line: int, text: str, unit: str) -> None:
        if self.unit_s is not None and UNITS_S[unit] != self.unit_s:
            said = "--unit" if self.options.unit else "the header"
            fix = "write all latencies in one unit, without a unit in the cells"
            raise DataError(f"mixed units: {said} says another unit", self.log.at(line), repr(text), "", fix)
        if self.unit_s is None:
            self.own_units.add(unit)

    def _no_unit(self, line: int, text: str) -> None:
        problem = "mixed units: cells above have a unit" if self.own_units else "the unit of the latencies is not known"
        raise DataError(problem, self.log.at(line), repr(text), "s, ms", "say it with --unit s or --unit ms")


def _hash(request: str) -> int:
    return int.from_bytes(blake2b(request.encode(), digest_size=8).digest(), "big") if request else 0


def read_calls(path: Path, options: LogOptions) -> Calls:
    """Read a log. Raises DataError when it cannot be read as one, ConfigError for impossible options."""
    log = open_log(path)
    columns = find_columns(log, options.columns)
    reader = _Reader(log, columns, options)
    for line, cells in read_records(log, list(columns.index.values())):
        reader.take(line, cells)
    _check_enough(reader)
    calls = _columns(reader, columns)
    _check_units(reader, calls)
    return calls


def _check_enough(reader: _Reader) -> None:
    """Raise DataError when too few rows are left."""
    log, left = reader.log, len(reader.t_s)
    if left >= MIN_CALLS:
        return
    if not reader.rows:
        raise DataError("a header but no rows", log.at(log.header_line), "", f"{MIN_CALLS} calls or more", "log more")
    line, reason = reader.dropped.first or (log.header_line, "")
    found = f"{left} of {reader.rows:,} rows" + (f"; the first one dropped: {reason}" if reason else "")
    fix = f"mend or map what was dropped; time may be {FORMS}" if reason else "log more calls"
    raise DataError("too few usable calls", log.at(line), found, f"{MIN_CALLS} or more", fix)


def _columns(reader: _Reader, columns: Columns) -> Calls:
    t_s = np.frombuffer(reader.t_s, np.float64)
    order = np.argsort(t_s, kind="stable")
    notes = list(columns.assumed)
    if bool((np.diff(t_s) < 0).any()):
        notes.append("rows are not in order of time; they were sorted")
    if log_codec := (reader.log.encoding if reader.log.encoding != "UTF-8" else ""):
        notes.append(f"the file is not UTF-8; it was read as {log_codec}")
    if reader.own_units:
        notes.append(f"each latency has its own unit ({', '.join(sorted(reader.own_units))})")
    notes += [
        f"{key!r} is {verb.value} (guessed; --map '{key}=..')" for key, verb in reader.guessed.items() if key != verb
    ]
    notes += [f"--map {key!r}: no call of it in the log" for key in reader.map if key not in reader.used_maps]
    return Calls(
        reader.log,
        t_s[order],
        np.frombuffer(reader.latency_s, np.float64)[order],
        np.frombuffer(reader.code, np.int16)[order].astype(np.int64),
        np.frombuffer(reader.route, np.int32)[order].astype(np.int64),
        np.frombuffer(reader.request, np.uint64)[order],
        np.frombuffer(reader.told, np.int8)[order] != 0,
        tuple(reader.routes),
        reader.rows,
        tuple(notes),
        reader.dropped.counted(),
    )


FACTOR = 300.0
"""Between the medians of one endpoint at two vendors: seconds and milliseconds differ by a thousand."""


def _check_units(reader: _Reader, calls: Calls) -> None:
    """Raise DataError when one endpoint takes 300 times as long at another vendor, unless --unit was given."""
    if reader.options.unit is not None:
        return
    medians: dict[Verb, list[tuple[float, int]]] = {}
    for i, (_, verb) in enumerate(calls.routes):
        answered = (calls.route == i) & (calls.code >= 200) & (calls.code < 300) & (calls.latency_s > 0.0)
        if int(answered.sum()) >= 5:
            medians.setdefault(verb, []).append((float(np.median(calls.latency_s[answered])), i))
    for verb, found in medians.items():
        (low, _), (high, i) = min(found), max(found)
        if high > FACTOR * low:
            found_text = f"{verb.value}: {high:g} s at {calls.routes[i][0]!r}, {low:g} s elsewhere"
            fix = "write all latencies in one unit; if they are, say so with --unit"
            raise DataError("this looks like mixed units", calls.log.at(reader.first_line[i]), found_text, "", fix)
