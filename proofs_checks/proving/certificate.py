"""A proof as a JSON document; checker/ reads it."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from .checker.check import FORMAT
from .domain import Domain
from .search import Piece


def document(
    function: Callable[..., Any],
    name: str,
    relation: str,
    domain: Domain,
    notion: str,
    cost: Fraction,
    merging: bool,
    cases: Mapping[tuple[int, str], Iterable[Piece]],
) -> dict[str, Any]:
    """The certificate: what is claimed, and for each pair of neighbours its pieces. Numbers are fractions as text."""
    return {
        "format": FORMAT,
        "function": name,
        "source_sha256": source_digest(function),
        "relation": relation,
        "domain": {"ends": [None if e is None else str(e) for e in (domain.low, domain.high)], "whole": domain.whole},
        "sizes": sorted({entries for entries, _ in cases}),
        "merging": merging,
        {"dp": "epsilon", "zcdp": "rho"}[notion]: str(cost),
        "cases": [
            {"entries": entries, "case": case, "pieces": [_piece(piece) for piece in pieces]}
            for (entries, case), pieces in cases.items()
        ],
    }


def source_digest(function: Callable[..., Any]) -> str | None:
    """SHA-256 of the function's source, where there is one to be read."""
    try:
        return hashlib.sha256(inspect.getsource(function).encode()).hexdigest()
    except (OSError, TypeError):
        return None


def _piece(piece: Piece) -> dict[str, Any]:
    return {
        "output": json.loads(piece.key),
        "draws": [[kind, str(scale)] for kind, scale in piece.draws],
        "source": [c.to_json() for c in piece.source],
        "target": [c.to_json() for c in piece.target],
        "shifts": [shift.to_json() for shift in piece.alignment.shifts],
        "bounds": [bound.to_json() for bound in piece.alignment.bounds],
        "caps": [str(cap) for cap in piece.alignment.caps],
    }
