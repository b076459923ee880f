"""A claim's results as Markdown tables, for the pages of results: nothing there is typed by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any


def markdown(results: Mapping[str, Any]) -> str:
    """Return all tables: verdicts, estimates of each world, contrasts."""
    parts = [verdicts(results)]
    for world in results["worlds"]:
        parts.append(f"### {world}: {results['worlds'][world]}\n\n{estimates(results, world)}")
    parts += [contrasts(results, world) for world in results["worlds"]]
    return "\n\n".join(part for part in parts if part) + "\n"


def verdicts(results: Mapping[str, Any]) -> str:
    """Return one row per hypothesis."""
    rows = [
        [row["id"], row["says"], _asked(row), interval(row), row["rule"], f"**{row['verdict']}**"]
        for row in results["hypotheses"]
    ]
    return table(["hypothesis", "says", "measured", "found", "rule", "verdict"], rows)


def estimates(results: Mapping[str, Any], world: str) -> str:
    """Return one row per arm, one column per endpoint."""
    found = {(row["arm"], row["endpoint"]): row for row in results["estimates"] if row["world"] == world}
    names = [e["name"] for e in results["endpoints"] if any((arm, e["name"]) in found for arm in results["arms"])]
    rows = [
        [arm, *(interval(found[arm, name]) if (arm, name) in found else "" for name in names)]
        for arm in results["arms"]
    ]
    return table(["arm", *names], rows)


def contrasts(results: Mapping[str, Any], world: str) -> str:
    """Return the paired differences of one world, with both p values."""
    found = [row for row in results["contrasts"] if row["world"] == world]
    rows = [
        [row["endpoint"], f"{row['arm']} minus {row['minus']}", interval(row), number(row["p"]), number(row["p_holm"])]
        for row in found
    ]
    heads = ["endpoint", "contrast", "difference", "p", "p, Holm"]
    return f"### contrasts, {world}\n\n{table(heads, rows)}" if rows else ""


def _asked(row: Mapping[str, Any]) -> str:
    minus = f" minus {row['minus']}" if row["minus"] else ""
    return f"{row['endpoint']}, {row['world']}: {row['arm']}{minus}"


def interval(row: Mapping[str, Any]) -> str:
    """Return ``0.731 [0.702, 0.760]``; a bare value where there is no interval."""
    value, ends = number(row["value"]), [row["low"], row["high"]]
    return value if None in ends else f"{value} [{', '.join(number(end) for end in ends)}]"


def number(value: float | str | None) -> str:
    """Return a number as people read it; text stays what it is."""
    if value is None:
        return "unknown"
    if isinstance(value, str):
        return value
    return f"{value:.3f}" if abs(value) < 2.0 else f"{value:.1f}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join(_lines(heads, rows))


def _lines(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
