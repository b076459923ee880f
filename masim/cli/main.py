"""The ``masim`` command: finds the verb, imports that verb's module alone, and turns errors into exit codes.

Exit codes: 0 ok, 1 a check or gate failed, 2 bad input, 70 masim itself failed (a bug, with its traceback, or a
worker process that died), 130 interrupted. With ``--json`` an error
is one object ``{"error": {...}}`` on stdout; otherwise one line on stderr.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import typer

from masim import __version__
from masim.cli.common import EXIT_BUG, EXIT_INTERRUPTED, report_error
from masim.collector import ease_collector
from masim.errors import EXIT_OK, ConfigError, HarnessError, UserError

VERBS = {
    "demo": "The main job in one go: real vendors, training, comparison, report.",
    "run": "Episodes with given agents; trace, metrics, report.",
    "stress": "Replications with intervals, and a gate with an exit code.",
    "play": "A day of one agent by hand, in the terminal.",
    "train": "Trains agents as an experiment says; evaluates them on held-out days.",
    "eval": "Trained agents of a run on other days, scenarios, or with empty memories.",
    "list": "Scenarios and agent cards that masim finds here.",
    "show": "What a scenario contains and where its numbers come from.",
    "where": "The file behind an id.",
    "init": "Copy a scenario with all its parts into a folder of yours.",
    "lint": "Check scenario files; errors name file and line.",
    "agents": "Agent cards: list them, show one.",
    "schema": "The JSON Schema of scenario files, for editors.",
    "replay": "A stored episode, decision by decision, or as a picture.",
    "memory": "Stored memories: a table and a picture of one, export and import.",
    "label": "A page to compare outcomes of a run by hand; fits a reward model to it.",
    "report": "The HTML report of a run.",
    "claims": "The honest experiments: protocols written first, verdicts by their rules.",
    "micro": "Small worlds with known answers: check them, try a learner on them.",
    "bench": "How fast masim is on this machine.",
    "fit": "Real data to vendor profiles; says what it assumed and dropped.",
}
"""Every verb with its line in ``masim --help``. The module ``masim.cli.<verb>`` offers ``verb``: a function or a
``typer.Typer`` with sub-commands. Only the module of the verb in use is imported, which keeps ``--help`` fast."""

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
"""Errors of writing that come without the name of a file."""


def build_app(argv: Sequence[str]) -> typer.Typer:
    """Return the application for these arguments: the verb in use for real, the others as lines of the help."""
    app = typer.Typer(
        name="masim",
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )
    app.callback()(root)
    used = next((word for word in argv if not word.startswith("-")), "")
    for name, line in VERBS.items():
        add_verb(app, name, line, load=name == used or completing())
    return app


def add_verb(app: typer.Typer, name: str, line: str, load: bool) -> None:
    """Add one verb; without ``load`` only its name and line."""
    verb: Callable[..., Any] | typer.Typer = import_module(f"masim.cli.{name}").verb if load else unloaded
    if isinstance(verb, typer.Typer):
        app.add_typer(verb, name=name, short_help=line)
    else:
        app.command(name, short_help=line)(verb)


def unloaded() -> None:
    """Stand for a verb that these arguments do not use; it is never called."""


def completing() -> bool:
    """Tell whether a shell asks for completions, which needs the options of every verb."""
    return "_MASIM_COMPLETE" in os.environ


def show_version(asked: bool) -> None:
    """Print the version and leave, when asked to."""
    if asked:
        print(f"masim {__version__}")
        raise typer.Exit


def root(
    version: bool = typer.Option(False, "--version", help="Print the version.", is_eager=True, callback=show_version),
) -> None:
    """A flight simulator and training ground for agents that do long, multi-API logistics work."""


def run(argv: Sequence[str]) -> int:
    """Run one command line and return its exit code. Lets unknown exceptions and interrupts through."""
    as_json = "--json" in argv
    try:
        code = build_app(argv)(args=list(argv), prog_name="masim", standalone_mode=False, obj=list(argv))
    except UserError as error:
        return report_error(error, as_json)
    except OSError as error:
        if error.filename is None and error.errno not in DISK_FULL:
            raise
        problem = f"cannot be read or written: {os.strerror(error.errno or 0)}"
        return report_error(ConfigError(problem, str(error.filename or "")), as_json)
    except HarnessError as error:
        report_error(UserError(str(error)), as_json)
        return EXIT_BUG
    except typer.TyperException as error:
        problem = error.format_message().rstrip(".")
        return report_error(ConfigError(problem, "", "", "", f"see `masim {verb_of(argv)}--help`"), as_json)
    return code if isinstance(code, int) else EXIT_OK


def verb_of(argv: Sequence[str]) -> str:
    """Return the verb with a space after it, or nothing when it is unknown."""
    return f"{argv[0]} " if argv and argv[0] in VERBS else ""


def main() -> None:
    """Entry point of the console script."""
    ease_collector()
    try:
        code = run(sys.argv[1:] or ["--help"])
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) has what it wanted; keep the interpreter from flushing into the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = EXIT_OK
    except Exception:  # noqa: BLE001 - the last handler: a bug keeps its traceback and gets an exit code of its own
        traceback.print_exc()
        print("masim: this is a bug in masim, not in your input; please report the lines above", file=sys.stderr)
        code = EXIT_BUG
    if code == EXIT_INTERRUPTED:
        print("masim: interrupted", file=sys.stderr)
    sys.exit(code)
