"""The JSON Schema of claim files, for editors: made from the tables that read them, shipped as claim.schema.json.

It completes keys and finds misspelt ones, wrong types and unknown kinds. What contradicts what is left to the reader:
the schema accepts whatever the reader accepts, and more.

    python -m dpcert.proofs_checks.claims.schema > src/dpcert/claim.schema.json
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import models_json_schema

from ...mechanisms.tables.cohort import SYNONYMS
from ...mechanisms.tables.kinds import KINDS
from ...mechanisms.word import Word
from .claim import ClaimTables
from .words import COMPOSITION, MECHANISM, SAMPLING, STATEMENT

ADDRESS = "https://raw.githubusercontent.com/dpcert/dpcert/main/src/dpcert/claim.schema.json"
"""Where editors find it; `dpcert new` writes it into the first line of a claim file."""

_ANY_MECHANISM = {"$ref": "#/$defs/AnyMechanism"}

Schema = dict[str, Any]


def claim_schema() -> Schema:
    """The schema (draft 2020-12) as plain data."""
    tables = [(table, "validation") for table in (ClaimTables, *KINDS.values())]
    _, found = models_json_schema(tables, ref_template="#/$defs/{model}")  # type: ignore[arg-type]
    defs: dict[str, Schema] = {name: _plain(definition) for name, definition in found["$defs"].items()}
    for name in ("MechanismTable", "CorrelatedTable", *(kind.__name__ for kind in Word.__subclasses__())):
        defs.pop(name, None)  # abstract ones, and words, which stand where they are used
    kinds = [table.__name__ for table in KINDS.values()]
    defs["AnyMechanism"] = {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"enum": list(KINDS), "description": MECHANISM["kind"]}},
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in kinds],
    }
    _describe(defs["Statement"], STATEMENT)
    _describe(defs["CompositionTable"], COMPOSITION)
    for name in kinds:
        _describe(defs[name], MECHANISM)
    properties = defs["SamplingTable"]["properties"]
    properties |= {synonym: properties[name] | {} for synonym, name in SYNONYMS.items()}
    _describe(defs["SamplingTable"], SAMPLING)
    whole = defs.pop("ClaimTables")
    for table in (whole, defs["Phase"]):
        table["properties"]["mechanism"] = {"anyOf": [_ANY_MECHANISM, {"type": "array", "items": _ANY_MECHANISM}]}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": ADDRESS, "title": "A dpcert claim"}
    return head | {key: value for key, value in whole.items() if key != "title"} | {"$defs": defs}


def _plain(node: Any) -> Any:
    """Without titles, without null, which TOML has not, and with one definition of what [mechanism] may be."""
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "anyOf" in node:
        options = [option for option in node["anyOf"] if option.get("type") != "null"]
        rest = {key: value for key, value in node.items() if key != "anyOf"}
        if {"$ref": "#/$defs/MechanismTable"} in options:
            return rest | _ANY_MECHANISM
        node = rest | ({"anyOf": options} if len(options) > 1 else options[0])
    kept = {key: value for key, value in node.items() if not (key == "default" and value is None)}
    if isinstance(kept.get("title"), str):
        kept.pop("title")
    return {key: _plain(value) for key, value in kept.items()}


def _describe(table: Schema, words: Mapping[str, str]) -> None:
    for key, definition in table["properties"].items():
        if key in words and "description" not in definition:
            definition["description"] = words[key]


if __name__ == "__main__":
    print(json.dumps(claim_schema(), indent=1))
