"""``masim schema``: the JSON Schema of scenario files and API profiles."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from masim.cli.common import Json, Out, Quiet, note
from masim.errors import ConfigError, did_you_mean

KINDS = ("scenario", "apis")


def verb(
    kind: Annotated[str, typer.Argument(metavar="[KIND]", help=f"One of {', '.join(KINDS)}.")] = "scenario",
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print the JSON Schema of a kind of file (always JSON), or write it with --out.

    An editor with a YAML language server completes and checks a scenario whose first line is
    `# yaml-language-server: $schema=scenario.schema.json`.
    """
    if kind not in KINDS:
        raise ConfigError(f"unknown kind of file {kind!r}", "", "", ", ".join(KINDS), did_you_mean(kind, KINDS))
    from masim.scenario.json_schema import schema_json

    text = json.dumps(schema_json(kind), indent=2)
    if out is None:
        print(text)
        return
    out.write_text(text + "\n", encoding="utf-8")
    note(f"wrote {out}", silent=quiet or as_json)
