"""The JSON Schema of claim files is the reader's own: it accepts what the reader accepts, and finds plain slips."""

from __future__ import annotations

import copy
import json
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from dpcert.mechanisms import InputError
from dpcert.mechanisms.tables.kinds import KINDS
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.claims.schema import claim_schema

jsonschema = pytest.importorskip("jsonschema")

CLAIMS = sorted((Path(__file__).parents[3] / "claims").rglob("*.toml"))

PLAIN: dict[str, Any] = {
    "claim": {"title": "t", "neighbouring": "add-remove", "epsilon": 3.0, "delta": 1e-5},
    "mechanism": {"kind": "gaussian", "noise_multiplier": 1.0},
}
PHASES = {"claim": PLAIN["claim"], "phase": [{"mechanism": PLAIN["mechanism"], "composition": {"epochs": 2}}]}
PHASES["phase"][0]["sampling"] = {"scheme": "poisson", "dataset_size": 100, "batch_size": 5}

ACCEPTED = [
    PLAIN,
    PHASES,
    PLAIN | {"claim": {"title": "t", "neighbouring": "add-remove", "curve": [[1, 1e-3], [2.0, 1e-6]]}},
    PLAIN | {"claim": {"title": "t", "neighbouring": "add-remove", "tpr_at_fpr": {"fpr": 0.01, "tpr": 0.3}}},
    PLAIN | {"claim": PLAIN["claim"] | {"rdp_orders": [2, 5.5], "assumed": ["this"], "epsilon_interval": [2, 4]}},
    PLAIN
    | {
        "mechanism": {"kind": "gaussian-mean", "noise_std": 1, "clip_norm": 1, "weights": [1, 2]},
        "sampling": {"population": 2},
        "claim": PLAIN["claim"] | {"neighbouring": "replace-one"},
    },
]

SLIPS: list[tuple[tuple[Any, ...], Any]] = [
    (("claim", "epsilonn"), 3.0),
    (("claim", "epsilon"), "three"),
    (("claim", "neighbouring"), "swap"),
    (("claim", "notion"), "pure"),
    (("claim", "assumed"), "a text"),
    (("mechanism", "kind"), "gauss"),
    (("mechanism", "noise_multiplyer"), 1.0),
    (("mechanism", "noise_multiplier"), [1.0]),
    (("sampling",), {"scheme": "shuffled"}),
    (("sampling",), {"scheme": "poisson", "sampling-rate": 0.1}),
    (("composition",), {"rounds": "many"}),
    (("compositon",), {"rounds": 3}),
    (("phase",), {"mechanism": {}}),
]


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = json.loads(files("dpcert").joinpath("claim.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_shipped_schema_is_that_of_the_reader() -> None:
    shipped = json.loads(files("dpcert").joinpath("claim.schema.json").read_text("utf-8"))
    assert shipped == claim_schema(), "python -m dpcert.proofs_checks.claims.schema > src/dpcert/claim.schema.json"


@pytest.mark.parametrize("file", CLAIMS, ids=lambda file: file.stem)
def test_every_shipped_claim_is_valid(file: Path, validator: Any) -> None:
    validator.validate(tomllib.loads(file.read_text("utf-8")))


@pytest.mark.parametrize("tables", ACCEPTED, ids=str)
def test_what_the_reader_accepts_is_valid(tables: dict[str, Any], validator: Any) -> None:
    parse_claim(tables)
    validator.validate(tables)


@pytest.mark.parametrize(("path", "value"), SLIPS, ids=str)
def test_slips_are_found_by_both(path: tuple[Any, ...], value: Any, validator: Any) -> None:
    tables = copy.deepcopy(PLAIN)
    table = tables
    for step in path[:-1]:
        table = table[step]
    table[path[-1]] = value
    with pytest.raises(InputError):
        parse_claim(tables)
    assert not validator.is_valid(tables)


def test_every_kind_and_every_key_is_described() -> None:
    schema = claim_schema()
    assert schema["$defs"]["AnyMechanism"]["properties"]["kind"]["enum"] == list(KINDS)
    for name, table in schema["$defs"].items():
        if name in ("Statement", "SamplingTable", "CompositionTable") or name in {t.__name__ for t in KINDS.values()}:
            assert all(key.get("description") for key in table["properties"].values()), name
            assert table["additionalProperties"] is False
