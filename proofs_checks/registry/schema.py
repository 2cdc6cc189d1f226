"""The OpenDP registry's schema for a deployment, and one sentence a field for what does not follow it.

opendp/deployments-registry-data, schemas/deployments-schema.yaml (MIT), as of commit 3e9c812: it names no version.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from ...mechanisms import InputError
from ...mechanisms.tables.fields import MISSING
from ...mechanisms.validate import meant

VERSION = "3e9c812"

TEXT, TEXTS, NUMBER, ANY = "a text", "a list of texts, at least one", "a number", "anything"
DATE = "a date in quotes, '2024-01-01'"
STATUSES = (
    "Converted",
    "Draft",
    "Pending",
    "Changes Required",
    "Approved",
    "Approved (Update Requested)",
    "Approved (Pending)",
)
PRODUCTS = (
    "Summary statistics",
    "Machine learning model",
    "Dataset",
    "Synthetic data",
    "Interactive API",
    "SQL queries",
)
SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
VARIANTS = ("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom")
MODELS = ("Local", "Central", "Shuffle", "Federated", "Varies")

DEPLOYMENT: dict[str, Any] = {
    "basic": {
        "name": TEXT,
        "data_curators": TEXTS,
        "intended_use": TEXT,
        "data_product_type": PRODUCTS,
        "data_product_region": TEXT,
        "description": TEXT,
        "publication_date": DATE,
        "data_product_sector": SECTORS,
    },
    "dp_variant": {"variant_name": VARIANTS, "data_domain": TEXT, "unprotected_quantities": TEXT},
    "privacy_loss": {
        "privacy_unit": TEXT,
        "privacy_unit_details": TEXT,
        "privacy_parameters": {"epsilon": NUMBER, "delta": "a number, or a text", "rho": NUMBER},
        "privacy_parameters_details": ANY,
    },
    "deployment_model": {
        "model_name": MODELS,
        "model_name_details": TEXT,
        "actors": TEXT,
        "release_type": ("One release", "Many releases"),
        "release_type_details": TEXT,
        "data_source_type": ("Static", "Dynamic"),
        "data_source_type_details": ANY,
        "access_type": ("Interactive", "Non-interactive"),
        "access_type_details": TEXT,
    },
    "accounting": {"post_processing": TEXT, "composition": TEXT},
    "implementation": {"preprocessing_and_hyperparameter_tuning": TEXT, "mechanisms": TEXT, "justification": TEXT},
    "administrative": {"sources": TEXT, "notes": TEXT, "registry_authors": TEXTS},
}
ENTRY: dict[str, Any] = {"url_slug": TEXT, "status": STATUSES, "tier": (1, 2, 3), "deployment": DEPLOYMENT}
REQUIRED = {
    "": ("url_slug", "status", "tier", "deployment"),
    "deployment": ("basic",),
    "deployment.basic": tuple(name for name in DEPLOYMENT["basic"] if name != "data_product_sector"),
    "deployment.administrative": ("registry_authors",),
}


def problems(document: Any) -> Iterator[InputError]:
    """What does not follow the schema, field by field."""
    yield from _table(document, ENTRY, "")


def _table(value: Any, fields: dict[str, Any], place: str) -> Iterator[InputError]:
    if not isinstance(value, dict):
        yield InputError(place or "entry", value, "a table of fields")
        return
    for name in value:
        if name not in fields:
            expected = f"no such field in the registry's schema{meant(str(name), fields)}"
            yield InputError(_within(place, str(name)), value[name], expected)
    for name in REQUIRED.get(place, ()):
        if name not in value:
            yield InputError(_within(place, name), MISSING, "a value: the registry's schema requires it")
    for name, kind in fields.items():
        if name in value:
            yield from _field(value[name], kind, _within(place, name))


def _field(value: Any, kind: Any, place: str) -> Iterator[InputError]:
    if isinstance(kind, dict):
        yield from _table(value, kind, place)
    elif isinstance(kind, tuple):
        if value not in kind:
            yield InputError(place, value, "one of " + ", ".join(map(str, kind)))
    elif not _fits(value, kind):
        yield InputError(place, value, kind)


def _fits(value: Any, kind: str) -> bool:
    if kind == TEXTS:
        return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)
    if kind == DATE:
        return isinstance(value, str) and _is_date(value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return {NUMBER: number, ANY: True}.get(kind, isinstance(value, str) or (number and kind.startswith(NUMBER)))


def _is_date(text: str) -> bool:
    try:
        return len(text) == len("2024-01-01") and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _within(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
