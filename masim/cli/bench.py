"""``masim bench``: how fast masim is on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from masim.cli.bench_tables import shown
from masim.cli.common import Json, Out, Quiet, Seed, emit, note
from masim.errors import ConfigError


def verb(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which benchmark: world, env, memory, learn, llm.")],
    quick: Annotated[bool, typer.Option("--quick", help="Everything once and small: shows that it works.")] = False,
    days: Annotated[
        int, typer.Option("--days", min=0, help="One more memory run of so many days of 20,000 calls (world).")
    ] = 0,
    scenario: Annotated[
        str, typer.Option("--scenario", help="Rate this one's rules and faults, too (world) or instead (env).")
    ] = "",
    peers: Annotated[Path | None, typer.Option("--peers", help="Folder of the peers.", show_default=False)] = None,
    store: Annotated[
        list[str] | None, typer.Option("--store", metavar="ADDRESS", help="Rate this store, too (memory); repeatable.")
    ] = None,
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
    options = BenchOptions(quick, seed, days, scenario, peers, tuple(store or ()))
    result = bench(options, lambda what: note(f"measuring: {what}", as_json or quiet))
    if out is not None:
        write_atomically(out, json.dumps(result, indent=1).encode() + b"\n")
    emit(result, as_json, shown(result), *([] if out is None else [str(out)]))
