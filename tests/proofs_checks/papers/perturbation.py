"""How far a row's spoilt statement is from the printed one: one constant by a few percent, or an inequality flipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpcert.proofs_checks.papers import EvidenceError, Row

LARGEST = 0.1
"""A constant may move by at most this share of itself; one that is 0, by at most this much."""

FLIPPED = (frozenset({"<=", ">="}), frozenset({"<", ">"}), frozenset({"at most", "at least"}), frozenset({"==", "!="}))


@dataclass(frozen=True, slots=True)
class Perturbation:
    """The one parameter that differs. size: the relative change of a number; 0 for a flipped inequality."""

    parameter: str
    before: str | float
    after: str | float
    size: float

    @property
    def flipped(self) -> bool:
        """An inequality was turned round."""
        return isinstance(self.before, str)


def perturbation(row: Row) -> Perturbation:
    """Raises EvidenceError where the spoilt statement differs from the printed one in another or a cruder way."""
    if row.spoilt is None:
        raise EvidenceError(f"{row.id}: no spoilt statement")
    printed = row.readings[0]
    changed = [*_changed(printed.claim, row.spoilt.claim), *_changed(printed.domain, row.spoilt.domain)]
    if len(changed) != 1 or row.spoilt.tolerance != printed.tolerance:
        raise EvidenceError(f"{row.id}: the spoilt statement changes {[name for name, _, _ in changed]}, not one thing")
    ((name, before, after),) = changed
    if frozenset({before, after}) in FLIPPED or (name == "formula" and _flipped(before, after)):
        return Perturbation(name, before, after, 0.0)
    try:
        first, second = float(before), float(after)
    except (TypeError, ValueError):
        raise EvidenceError(f"{row.id}: {name} becomes {after!r} from {before!r}, which has no size") from None
    size = abs(second - first) / (abs(first) or 1.0)
    if not 0 < size <= LARGEST * (1 + 1e-9):
        raise EvidenceError(f"{row.id}: {name} becomes {after!r} from {before!r}, by more than {LARGEST:.0%}")
    return Perturbation(name, first, second, size)


def _flipped(before: str, after: str) -> bool:
    """The formulas differ in one comparison, which is turned round."""
    pairs = [(a, b) for a, b in zip(before.split(), after.split(), strict=False) if a != b]
    return len(before.split()) == len(after.split()) and len(pairs) == 1 and frozenset(pairs[0]) in FLIPPED


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    names = sorted({*before, *after})
    return [(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)]
