"""``masim label``: people compare outcomes of a run on a page; a reward model is fitted to what they say."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from masim.cli.common import Json, Out, emit, find_run, note
from masim.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from masim.feedback.model import PreferenceModel
    from masim.feedback.units import Unit


def verb(
    context: typer.Context,
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help="A run folder, its name under runs/, or `last`.")
    ] = "last",
    fit: Annotated[
        bool, typer.Option("--fit", help="Fit a reward model to the judgements, instead of asking.")
    ] = False,
    unit: Annotated[
        str,
        typer.Option("--unit", metavar="RULE", help="What is compared: rollout, or {name: segment, segment_len: 5}."),
    ] = "rollout",
    who: Annotated[
        str,
        typer.Option("--who", help="Who judges; with --fit: whose judgements.", show_default="login name; everyone"),
    ] = "",
    port: Annotated[int, typer.Option("--port", help="Where the page is; 0: a free port.")] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another order of the pairs.")] = 0,
    browse: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Serve a page on which a person compares outcomes of the same day: A, B, equal, skip, or a score for each.

    Every judgement is appended to labels.jsonl of the run, with who and when; Ctrl-C ends it, and the next time it
    goes on there. --fit writes the reward model that training can be paid by.
    """
    folder, rule = find_run(run), parsed(unit)
    if fit:
        _refuse(context, "--fit asks nobody", "port", "seed", "browse")
        emit(*_fitted(folder, rule, out, who, as_json))
        return
    _refuse(context, "only --fit writes a model", "out")
    _serve(folder, rule, who or _login(), port, seed, browse, as_json)


def _refuse(context: typer.Context, why: str, *names: str) -> None:
    """Raise ConfigError for options that would do nothing."""
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = {"browse": "open"}.get(name, name)
            raise ConfigError(f"{why}: this option would do nothing", f"--{option}", "", "", "leave it out")


def parsed(unit: str) -> Any:
    """Return a unit rule as it was written: a name, or YAML of a mapping. Raises ConfigError for neither."""
    import yaml

    try:
        value = yaml.safe_load(unit)
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError("not YAML", "--unit", unit, "a name, or {name: ..., option: value}") from error
    if not isinstance(value, str | dict):
        raise ConfigError("not a credit unit", "--unit", unit, "a name, or {name: ..., option: value}")
    return value


def _login() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError) as error:
        raise ConfigError("this system does not say who you are", "--who", "", "", "give --who NAME") from error


def _fitted(folder: Path, rule: Any, out: Path | None, who: str, as_json: bool) -> tuple[Any, ...]:
    from masim.feedback.fit_run import fit_run

    model, file = fit_run(folder, rule, out, who)
    right = "-" if model.held_out_accuracy is None else f"{model.held_out_accuracy:.1%}"
    said = f"{model.comparisons} comparisons; {right} of those with a winner ranked right when left out"
    payload = {"run": folder, "model": file, "comparisons": model.comparisons, "l2": model.l2}
    payload |= {"held_out_accuracy": model.held_out_accuracy}
    payload |= {"weights": dict(zip(model.features, model.weights, strict=True))}
    return payload, as_json, _weights(model), said, str(file)


def _weights(model: PreferenceModel) -> Table:
    from masim.cli.common import table

    made = table("feature", ">weight per standard deviation", title="What people value")
    rows = sorted(zip(model.features, model.weights, strict=True), key=lambda row: -abs(row[1]))
    for name, weight in rows:
        if weight:
            made.add_row(name, f"{weight:+.3f}")
    return made


def _serve(folder: Path, rule: Any, who: str, port: int, seed: int, browse: bool, as_json: bool) -> None:
    from masim.feedback.labels import LabelBook
    from masim.feedback.page.desk import Desk
    from masim.feedback.page.server import LabelServer
    from masim.feedback.units import read_units

    units = read_units(folder, rule)
    with LabelBook(folder) as book:
        desk = Desk(units, book, seed)
        with LabelServer(desk, described, who, port) as server:
            payload = {"run": folder, "url": server.url, "pairs": len(desk.pairs), "judged": desk.done(who)}
            emit(payload, as_json, server.url)
            note(f"masim: {payload['judged']} of {payload['pairs']} pairs judged; Ctrl-C ends it", as_json)
            _shown(server.url, browse)
            with suppress(KeyboardInterrupt):
                server.serve_forever()
        note(f"masim: {len(book.labels)} judgements in {folder}; next: masim label {folder} --fit", as_json)


def _shown(url: str, browse: bool) -> None:
    import sys

    sys.stdout.flush()
    if browse:
        import webbrowser

        webbrowser.open(url)


def described(rows: pd.DataFrame, unit: Unit) -> str:
    """Return the decisions of a unit in the words of ``masim replay``."""
    from masim.cli.replay import text_of
    from masim.study.replay import steps_of

    if rows.empty:
        return "The run kept no trace."
    steps = [step for step in steps_of(rows) if unit.agent in ("", step.agent)]
    return "\n".join(text_of(step) for step in steps if unit.start_s <= step.t_s <= unit.end_s)
