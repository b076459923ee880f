"""``masim memory``: stored memories as tables and pictures, and from store to store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from masim.cli.common import Json, emit, find_run, note, table
from masim.errors import ConfigError
from masim.units import DAY

if TYPE_CHECKING:
    from masim.memory.exchange.base import StoredGraph
    from masim.study.memories import Look

verb = typer.Typer(help="Look at a stored memory, or carry it from one store to another.")

Where = Annotated[
    str,
    typer.Argument(
        metavar="STORE", help="A run, a file, or an address like redis://, falkordb://, neo4j://, arango://."
    ),
]
Arm = Annotated[str, typer.Option("--arm", metavar="ARM[-sSEED]", help="Whose memory of a run; else the first's.")]


@verb.command("show")
def show_memory(
    where: Where = "last",
    agent: Annotated[str, typer.Option("--agent", help="Whose, with or without the campaign.")] = "",
    arm: Arm = "",
    days: Annotated[float, typer.Option("--days", min=0.0, max=3650.0, help="Idle days before the sweep.")] = 1.0,
    policy: Annotated[str, typer.Option("--policy", help="The rule that sweeps.")] = "recommended",
    top: Annotated[int, typer.Option("--top", min=1, help="Edges in the table.")] = 30,
    picture: Annotated[Path | None, typer.Option("--picture", metavar="FILE", help="Draw it: .png or .svg.")] = None,
    as_json: Json = False,
) -> None:
    """Show the graph of one agent: its heaviest edges, and what a sweep would leave of it some days later."""
    from masim.study.memories import look, open_existing, pick_agent

    if picture is not None and picture.suffix not in (".png", ".svg"):
        raise ConfigError("not a kind of picture", "--picture", str(picture), ".png, .svg")
    with closing(open_existing(address_of(where, arm, as_json))) as store:
        found = look(store, pick_agent(store, agent), days, policy)
    if picture is not None:
        draw(found, picture)
    said = summary(found)
    shown = table("source", "relation", "target", ">weight", ">after", ">age, days", ">s/f", ">episodes", "sweep")
    rows = found.rows()
    for row in rows[:top]:
        marks = f"{row['successes']:g}/{row['failures']:g}"
        numbers = (f"{row['weight']:.2f}", f"{row['weight_after']:.2f}", f"{row['age_days']:.1f}", marks)
        ends = (row["source"], row["relation"], row["target"])
        shown.add_row(*ends, *numbers, str(row["episodes"]), row["forgotten_by"] or "keeps")
    more = [f"{len(rows) - top} more edges; --top shows them"] if len(rows) > top else []
    payload = {"agent": found.agent, "version": found.version, "days": days, "policy": policy,
               "edges": len(rows), "edges_after": len(found.after), "picture": picture, "rows": rows}  # fmt: skip
    emit(payload, as_json, said, shown, *more, *([] if picture is None else [str(picture)]))


def summary(found: Look) -> str:
    """Return the graph and its sweep in one line."""
    rules = Counter(found.forgotten.values())
    why = ", ".join(f"{rule} {n}" for rule, n in sorted(rules.items()))
    left = f"{len(found.after)} after a sweep {(found.swept_s - found.seen_s) / DAY:g} days later"
    return f"{found.agent}, version {found.version}: {len(found.before)} edges, {left}{f' ({why})' if why else ''}"


def draw(found: Look, file: Path) -> None:
    """Save the picture of a graph before and after its sweep. Raises ConfigError when the file cannot be written."""
    from masim.analysis.memory_picture import Panel, lines_of, save_memory

    before = lines_of((e.src, e.dst, found.weight(e), found.seen_s - e.last_s) for e in found.before)
    after = lines_of((e.src, e.dst, found.weight(e, swept=True), found.swept_s - e.last_s) for e in found.after)
    days = (found.swept_s - found.seen_s) / DAY
    panels = [
        Panel(f"as stored: {len(before)} edges", before),
        Panel(f"after a sweep {days:g} days later: {len(after)} edges", after),
    ]
    try:
        save_memory(panels, f"{found.agent}, version {found.version}", file)
    except OSError as exc:
        raise ConfigError("the picture cannot be written", str(file), exc.strerror or str(exc), "", "") from exc


@verb.command("export")
def export_memory(
    where: Where,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file: .json or .graphml.")],
    agent: Annotated[list[str] | None, typer.Option("--agent", help="This agent alone; repeatable.")] = None,
    arm: Arm = "",
    as_json: Json = False,
) -> None:
    """Write memories into a file: the newest version of each graph, with its whole archive."""
    from masim.memory.exchange.base import read_graph
    from masim.memory.exchange.files import check_format, export
    from masim.study.memories import open_existing, pick_agent

    check_format(out)
    with closing(open_existing(address_of(where, arm, as_json))) as store:
        agents = [pick_agent(store, name) for name in agent] if agent else store.agents()
        sizes: dict[str, int] = {}

        def graphs() -> Iterator[StoredGraph]:
            for name in dict.fromkeys(agents):
                graph = read_graph(store, name)
                sizes[name] = len(graph.edges)
                yield graph

        export(graphs(), out)
    said = f"{len(sizes)} agents, {sum(sizes.values()):,} edges"
    emit({"agents": sizes, "out": out}, as_json, said, str(out))


@verb.command("import")
def import_memory(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .json or .graphml file of `masim memory export`.")],
    into: Annotated[str, typer.Option("--into", metavar="STORE", help="A file, which may be new, or an address.")],
    agent: Annotated[list[str] | None, typer.Option("--agent", help="This agent alone; repeatable.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Most nodes and edges to take in.")] = None,
    as_json: Json = False,
) -> None:
    """Store memories from a file, each at the version that it had. What the store has already is never touched."""
    from masim.memory.exchange.base import LIMIT, write_graphs
    from masim.memory.exchange.files import load
    from masim.memory.store.registry import open_store

    graphs = load(file, LIMIT if limit is None else limit)
    names = {graph.agent for graph in graphs}
    missing = sorted(set(agent or ()) - names)
    if missing:
        raise ConfigError("no such agent in this file", "--agent", missing[0], ", ".join(sorted(names)[:12]), "")
    chosen = [graph for graph in graphs if not agent or graph.agent in agent]
    with closing(open_store(into)) as store:
        write_graphs(store, chosen)
    sizes = {graph.agent: len(graph.edges) for graph in chosen}
    emit({"agents": sizes, "into": into}, as_json, f"{len(sizes)} agents, {sum(sizes.values()):,} edges", into)


def address_of(where: str, arm: str, silent: bool) -> str:
    """Return the address of a store: as given, or the store of a run. Raises RunError."""
    from masim.study.memories import store_of, stores_of

    if "://" in where or Path(where).is_file():
        return where
    folder = find_run(where)
    chosen = store_of(folder, arm)
    if not arm and len(stores_of(folder)) > 1:
        note(f"the memory of {chosen.parent.name}; --arm names another one", silent)
    return str(chosen)
