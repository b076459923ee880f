"""Which column of a log means what: named by the user, or guessed from common headers, with the guess told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from masim.errors import ConfigError, DataError, did_you_mean
from masim.scenario.fit.apilog.lines import LogFile
from masim.scenario.fit.reading import plain_name

ALIASES: Mapping[str, tuple[str, ...]] = {
    "time": ("time", "timestamp", "ts", "datetime", "sentat", "sent", "starttime", "startedat", "timelocal",
             "requestedat", "date", "t", "timets", "timeunix", "epoch"),
    "vendor": ("vendor", "provider", "carrier", "partner", "supplier", "api", "service", "upstream", "host", "server"),
    "endpoint": ("endpoint", "verb", "path", "url", "uri", "route", "operation", "action", "resource", "request"),
    "latency": ("latency", "duration", "elapsed", "responsetime", "took", "timetaken", "requesttime", "rt", "time"),
    "status": ("status", "statuscode", "code", "httpstatus", "httpcode", "responsecode", "responsestatus"),
    "method": ("method", "httpmethod", "requestmethod", "verb"),
    "timeout": ("timeout", "timedout", "istimeout"),
    "request_id": ("requestid", "reqid", "xrequestid", "correlationid", "traceid", "idempotencykey", "id"),
    "retry_after": ("retryafter",),
    "attempt": ("attempt", "attemptno", "try", "retry", "retries"),
}  # fmt: skip
"""Role to the names it goes by, letters and digits only, the most telling first. A unit may follow latency and time."""
NEEDED = ("time", "vendor", "endpoint", "latency", "status")
UNITS_S: Mapping[str, float] = {"s": 1.0, "sec": 1.0, "secs": 1.0, "seconds": 1.0, "ms": 1e-3, "msec": 1e-3,
                                "millis": 1e-3, "milliseconds": 1e-3, "us": 1e-6, "micros": 1e-6}  # fmt: skip
_WITH_UNIT = ("latency", "time", "retry_after")


@dataclass(frozen=True, slots=True)
class Columns:
    """Role to index in the log's names, the unit that the header gives latencies (seconds, or None), and notes."""

    index: Mapping[str, int]
    latency_unit_s: float | None
    assumed: tuple[str, ...]


def find_columns(log: LogFile, named: Mapping[str, str]) -> Columns:
    """Find the columns. Raises DataError for a needed one that is not there, ConfigError for an unknown role."""
    index: dict[str, int] = {role: _named(log, role, name) for role, name in named.items()}
    guessed = []
    for role in ALIASES:
        if role in index:
            continue
        found = _guess(log, role, set(index.values()))
        if found is not None:
            index[role] = found
            guessed.append(f"{role} {log.names[found]!r}")
        elif role in NEEDED:
            _missing(log, role)
    notes = [f"columns: {', '.join(guessed)} (guessed; --column ROLE=NAME for another)"] if guessed else []
    unit = _unit(log.names[index["latency"]])
    if unit is not None:
        notes.append(f"latencies are in {unit}, as the header {log.names[index['latency']]!r} says")
    return Columns(index, None if unit is None else UNITS_S[unit], tuple(notes))


def _named(log: LogFile, role: str, name: str) -> int:
    """Return the index of a column that the user named."""
    if role not in ALIASES:
        raise ConfigError("unknown role of a column", "--column", role, ", ".join(ALIASES), did_you_mean(role, ALIASES))
    if name not in log.names:
        fix = did_you_mean(name, log.names) or "name one of them"
        raise DataError(f"no column {name!r}", log.at(log.header_line), _shown(log), f"--column {role}=NAME", fix)
    return log.names.index(name)


def _guess(log: LogFile, role: str, taken: set[int]) -> int | None:
    """Return the free column whose name is the most telling for a role."""
    free = {i: plain_name(name) for i, name in enumerate(log.names) if i not in taken}
    for alias in ALIASES[role]:
        wanted = {alias, *(alias + unit for unit in UNITS_S)} if role in _WITH_UNIT else {alias}
        for i, name in free.items():
            if name in wanted:
                return i
    return None


def _unit(name: str) -> str | None:
    """Return the unit at the end of a latency's header, if there is one."""
    plain = plain_name(name)
    for alias in ALIASES["latency"]:
        rest = plain.removeprefix(alias)
        if rest != plain and rest in UNITS_S:
            return rest
    words = [word for word in "".join(c if c.isalnum() else " " for c in name.casefold()).split() if word]
    return words[-1] if len(words) > 1 and words[-1] in UNITS_S else None


def _shown(log: LogFile) -> str:
    return f"{len(log.names)} columns: {', '.join(repr(name[:40]) for name in log.names[:40])}"


def _missing(log: LogFile, role: str) -> None:
    near = did_you_mean(role, log.names)
    fix = f"{near} " if near else ""
    fix += f"name the column with --column {role}=NAME, or add it"
    where = log.at(log.header_line)
    raise DataError(f"no column for the {role}", where, _shown(log), ", ".join(ALIASES[role][:6]), fix)
