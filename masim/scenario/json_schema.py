"""The JSON Schema of scenario files, for editors and for ``masim schema``."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from masim.scenario.schema import ApisProfileDoc, ScenarioDoc


def schema_json(kind: str = "scenario") -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a ``scenario`` or an ``apis`` profile. Raises KeyError otherwise."""
    models: dict[str, type[BaseModel]] = {"scenario": ScenarioDoc, "apis": ApisProfileDoc}
    schema = models[kind].model_json_schema(by_alias=True)
    title = f"masim {kind}"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": title}
