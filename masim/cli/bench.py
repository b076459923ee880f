"""``masim bench``: how fast masim is on this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from masim.cli.common import Json, Out, Quiet, Seed, emit, note, table
from masim.errors import ConfigError

if TYPE_CHECKING:
    from rich.table import Table


def verb(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which benchmark: world.")],
    quick: Annotated[bool, typer.Option("--quick", help="Everything once and small: shows that it works.")] = False,
    days: Annotated[int, typer.Option("--days", min=0, help="One more memory run: so many days of 20,000 calls.")] = 0,
    scenario: Annotated[str, typer.Option("--scenario", help="Also rate this one's rules and faults.")] = "",
    peers: Annotated[Path | None, typer.Option("--peers", help="Folder of the peers.", show_default=False)] = None,
    seed: Seed = 0,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure masim, side by side with the same job written the ordinary way, in turn on the same machine.

    Seconds are processor seconds of plain runs; ratios are of runs in the same round, and their spread is printed.
    """
    from masim.rollout.io import write_atomically
    from masim.study.bench.registry import BenchOptions, find_bench

    bench = find_bench(name)
    if out is not None and not out.parent.is_dir():
        raise ConfigError("there is no such folder", "--out", str(out.parent), "", "make it first, or name another")
    options = BenchOptions(quick, seed, days, scenario, peers)
    result = bench(options, lambda what: note(f"measuring: {what}", as_json or quiet))
    if out is not None:
        write_atomically(out, json.dumps(result, indent=1).encode() + b"\n")
    emit(result, as_json, shown(result), *([] if out is None else [str(out)]))


def shown(result: Mapping[str, Any]) -> Table:
    """Return everything as one table."""
    made = table("what", ">calls/s", ">events/s", ">us per call", ">ratio", "of what")
    for row in result["peer"]:
        if row["trace"] != "streamed":
            made.add_row(f"peer, trace {row['trace']}", rate(row["peer_calls_per_s"]), "", "", "", "")
        cells = (rate(row["calls_per_s"]), rate(row["events_per_s"]), "", ratio(row["ratio"]))
        made.add_row(f"masim, trace {row['trace']}", *cells, "masim's calls/s over the peer's")
    for row in result["profiles"]:
        made.add_row(f"profile {row['profile']}", rate(row["calls_per_s"]), rate(row["events_per_s"]), "", "", "")
    for row in result["sizes"]:
        cells = ("", "", f"{row['us_per_call']['mean']:.1f}", ratio(row["cost_ratio"]))
        made.add_row(f"{row['n']:,} {row['what']}", *cells, "cost per call over the first size's")
    for row in result["memory"]:
        cells = ("", "", f"{row['us_per_call']:.1f}", f"{row['peak_mib']:.0f} MiB")
        made.add_row(f"{row['calls']:,} calls, {row['days']:,} days, streamed", *cells, "peak memory of the process")
    both = result["processes"]
    speedup = ratio(both["speedup"]) if both["measurable"] else "not measurable"
    same = "equal bytes" if both["equal_bytes"] else "UNEQUAL BYTES"
    made.add_row("two processes", "", "", "", speedup, f"wall time of one over that of two; {same}")
    return made


def rate(spread: Mapping[str, float]) -> str:
    """Return ``52,000 [49,000, 55,000]``: mean, smallest and largest run."""
    return f"{spread['mean']:,.0f} [{spread['low']:,.0f}, {spread['high']:,.0f}]"


def ratio(spread: Mapping[str, float]) -> str:
    """Return ``1.91 [1.80, 2.04]``: median, smallest and largest."""
    return f"{spread['median']:.2f} [{spread['low']:.2f}, {spread['high']:.2f}]"
